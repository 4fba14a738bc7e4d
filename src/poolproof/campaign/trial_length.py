"""Choose a default trial length for the percentile that a campaign compares, and warn about trials that are too short.

Each trial needs at least ten I/Os or syncs that are slower than the percentile (`Metric.events_needed`). Because a
layout's speed is unknown before its first trial, a slow hard disk is assumed.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from poolproof.campaign.model import Campaign, Measure, Workload
from poolproof.metrics import MetricId, metric_of
from poolproof.units import format_duration

SLOW_PER_S = 50.0
"""The assumed speed of a slow layout, in I/Os or syncs per second. A 7200 rpm disk is twice as fast."""

_LONGEST_DEFAULT_S = 60
_OWN_LENGTH = ("runtime", "timeout", "time_based", "ramp_time")


def enough_s(metric: MetricId) -> int:
    """Return the seconds that a slow layout needs to produce enough events for a percentile, or 0 for a rate."""
    return math.ceil(metric_of(metric).events_needed / SLOW_PER_S)


def has_own_length(workload: Workload) -> bool:
    """True if the workload's own options determine the duration of its trials."""
    return any(name in _OWN_LENGTH for job in workload.jobs for name, _ in job.options)


def with_enough_time(campaign: Campaign) -> Campaign:
    """Return a copy of the campaign whose default trial length is sufficient for its goal's percentile.

    If the campaign sets `time` or `until` or has no goal, or if more than a minute would be needed, the trial length
    remains unchanged. `check` and `run` warn if trials may still be too short.
    """
    measure = campaign.measure
    if not measure.is_default_time or measure.until is not None:
        return campaign
    goals = campaign.goal_workloads if campaign.goal is not None else ()
    needed_s = max((enough_s(each.metric) for each in goals if not has_own_length(each)), default=0)
    time_s = max(Measure.time_s, needed_s if needed_s <= _LONGEST_DEFAULT_S else 0)
    return replace(campaign, measure=replace(measure, time_s=float(time_s)))


def few_events_ahead(campaign: Campaign) -> tuple[str, ...]:
    """Return a warning, with advice, for each workload with trials that may be too short for its percentile."""
    return tuple(_sentences(campaign))


def _sentences(campaign: Campaign) -> Iterator[str]:
    for workload in campaign.workloads:
        metric = metric_of(workload.metric)
        if not metric.events_needed or has_own_length(workload):
            continue
        longest_s, why = _longest_s(campaign, workload)
        needed_s = enough_s(workload.metric)
        if longest_s >= needed_s:
            continue
        noun = f"{metric.event}s"
        key = "time" if campaign.measure.until is None else "max"
        fix = f"budget: {_enough_budget_s(campaign, needed_s)}s" if why else f"{key}: {needed_s}s"
        yield (
            f"{workload.name}: the {metric.title} needs {metric.events_needed:,} {noun} in each trial, "
            f"but a trial lasts at most {format_duration(longest_s)}{why}. A layout that is slower than "
            f"{math.ceil(metric.events_needed / longest_s):,} {noun}/s has too few {noun} and is not ranked. "
            f"If the layout uses hard disks, set `{fix}` in the campaign, or choose a different metric."
        )


def _longest_s(campaign: Campaign, workload: Workload) -> tuple[float, str]:
    """Return the maximum trial length in seconds, and a clause that mentions the budget if the budget limits it."""
    longest_s = campaign.measure.longest_s
    if campaign.budget_s is None or workload.name not in {each.name for each in campaign.goal_workloads}:
        return longest_s, ""
    share_s = campaign.budget_s / _goal_trials(campaign)
    return (longest_s, "") if longest_s <= share_s else (share_s, ", if the budget is shared equally")


def _enough_budget_s(campaign: Campaign, needed_s: int) -> int:
    """Return a budget in seconds that is enough for trials of the required length, building, and other workloads."""
    return 2 * needed_s * _goal_trials(campaign)


def _goal_trials(campaign: Campaign) -> int:
    return campaign.measure.trials * len(campaign.layouts) * len(campaign.goal_workloads)
