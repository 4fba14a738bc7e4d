"""The between-run variance, estimated from several runs, and simulated comparisons of runs without a change."""

import math

import pytest
from benchmarks.between_runs import simulate

from poolproof.statistics.between_runs import between_runs
from poolproof.statistics.comparison import LogMean, difference
from poolproof.statistics.shared_variance import MeanError, Points


def mean(log: float, inside: float = 1e-4) -> LogMean:
    return LogMean(log, (), known=((inside, 1.0),))


def test_without_earlier_runs_most_comparisons_have_a_false_winner_and_with_them_few() -> None:
    """Results vary by 5% per cell from run to run.

    Without the between-run variance, nearly every comparison of 24 cells has a false winner.
    """
    assert simulate(0, 5).false > 0.8
    for earlier in (1, 3):
        found = simulate(earlier, 10)
        assert found.false <= 0.1 and found.coverage >= 0.93
    assert found.power > 0.8


def half_width(found: Points) -> float:
    """Return half the width of the 95% interval of a value with this variance."""
    return MeanError(found).reach(0.025)


def test_a_cell_that_varies_more_than_three_others_has_a_wider_interval_than_they_have() -> None:
    """If each cell had the variance of all cells together, 9% of such comparisons would have a false winner."""
    samples = {cell: [mean(size * (at % 2), 0.0) for at in range(6)] for cell, size in enumerate((0.1, 0.1, 0.1, 0.2))}
    found = between_runs(samples)
    widths = [half_width(found.widened(cell, mean(0.0, 0.0)).known) for cell in samples]
    assert widths[0] == pytest.approx(widths[2]) and widths[3] > 1.25 * widths[0]


def test_the_error_inside_the_runs_is_not_counted_twice() -> None:
    """If runs differ by no more than their own errors, less than these errors is added.

    Otherwise, the rest is added.
    """
    alike, apart, exact = (
        between_runs({cell: [mean(0.0, inside), mean(far, inside)] for cell in range(4)})
        for far, inside in ((0.14, 0.01), (0.4, 0.01), (0.4, 0.0))
    )
    widths = [half_width(each.widened(0, mean(0.0, 0.0)).known) for each in (alike, apart, exact)]
    assert alike.is_known and widths[0] < widths[1] < widths[2] < 1.1 * widths[1]


def test_a_comparison_adds_the_variance_twice() -> None:
    for cells in (4, 24):
        found = between_runs({cell: [mean(0.0, 0.0), mean(0.2, 0.0)] for cell in range(cells)})
        apart = found.between_two(0, difference(mean(0.0, 0.0), mean(0.1, 0.0)))
        one = half_width(found.widened(0, mean(0.0, 0.0)).known)
        assert half_width(apart.known) == pytest.approx(math.sqrt(2) * one, rel=1e-3) and apart.error == 0.0


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
    widths = {cell: half_width(found.widened(cell, mean(0.0)).known) for cell in (0, 9)}
    assert widths[9] == pytest.approx(2.776 * math.sqrt(0.075), rel=0.01) and widths[0] < 0.3


@pytest.mark.parametrize("far", [800.0, -800.0, 1400.0])
def test_means_at_the_ends_of_what_a_float_can_hold(far: float) -> None:
    """A damaged run can contain a rate of 5e-324 or 1e308."""
    found = between_runs({cell: [mean(0.0), mean(far)] for cell in range(9)})
    assert found.is_known and found.widened(0, mean(0.0)) != mean(0.0)
