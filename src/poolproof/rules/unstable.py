"""A rate that varies too much to be described by a single value."""

from poolproof.rules.coverage import proves
from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.model import Case, Finding, Rule, finding, fio_doc, fio_source
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.tolerances import REQUESTS_IF_UNEVEN
from poolproof.units import format_rate

_SAMPLES = 10
_UNEVEN = 0.3
_WILD = 1.0


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    figures = part.figures
    mean, deviation = figures.bandwidth_mean_bytes, figures.bandwidth_stddev_bytes
    if (figures.samples or 0) < _SAMPLES or not mean or deviation is None or deviation / mean <= _UNEVEN:
        return None
    low, high = figures.bandwidth_min_bytes, figures.bandwidth_max_bytes
    span = f" and ranges from {format_rate(low)} to {format_rate(high)}" if low is not None and high is not None else ""
    return finding(
        "suspects" if deviation / mean > _WILD and not (proves(case) or _reached_disks(case, part)) else "notes",
        f"the {part.kind} rate has a standard deviation of {100 * (deviation / mean):.0f} % of its mean of "
        f"{format_rate(mean)}{span} ({figures.samples} samples): no single value describes it",
        weight=40,
    )


def _reached_disks(case: Case, part: ReportedDirection) -> bool:
    """True if fio's disk statistics show a request for nearly every I/O. The uneven rate is then that of the disk."""
    requests = disk_requests(case.outcome, part.kind)
    return requests is not None and requests.ratio >= REQUESTS_IF_UNEVEN


RULE = Rule(
    title="The rate is not steady",
    wrong="The rate changes, for example because a cache fills up, a transaction group closes or a drive gets hot. The "
    "mean of a fast and a slow period then describes neither of them.",
    shows="In a result with at least 10 samples: the standard deviation is more than 30 % of the mean. Above 100 %, "
    "the result is suspect unless the byte accounting proves it or fio's disk statistics show a request for nearly "
    "every I/O.",
    error="Too high or too low. In inflated results, the standard deviation was 120 to 190 % of the mean.",
    fix="set ramp_time=15 and a longer runtime, or steadystate=iops_slope:1% with ss_dur=60; check the rate over time",
    sources=(
        fio_source("3.42", "stat.c", "add_bw_samples, calc_lat"),
        fio_doc("steadystate"),
    ),
    in_result=each_part(_in_part),
    commands="fio --rw=write --bs=1m --size=4g --time_based --runtime=30",
)
