"""Whether trials are long enough for the percentiles that a campaign's workloads are compared by, before it runs.

A percentile needs ten events that are slower (`Metric.events_needed`). How many events a layout completes is known only
after its first trial, so a workload is named if a slow hard disk would have too few.
"""

import math
from collections.abc import Iterator

from poolproof.campaign.model import Campaign, Workload
from poolproof.metrics import metric_of
from poolproof.units import format_duration

SLOW_PER_S = 50.0
"""The I/Os or syncs per second of a slow layout: half of what a 7200 rpm disk completes, at random or with flushes."""

_OWN_LENGTH = ("runtime", "timeout", "time_based", "ramp_time")


def few_events_ahead(campaign: Campaign) -> tuple[str, ...]:
    """Return a sentence for each workload whose percentile may have too few events, with what would be enough."""
    return tuple(_sentences(campaign))


def _sentences(campaign: Campaign) -> Iterator[str]:
    for workload in campaign.workloads:
        metric = metric_of(workload.metric)
        if not metric.events_needed or _has_own_length(workload):
            continue
        longest_s, why = _longest_s(campaign, workload)
        enough_s = math.ceil(metric.events_needed / SLOW_PER_S)
        if longest_s >= enough_s:
            continue
        noun = f"{metric.event}s"
        key = "time" if campaign.measure.until is None else "max"
        fix = f"budget: {_enough_budget_s(campaign, enough_s)}s" if why else f"{key}: {enough_s}s"
        yield (
            f"{workload.name}: the {metric.title} needs {metric.events_needed:,} {noun} in each trial, "
            f"and a trial lasts at most {format_duration(longest_s)}{why}. A layout with fewer than "
            f"{math.ceil(metric.events_needed / longest_s):,} {noun} per second has too few, and is not ranked. "
            f"For a hard disk, write {fix}, or choose another metric."
        )


def _has_own_length(workload: Workload) -> bool:
    return any(name in _OWN_LENGTH for job in workload.jobs for name, _ in job.options)


def _longest_s(campaign: Campaign, workload: Workload) -> tuple[float, str]:
    """Return the longest possible trial in seconds, and an addition to the sentence if the budget limits it."""
    longest_s = campaign.measure.longest_s
    if campaign.budget_s is None or workload.name not in {each.name for each in campaign.goal_workloads}:
        return longest_s, ""
    share_s = campaign.budget_s / _goal_trials(campaign)
    return (longest_s, "") if longest_s <= share_s else (share_s, ", if the budget is shared equally")


def _enough_budget_s(campaign: Campaign, enough_s: int) -> int:
    """Return a budget for such trials that also leaves time for building and for the other workloads."""
    return 2 * enough_s * _goal_trials(campaign)


def _goal_trials(campaign: Campaign) -> int:
    return campaign.measure.trials * len(campaign.layouts) * len(campaign.goal_workloads)
