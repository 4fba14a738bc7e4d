"""Choose a default trial length that is sufficient for the percentile by which the campaign's goal is compared.

Each trial needs at least ten I/Os or syncs that are slower than the percentile (`Metric.events_needed`). Because a
layout's speed is unknown before its first trial, the default is chosen for a slow hard disk. A `time` set by the
campaign takes precedence.
"""

import math
from dataclasses import replace

from poolproof.campaign.model import Campaign, Measure, Workload
from poolproof.metrics import MetricId, metric_of

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
