"""The variance between runs, from samples of several runs; simulated comparisons of runs without a change."""

import math

import pytest
from benchmarks.between_runs import simulate

from poolproof.statistics.between_runs import between_runs
from poolproof.statistics.comparison import LogMean, difference


def mean(log: float, inside: float = 1e-4) -> LogMean:
    return LogMean(log, (), known=((inside, 1.0),))


def test_without_earlier_runs_most_comparisons_have_a_false_winner_and_with_them_few() -> None:
    """The runs vary by 5 % per cell. Before, nearly every comparison of 24 cells named a winner."""
    assert simulate(0, 5).false > 0.8
    for earlier in (1, 3):
        found = simulate(earlier, 10)
        assert found.false <= 0.1 and found.coverage >= 0.93
    assert found.power > 0.8


def test_the_error_inside_the_runs_is_not_counted_twice() -> None:
    """Runs that differ by no more than their own errors add little; runs that differ by more add the rest."""
    alike = between_runs({cell: [mean(0.0, 0.01), mean(0.14, 0.01)] for cell in range(4)})
    assert alike.is_known and alike.widened(0, mean(0.0, 0.01)) == mean(0.0, 0.01)
    apart = between_runs({cell: [mean(0.0), mean(0.2)] for cell in range(4)})
    ((variance, freedom),) = apart.widened(0, mean(0.0)).parts or ()
    assert variance == pytest.approx(0.02 - 1e-4) and freedom == 2.0


def test_a_comparison_adds_the_variance_twice() -> None:
    apart = between_runs({cell: [mean(0.0, 0.0), mean(0.2, 0.0)] for cell in range(4)})
    found = apart.between_two(0, difference(mean(0.0), mean(0.1)))
    assert found.error == pytest.approx(math.sqrt(2 * 0.02)) and found.freedom == 4
    many = between_runs({cell: [mean(0.0, 0.0), mean(0.2, 0.0)] for cell in range(24)})
    known = many.between_two(0, difference(mean(0.0), mean(0.1))).known
    assert sum(variance * weight for variance, weight in known) > 2e-4 + 2 * 0.02


def test_too_few_samples_say_nothing() -> None:
    for samples in ({}, {0: [mean(0.0)]}, {0: [mean(0.0), mean(0.2)], 1: [mean(0.0), mean(0.1)]}):
        found = between_runs(samples)
        assert not found.is_known and found.widened(0, mean(0.0)) == mean(0.0)
    untested = LogMean(0.0, None)
    assert between_runs({cell: [mean(0.0), mean(0.2)] for cell in range(9)}).widened(0, untested) == untested


def test_a_cell_that_varies_much_more_than_the_others_uses_its_own_variance() -> None:
    samples = {cell: [mean(0.01 * (at % 2)) for at in range(5)] for cell in range(4)}
    samples[9] = [mean(0.5 * (at % 2)) for at in range(5)]
    found = between_runs(samples)
    parts = {cell: found.widened(cell, mean(0.0)).parts or ((0.0, 0.0),) for cell in (0, 9)}
    assert parts[9][0][0] == pytest.approx(0.075, rel=0.01) and parts[9][0][1] == 2.0


@pytest.mark.parametrize("far", [800.0, -800.0, 1400.0])
def test_means_at_the_ends_of_what_a_float_can_hold(far: float) -> None:
    """A damaged run can have a rate of 5e-324 or 1e308."""
    found = between_runs({cell: [mean(0.0), mean(far)] for cell in range(9)})
    assert found.is_known and found.widened(0, mean(0.0)) != mean(0.0)
