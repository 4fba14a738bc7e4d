"""Checks, before a campaign runs, whether its trials are long enough for the percentiles that it compares.

A percentile is reliable only if at least ten I/Os or syncs in each trial are slower than it (`Metric.events_needed`).
The rate of I/Os is unknown before a layout's first trial. A workload is therefore reported if a layout that is as slow
as a hard disk would not complete enough I/Os.
"""

import math
from collections.abc import Iterator

from poolproof.campaign.model import Campaign, Workload
from poolproof.campaign.trial_length import enough_s, has_own_length
from poolproof.metrics import metric_of
from poolproof.units import format_duration


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
            f"{math.ceil(metric.events_needed / longest_s):,} {noun}/s has too few of them and is not ranked. "
            f"If the layout is a hard disk, set `{fix}` in the campaign, or choose another metric."
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
