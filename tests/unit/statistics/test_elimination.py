"""Successive elimination removes clearly worse layouts, and removes the best one no more often than promised."""

import math
import random
from collections.abc import Sequence

import pytest

from poolproof.statistics.comparison import LogMean, eliminated, leader_of, log_mean, mixture
from poolproof.statistics.shared_variance import VariancePrior

CHECKPOINTS = 5


def score(
    *workloads: Sequence[float], priors: Sequence[VariancePrior | None] = (), resolution: float = 0.0
) -> LogMean | None:
    """Return the mean over workloads, all with the same weight. None if a workload has fewer than two values."""
    means = [
        log_mean(values, prior, resolution=resolution) if len(values) > 1 else None
        for values, prior in zip(workloads, priors or [None] * len(workloads), strict=True)
    ]
    known = [mean for mean in means if mean is not None]
    return mixture((1 / len(known), mean) for mean in known) if len(known) == len(means) else None


def test_a_contender_that_is_clearly_worse_is_eliminated() -> None:
    contenders = {
        "fast": score((100.0, 101.0, 100.5, 99.8)),
        "near": score((99.0, 101.5, 98.0, 100.9)),
        "slow": score((50.0, 50.4, 50.2, 49.9)),
    }
    assert set(found := eliminated(contenders, 0.95, CHECKPOINTS)) == {"slow"}
    assert found["slow"].leader == leader_of(contenders) == "fast"
    assert 1 < found["slow"].least < found["slow"].times == pytest.approx(2.0, rel=0.01)


def test_a_goal_of_several_workloads_is_their_mean_by_ratio() -> None:
    contenders = {
        "even": score((100.0, 100.1, 99.9), (100.0, 100.1, 99.9)),
        "mixed": score((200.0, 200.1, 199.9), (50.0, 50.1, 49.9)),
    }
    assert eliminated(contenders, 0.95, CHECKPOINTS) == {}
    contenders["slower"] = score((100.0, 100.1, 99.9), (50.0, 50.1, 49.9))
    assert set(eliminated(contenders, 0.95, CHECKPOINTS)) == {"slower"}


def test_two_trials_are_too_few_unless_other_cells_say_how_much_trials_differ() -> None:
    assert eliminated({"a": score((100.0, 102.0)), "b": score((70.0, 71.0))}, 0.95, CHECKPOINTS) == {}
    prior = (VariancePrior(0.02, 0.32),)
    with_prior = {"a": score((100.0, 102.0), priors=prior), "b": score((70.0, 71.0), priors=prior)}
    assert eliminated(with_prior, 0.95, CHECKPOINTS)["b"].leader == "a"


def test_each_workload_of_the_goal_has_the_prior_of_its_kind() -> None:
    """A rate that varies by 0.1% says nothing about a percentile that varies by 30%."""

    def contenders(tail: VariancePrior) -> dict[str, LogMean | None]:
        priors = (VariancePrior(0.001, 0.25), tail)
        levels = {"a": 100.0, "b": 95.0}
        return {name: score((level, level), (level, level), priors=priors) for name, level in levels.items()}

    assert set(eliminated(contenders(VariancePrior(0.001, 0.25)), 0.95, CHECKPOINTS)) == {"b"}
    assert eliminated(contenders(VariancePrior(0.3, 0.25)), 0.95, CHECKPOINTS) == {}


def test_percentiles_less_than_a_bin_apart_are_a_tie() -> None:
    def contenders(resolution: float) -> dict[str, LogMean | None]:
        prior, levels = (VariancePrior(1e-4, 0.25),), {"a": 64.0, "b": 63.2}
        return {name: score((level,) * 6, priors=prior, resolution=resolution) for name, level in levels.items()}

    assert set(eliminated(contenders(0.0), 0.95, CHECKPOINTS)) == {"b"}
    assert eliminated(contenders(1 / 128 / math.sqrt(3)), 0.95, CHECKPOINTS) == {}


@pytest.mark.parametrize("figures", [((),), ((5.0,),), ((5.0, 0.0, 4.0),), ((900.0, 901.0), (5.0,))])
def test_a_contender_without_two_positive_values_stays(figures: tuple[tuple[float, ...], ...]) -> None:
    contenders = {"a": score(*(((100.0, 100.1, 100.2),) * len(figures))), "b": score(*figures)}
    assert eliminated(contenders, 0.95, CHECKPOINTS) == {}


def test_equal_values_without_any_variance_are_a_tie_and_unequal_ones_are_not() -> None:
    same = {"a": score((7.0, 7.0, 7.0)), "b": score((7.0, 7.0, 7.0))}
    assert eliminated(same, 0.95, CHECKPOINTS) == {}
    apart = {"a": score((7.0, 7.0, 7.0)), "b": score((6.0, 6.0, 6.0))}
    assert eliminated(apart, 0.95, CHECKPOINTS)["b"].leader == "a"


@pytest.mark.parametrize("workloads", [1, 2])
@pytest.mark.parametrize("most", [(6, 6), (3, 6), (6, 3), (2, 6)], ids=str)
@pytest.mark.parametrize("deviations", [(0.03, 0.03), (0.01, 0.03), (0.03, 0.01), (0.1, 0.01)], ids=str)
def test_the_true_best_is_eliminated_no_more_often_than_promised(
    deviations: tuple[float, float], most: tuple[int, int], workloads: int
) -> None:
    """Simulate complete eliminations of four equally fast layouts. The best may be eliminated in at most 5 of 100.

    Of each pair, the first value is for the best layout, and the second for the others.

    `deviations`: how much the trials vary.
    `most`: the maximum number of trials.
    """
    chance, races = random.Random(7), 120
    lost = sum(_loses_the_best(chance, 4, workloads, deviations, most) for _ in range(races))
    assert lost <= 0.05 * races


def test_an_elimination_of_two_with_very_different_variances_keeps_its_promise() -> None:
    """This is the worst of the simulated cases with two layouts.

    The best is eliminated in 3 of 100 (docs/stopping.md).
    """
    chance, races = random.Random(7), 800
    assert sum(_loses_the_best(chance, 2, 1, (0.1, 0.01), (6, 3)) for _ in range(races)) <= 0.05 * races


def _loses_the_best(
    chance: random.Random, layouts: int, workloads: int, deviations: tuple[float, float], most: tuple[int, int]
) -> bool:
    """True if the first layout was eliminated at one of the checkpoints."""

    def draw(number: int) -> float:
        return math.exp(chance.gauss(0, deviations[min(number, 1)]))

    cells = [[[draw(number) for _ in range(2)] for _ in range(workloads)] for number in range(layouts)]
    for checkpoint in range(1, CHECKPOINTS + 1):
        out = eliminated({str(number): score(*own) for number, own in enumerate(cells)}, 0.95, CHECKPOINTS)
        if "0" in out:
            return True
        for number, own in enumerate(cells):
            for trials in own:
                while str(number) not in out and len(trials) < min(2 + checkpoint, most[min(number, 1)]):
                    trials.append(draw(number))
    return False


@pytest.mark.parametrize(("confidence", "checkpoints"), [(0.95, 0), (1.0, 3), (0.0, 3)])
def test_a_checkpoint_and_a_confidence_are_required(confidence: float, checkpoints: int) -> None:
    with pytest.raises(ValueError, match="checkpoints"):
        eliminated({}, confidence, checkpoints)
