"""Races: who is clearly worse leaves, and the true best seldom does, with the chance that is promised."""

import math
import random
from collections.abc import Sequence

import pytest

from poolproof.stopping.model import VariancePrior
from poolproof.stopping.racing import Contender, ContenderSamples, leader_of, out_of_race

LOOKS = 5


def contender(name: str, *workloads: Sequence[float], spread: VariancePrior | None = None) -> Contender:
    return Contender(name, tuple(ContenderSamples(tuple(trials), spread) for trials in workloads))


def test_who_is_clearly_worse_leaves_the_race() -> None:
    race = [
        contender("fast", (100.0, 101.0, 100.5, 99.8)),
        contender("near", (99.0, 101.5, 98.0, 100.9)),
        contender("slow", (50.0, 50.4, 50.2, 49.9)),
    ]
    assert set(found := out_of_race(race, 0.95, LOOKS)) == {"slow"}
    assert found["slow"].leader == leader_of(race) == "fast"
    assert 1 < found["slow"].least < found["slow"].times == pytest.approx(2.0, rel=0.01)


def test_a_goal_of_several_workloads_is_their_mean_by_ratio() -> None:
    race = [
        contender("even", (100.0, 100.1, 99.9), (100.0, 100.1, 99.9)),
        contender("mixed", (200.0, 200.1, 199.9), (50.0, 50.1, 49.9)),
    ]
    assert out_of_race(race, 0.95, LOOKS) == {}
    race.append(contender("slower", (100.0, 100.1, 99.9), (50.0, 50.1, 49.9)))
    assert set(out_of_race(race, 0.95, LOOKS)) == {"slower"}


def test_two_trials_alone_are_too_few_but_not_where_other_cells_tell_how_trials_differ() -> None:
    assert out_of_race([contender("a", (100.0, 102.0)), contender("b", (70.0, 71.0))], 0.95, LOOKS) == {}
    told = [
        contender(name, trials, spread=VariancePrior(0.02, 20.0))
        for name, trials in (("a", (100, 102)), ("b", (70, 71)))
    ]
    assert out_of_race(told, 0.95, LOOKS)["b"].leader == "a"


def test_each_workload_of_the_goal_has_the_spread_of_its_kind() -> None:
    """A rate that scatters by 0.1 % lends nothing to a percentile that scatters by 30 %."""

    def race(tail: VariancePrior) -> list[Contender]:
        rate = VariancePrior(0.001, 30.0)
        return [
            Contender(name, (ContenderSamples((level, level), rate), ContenderSamples((level, level), tail)))
            for name, level in (("a", 100.0), ("b", 95.0))
        ]

    assert set(out_of_race(race(VariancePrior(0.001, 30.0)), 0.95, LOOKS)) == {"b"}
    assert out_of_race(race(VariancePrior(0.3, 30.0)), 0.95, LOOKS) == {}


def test_percentiles_less_than_a_bin_apart_are_not_told_apart() -> None:
    def race(resolution: float) -> list[Contender]:
        spread = VariancePrior(1e-4, 30.0)
        return [
            Contender(name, (ContenderSamples((level,) * 6, spread, resolution),))
            for name, level in (("a", 64.0), ("b", 63.2))
        ]

    assert set(out_of_race(race(0.0), 0.95, LOOKS)) == {"b"}
    assert out_of_race(race(1 / 128 / math.sqrt(3)), 0.95, LOOKS) == {}


@pytest.mark.parametrize("figures", [((),), ((5.0,),), ((5.0, 0.0, 4.0),), ((900.0, 901.0), (5.0,))])
def test_who_was_not_measured_twice_stays(figures: tuple[tuple[float, ...], ...]) -> None:
    race = [contender("a", *(((100.0, 100.1, 100.2),) * len(figures))), contender("b", *figures)]
    assert out_of_race(race, 0.95, LOOKS) == {}


def test_equal_figures_without_any_scatter_are_a_tie_and_unequal_ones_are_none() -> None:
    same = [contender("a", (7.0, 7.0, 7.0)), contender("b", (7.0, 7.0, 7.0))]
    assert out_of_race(same, 0.95, LOOKS) == {}
    apart = [contender("a", (7.0, 7.0, 7.0)), contender("b", (6.0, 6.0, 6.0))]
    assert out_of_race(apart, 0.95, LOOKS)["b"].leader == "a"


@pytest.mark.parametrize("workloads", [1, 2])
@pytest.mark.parametrize("most", [(6, 6), (3, 6), (6, 3), (2, 6)], ids=str)
@pytest.mark.parametrize("deviations", [(0.03, 0.03), (0.01, 0.03), (0.03, 0.01), (0.1, 0.01)], ids=str)
def test_the_true_best_is_dropped_no_more_often_than_was_promised(
    deviations: tuple[float, float], most: tuple[int, int], workloads: int
) -> None:
    """Whole races of four layouts that are all as fast: the best may be lost in 5 of 100.

    The first of each two is that of the best: how much its trials differ, and with how many its figure is known.
    """
    chance, races = random.Random(7), 120
    lost = sum(_loses_the_best(chance, 4, workloads, deviations, most) for _ in range(races))
    assert lost <= 0.05 * races


def test_a_race_of_two_in_which_trials_differ_most_unlike_keeps_its_promise() -> None:
    """Of two layouts the hardest that was simulated: 3 of 100 are lost (docs/stopping.md)."""
    chance, races = random.Random(7), 800
    assert sum(_loses_the_best(chance, 2, 1, (0.1, 0.01), (6, 3)) for _ in range(races)) <= 0.05 * races


def _loses_the_best(
    chance: random.Random, layouts: int, workloads: int, deviations: tuple[float, float], most: tuple[int, int]
) -> bool:
    """Whether the first of the layouts was out at any look."""

    def draw(number: int) -> float:
        return math.exp(chance.gauss(0, deviations[min(number, 1)]))

    cells = [[[draw(number) for _ in range(2)] for _ in range(workloads)] for number in range(layouts)]
    for look in range(1, LOOKS + 1):
        out = out_of_race([contender(str(number), *own) for number, own in enumerate(cells)], 0.95, LOOKS)
        if "0" in out:
            return True
        for number, own in enumerate(cells):
            for trials in own:
                while str(number) not in out and len(trials) < min(2 + look, most[min(number, 1)]):
                    trials.append(draw(number))
    return False


@pytest.mark.parametrize(("confidence", "looks"), [(0.95, 0), (1.0, 3), (0.0, 3)])
def test_no_race_without_a_look_or_a_confidence(confidence: float, looks: int) -> None:
    with pytest.raises(ValueError, match="look"):
        out_of_race([], confidence, looks)
