"""`python -m benchmarks.variance_parts` finds the variances with which results were simulated."""

import random
import statistics
from pathlib import Path

import pytest
from benchmarks.variance_parts import Placed, best_trials, busy_rates, cells_between, parts_of, share_of_positions

from tests.unit.results.compare.making import made as made_run


def made(chance: random.Random, trials: float, builds: float) -> list[list[float]]:
    levels = [chance.gauss(0, builds) for _ in range(5)]
    return [[100 * 2.718281828 ** (level + chance.gauss(0, trials)) for _ in range(3)] for level in levels]


@pytest.mark.parametrize(("trials", "builds"), [(0.02, 0.0), (0.01, 0.05), (0.05, 0.05)])
def test_the_parts_of_simulated_cells_are_found(trials: float, builds: float) -> None:
    chance = random.Random(3)
    found = [parts_of("cell", made(chance, trials, builds), 0.005**2) for _ in range(400)]
    cells = [each for each in found if each is not None]
    assert len(cells) == 400
    assert statistics.fmean(each.trials for each in cells) == pytest.approx(trials**2 - 0.005**2, rel=0.1)
    between = statistics.fmean(each.builds for each in cells)
    assert between == pytest.approx(builds**2, rel=0.15) if builds else between < (trials / 2) ** 2


def test_the_start_and_the_end_of_fio_are_not_part_of_the_rate() -> None:
    """As in a real trial, there is a stray write, then fio starts, 20 samples of load with one pause, and fio's end."""
    moved = [20, 0, 0, 0, 0, 7, 50, *([60] * 9), 0, *([60] * 10), 40, 9, 0, 0]
    totals = [(0.1 * at, sum(moved[:at])) for at in range(len(moved) + 1)]
    assert [round(rate) for rate in busy_rates(totals)] == [600] * 9 + [0] + [600] * 10
    assert busy_rates([(0.0, 0), (0.1, 0)]) == busy_rates([]) == []


def test_incomplete_builds_are_left_out() -> None:
    whole = [[100.0, 101.0], [110.0, 111.0]]
    assert parts_of("cell", [*whole, [500.0]]) == parts_of("cell", whole)
    for builds in ([], [[1.0, 2.0]], [[1.0], [2.0]], [[0.0, 1.0], [1.0, 2.0]]):
        assert parts_of("cell", builds) is None


def test_the_variance_between_runs_is_that_of_their_means(tmp_path: Path) -> None:
    levels = [[1000.0, 1010.0, 990.0], [1100.0, 1111.0, 1089.0], [900.0, 909.0, 891.0]]
    runs = [
        made_run(tmp_path / str(number), {("one", "reads"): own, ("pair", "reads"): own[:number]})
        for number, own in enumerate(levels)
    ]
    (found,) = cells_between(runs)
    assert found == parts_of("reads on one", levels)
    assert found.builds == pytest.approx(0.1**2, rel=0.1)


def test_the_share_of_positions_is_that_of_a_simulated_drift() -> None:
    chance = random.Random(4)
    random_only = [Placed(number % 4, chance.gauss(0, 1)) for number in range(400)]
    assert share_of_positions(random_only) < 0.03
    drifting = [Placed(each.position, each.deviation + (each.position - 1.5)) for each in random_only]
    assert share_of_positions(drifting) == pytest.approx(1.25 / 2.25, abs=0.08)
    assert share_of_positions([]) == share_of_positions([Placed(0, 1.0), Placed(0, -1.0)]) == 0.0


def test_the_best_number_of_trials_weighs_variances_and_times() -> None:
    assert best_trials(trials=4.0, builds=1.0, build_s=9.0, trial_s=1.0) == 6.0
    assert best_trials(trials=1.0, builds=9.0, build_s=1.0, trial_s=1.0) == 1.0
    assert best_trials(trials=1.0, builds=0.0, build_s=1.0, trial_s=1.0) == float("inf")
