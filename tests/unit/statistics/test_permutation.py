"""A difference contains the samples of both sides, which is sufficient for a permutation test."""

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.statistics.comparison import Difference, difference, log_mean, mixture
from tests.unit.results.compare.making import made


def p_greater(apart: Difference) -> float:
    """Return the share of all relabellings with at least the observed difference.

    Samples are relabelled only within a workload.
    """
    one, other = apart.logs
    found = [math.fsum(parts) for parts in itertools.product(*map(_relabelled, one, other))]
    return sum(each >= apart.log - 1e-9 for each in found) / len(found)


def _relabelled(one: tuple[float, Sequence[float]], other: tuple[float, Sequence[float]]) -> Iterator[float]:
    (weight, left), (_, right) = one, other
    pooled = [*left, *right]
    for chosen in itertools.combinations(range(len(pooled)), len(left)):
        mine = math.fsum(pooled[at] for at in chosen)
        yield weight * (mine / len(left) - (math.fsum(pooled) - mine) / len(right))


def _apart(one: Sequence[float], other: Sequence[float], *, lower_is_better: bool = False) -> Difference:
    sides = [log_mean(each, lower_is_better=lower_is_better) for each in (one, other)]
    assert sides[0] is not None and sides[1] is not None
    return difference(sides[0], sides[1])


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_samples_of_a_difference_give_the_exact_p_value(lower_is_better: bool) -> None:
    fast, slow = (110, 112, 111, 113), (100, 102, 101, 103)
    one, other = (slow, fast) if lower_is_better else (fast, slow)
    assert p_greater(_apart(one, other, lower_is_better=lower_is_better)) == pytest.approx(1 / 70)
    assert p_greater(_apart(other, one, lower_is_better=lower_is_better)) == 1


def test_a_mix_of_workloads_keeps_the_samples_of_each() -> None:
    sides = []
    for factor in (1.2, 1.0):
        own = [log_mean([factor * value for value in values]) for values in ((10, 10.1, 10.2), (500, 505))]
        sides.append(mixture((weight, mean) for weight, mean in zip((0.75, 0.25), own, strict=True) if mean))
    apart = difference(*sides)
    assert [(weight, len(logs)) for weight, logs in apart.logs[0]] == [(0.75, 3), (0.25, 2)]
    assert p_greater(apart) == pytest.approx(1 / (20 * 6))


def test_the_cells_of_a_run_carry_their_samples(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {("one", "reads"): (100, 101, 102), ("pair", "reads"): (200, 201, 203)})
    (cell,) = compare(Side(run, "one"), Side(run, "pair"), effect=0.02).cells
    assert p_greater(cell.difference) == pytest.approx(1 / 20)
