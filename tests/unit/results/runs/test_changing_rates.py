"""Changes of the rate within trials: when the spread of the trials shows their error, and when it does not."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.changing_rates import unsteady_reasons, with_changes
from poolproof.results.runs.convergence import needs_trial
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.summary import cells_of
from poolproof.statistics.comparison import LogMean
from poolproof.stopping.model import NotConverged

from .disturbed_trials import STOLEN

_CAMPAIGN = parse_campaign(
    "layouts: {a: dir /srv/a}\nworkloads: {w: {rw: read}}\nmeasure: {until: 5%, min: 1s, trials: 3..6}", "t"
)
_ALIKE, _APART = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.02, 0.98), (0.8, 1.2) * 5


def trials(changed: int, count: int, values: Sequence[float] = _ALIKE, reason: str = "step") -> list[Trial]:
    """Return trials whose slowest and fastest tenths are 10% from their mean. The rate changed in the first ones."""
    return [
        _trial(number, values[number - 1], reason if number <= changed else "noise") for number in range(1, count + 1)
    ]


def _trial(number: int, value: float, reason: str) -> Trial:
    settling = Convergence(
        settled=False,
        warmup_s=0,
        ran_s=2,
        most_s=2,
        reasons=(NotConverged(reason, "…"),),
        least_share=0.9,
        most_share=1.1,
        trend_share=0.05 * (-1) ** number,
    )
    figures = TrialMetrics(iops=1000 * value, bandwidth_bytes=4096e3 * value)
    return Trial("a", "w", number, "sound", (), "iops", figures, settling=settling)


@pytest.mark.parametrize(
    ("changed", "count", "is_unsteady"),
    [
        (0, 3, False),
        (1, 3, True),
        (1, 4, False),
        (2, 4, True),
        (2, 5, False),
        (3, 6, False),
        (4, 6, True),
        (5, 10, False),
    ],
)
def test_a_cell_is_unsteady_if_the_rate_changed_in_most_trials_or_few_were_steady(
    changed: int, count: int, is_unsteady: bool
) -> None:
    assert unsteady_reasons(trials(changed, count)) == (("step",) if is_unsteady else ())


def test_a_cell_is_unsteady_if_its_trials_vary_as_much_as_the_rate_within_them() -> None:
    """The rate may stay at one speed for longer than a trial, so that most trials miss the changes."""
    assert unsteady_reasons(trials(1, 10, _APART)) == ("step",)
    assert unsteady_reasons(trials(1, 10, [1 + (value - 1) / 4 for value in _APART])) == ()


@pytest.mark.parametrize(("fall", "is_unsteady"), [(0.0, False), (0.02, False), (0.15, True), (-0.15, True)])
def test_a_cell_is_unsteady_if_the_rate_falls_or_rises_in_each_trial(fall: float, is_unsteady: bool) -> None:
    """Only one trial is long or noisy enough to show this alone. In the others, it is within the noise of 5%."""
    assert unsteady_reasons(_falling(fall)) == (("step",) if is_unsteady else ())


def _falling(fall: float, changed: int = 1) -> list[Trial]:
    """Return six trials whose rate falls by this share from the first half to the second, in addition to noise.

    Their slowest tenth is 40% below their mean, and their fastest 60% above it.
    """
    found = [
        replace(each, settling=replace(own, trend_share=own.trend_share - fall, least_share=0.6, most_share=1.6))
        for each in trials(changed, 6)
        if (own := each.settling) is not None and own.trend_share is not None
    ]
    assert len(found) == 6
    return found


_MEAN = LogMean(math.log(1000), ())


def test_a_cell_whose_rate_falls_in_each_trial_may_be_slower_but_not_faster() -> None:
    falling, rising = (with_changes(_MEAN, _falling(fall), "iops") for fall in (0.06, -0.06))
    assert unsteady_reasons(_falling(0.06)) == unsteady_reasons(_falling(-0.06)) == ("step",)
    assert falling is not None and rising is not None
    assert (falling.above, rising.below) == (0, 0)
    assert (falling.below, rising.above) == pytest.approx((-math.log(0.6 * 0.98), math.log(1.6 * 1.02)))


@pytest.mark.parametrize("cause", ["most trials", "other work"])
def test_a_cell_whose_rate_also_changes_otherwise_is_tested_at_its_extremes(cause: str) -> None:
    falling = _falling(0.06, changed=4 if cause == "most trials" else 1)
    if cause == "other work":
        falling[0] = replace(falling[0], verdict="suspect", findings=(STOLEN,))
    found = with_changes(_MEAN, falling, "iops")
    assert found is not None
    assert found.below > 0.5 and found.above > 0.45


@pytest.mark.parametrize(("least", "trend"), [(None, 0.0), (0.0, 0.0), (0.9, None)])
def test_a_cell_is_unsteady_if_the_change_within_a_trial_is_unknown(least: float | None, trend: float | None) -> None:
    first, *others = trials(1, 5)
    assert first.settling is not None
    stalled = replace(first, settling=replace(first.settling, least_share=least, trend_share=trend))
    assert unsteady_reasons([stalled, *others]) == ("step",)


def test_a_failed_trial_is_not_a_steady_one() -> None:
    failed = replace(_trial(5, 1.0, "noise"), verdict="failed", figures=None, settling=None)
    assert unsteady_reasons([*trials(1, 4), failed]) == ()
    assert unsteady_reasons([*trials(1, 3), failed]) == ("step",)


@pytest.mark.parametrize(
    ("changed", "count", "is_followed"),
    [
        (0, 3, False),
        (1, 3, True),
        (1, 4, False),
        (2, 3, False),
        (2, 4, True),
        (2, 5, False),
        (3, 6, False),
        (6, 6, False),
    ],
)
def test_a_trial_whose_rate_changed_is_followed_by_another_until_three_are_steady(
    changed: int, count: int, is_followed: bool
) -> None:
    """The trials agree, so precision does not require any more of them."""
    assert needs_trial(trials(changed, count), _CAMPAIGN.measure) is is_followed


def test_no_trial_follows_in_runs_without_trends() -> None:
    older = [
        replace(each, settling=replace(each.settling, trend_share=None))
        for each in trials(1, 3)
        if each.settling is not None
    ]
    assert not needs_trial(older, _CAMPAIGN.measure)


def test_no_trial_follows_if_the_maximum_is_too_small_for_three_steady_trials() -> None:
    measure = replace(_CAMPAIGN.measure, trials=2, most_trials=3)
    equal = trials(1, 2, [1.0, 1.0])
    assert not needs_trial(equal, measure)
    assert needs_trial(equal, replace(measure, most_trials=4))


def test_a_cell_with_random_changes_has_not_converged_but_is_tested() -> None:
    (cell,) = cells_of(trials(1, 4), _CAMPAIGN)
    assert (cell.did_not_converge, cell.unsteady, cell.usability().can_be_tested) == (True, (), True)
