"""The coverage of confidence intervals for series with a known true mean. The complete table is in docs/stopping.md."""

import math
import random
from collections.abc import Sequence
from functools import cache

import pytest
from benchmarks.made_series import SHAPED, STATIONARY, Kind, correlated
from benchmarks.synthetic import coverage, decisions, false_settled

from poolproof.statistics.autocorrelation import long_run
from poolproof.stopping.model import StoppingDecision, StoppingRule

SERIES = {"white": 120, "AR(1) 0.3": 80, "AR(1) 0.6": 45, "AR(1) 0.9": 25, "AR(1) 0.95": 25}
SHORT = StoppingRule(max_s=60, turnover_s=10)


@cache
def _ended(name: str) -> tuple[StoppingDecision, ...]:
    count = next(SERIES[key] for key in sorted(SERIES, reverse=True) if name.startswith(key))
    return tuple(decisions(_kind(name), StoppingRule(max_s=120), count))


def _kind(name: str) -> Kind:
    return next(kind for kind in (*STATIONARY, *SHAPED) if kind.name == name)


@pytest.mark.parametrize("name", [kind.name for kind in STATIONARY])
def test_intervals_of_converged_trials_cover_the_truth(name: str) -> None:
    held, count = coverage(_kind(name), _ended(name)), len(_ended(name))
    chance = 2.5 * math.sqrt(0.95 * 0.05 / count)  # few series of each kind; together, they must do better
    assert held is not None and held >= 0.95 - chance


def test_all_intervals_together_cover_the_truth_in_92_to_98_per_cent() -> None:
    shares = [(len(_ended(kind.name)), coverage(kind, _ended(kind.name))) for kind in STATIONARY]
    held = math.fsum(count * (share or 0) for count, share in shares) / sum(count for count, _ in shares)
    assert 0.92 <= held <= 0.98


def test_a_converged_trial_is_rarely_off_by_more_than_the_tolerance() -> None:
    off = [false_settled(kind, _ended(kind.name), StoppingRule()) for kind in STATIONARY]
    assert math.fsum(off) / len(off) <= 0.05


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("warm-up of half a second", 0.0),
        ("drift of 10% a minute", 0.05),
        ("step after 20 s", 0.05),
        ("stalls, one in 3 s", 0.05),
        ("two speeds, 4 s each", 0.05),
        ("sawtooth of 2 s", 0.05),
    ],
)
def test_a_series_that_is_not_stationary_rarely_converges(name: str, most: float) -> None:
    kind = _kind(name)
    assert false_settled(kind, decisions(kind, SHORT, 30), SHORT) <= most


@pytest.mark.parametrize("name", ["warm-up of half a second", "sawtooth of 2 s"])
def test_a_warm_up_and_a_period_do_not_prevent_convergence(name: str) -> None:
    kind = _kind(name)
    ended = decisions(kind, SHORT, 30)
    assert sum(decision.converged for decision in ended) >= 27
    assert (coverage(kind, ended) or 0) >= 0.9


def test_after_a_step_the_result_is_the_new_level() -> None:
    kind, rule = _kind("step after 20 s"), StoppingRule(max_s=120, turnover_s=10)
    ended = decisions(kind, rule, 12)
    assert all(decision.converged for decision in ended)
    assert all(decision.warmup_s >= 19 for decision in ended)
    assert (coverage(kind, ended) or 0) >= 0.9


@pytest.mark.parametrize(("phi", "count"), [(0.0, 40), (0.3, 40), (0.6, 60), (0.9, 150), (0.95, 300)])
def test_the_standard_error_of_correlated_samples_is_right_at_a_fixed_length(phi: float, count: int) -> None:
    rng = random.Random(3)
    held = [_holds(correlated(rng, phi, 5)[:count]) for _ in range(150)]
    assert 0.91 <= sum(held) / len(held) <= 0.995


def test_effective_samples_match_the_theory() -> None:
    run = long_run(correlated(random.Random(2), 0.8, 5))
    assert run.effective == pytest.approx(1800 * 0.2 / 1.8, rel=0.25)


def _holds(values: Sequence[float]) -> bool:
    run = long_run(values)
    return abs(run.mean - 100) <= run.half_width(0.95)
