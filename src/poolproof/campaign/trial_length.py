"""Choose a default trial length that is long enough for the percentile of the campaign's goal.

In each trial, at least ten I/Os or syncs must be slower than the percentile (`Metric.events_needed`). A layout's speed
is not known before its first trial, so the default is long enough for a slow hard disk. If the campaign sets `time`,
that value is kept.
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
    """True if the workload's own options determine the length of its trials."""
    return any(name in _OWN_LENGTH for job in workload.jobs for name, _ in job.options)


def with_enough_time(campaign: Campaign) -> Campaign:
    """Return the campaign with a default trial length that is long enough for its goal's percentile.

    The campaign is unchanged if it sets `time` or `until`, has no goal, or would need more than a minute for the
    percentile. If the trials may still be too short, `check` and `run` say so.
    """
    measure = campaign.measure
    if not measure.is_default_time or measure.until is not None:
        return campaign
    goals = campaign.goal_workloads if campaign.goal is not None else ()
    needed_s = max((enough_s(each.metric) for each in goals if not has_own_length(each)), default=0)
    time_s = max(Measure.time_s, needed_s if needed_s <= _LONGEST_DEFAULT_S else 0)
    return replace(campaign, measure=replace(measure, time_s=float(time_s)))
