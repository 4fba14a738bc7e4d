"""A rate that varies too much to be described by a single value."""

from poolproof.rules.coverage import proves
from poolproof.rules.disk_requests import disk_requests
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Finding, Rule, finding, fio_doc, fio_source, suspects
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.tolerances import REQUESTS_IF_UNEVEN
from poolproof.units import format_duration, format_rate

_SAMPLES = 10
_UNEVEN = 0.3
_WILD = 1.0
_MOST_IDLE = 0.5
_STALL = 0.25  # of the run time
_SKEW = 100.0
_INTERVAL_S, _FEWEST_IN_INTERVAL = 0.5, 20
_SYNC_NS = 50_000.0  # a sync that writes to flash takes at least this long
_IN_SYNCS, _MOST_IN_SYNCS = 0.8, 1.1  # a larger share means that not every write was synced


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    return _in_samples(case, part) or _with_stalls(case, part)


def _with_stalls(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if most I/Os took no time compared to a few that lasted for a large part of the run."""
    latency, median, runtime_ms = part.completion, part.median_ns, part.figures.runtime_ms
    if latency is None or not latency.percentiles_ns or not median or not latency.mean_ns or not runtime_ms:
        return None
    stalls = [each for each in latency.percentiles_ns.items() if each[1] >= _STALL * runtime_ms * 1e6]
    if not stalls or latency.mean_ns < _SKEW * median or _is_of_disk(case, part):
        return None
    percent, stall_ns = min(stalls)
    return suspects(
        f"the median {part.kind} took {format_duration(median / 1e9)}, but the slowest {100 - percent:.2g}% took at "
        f"least {format_duration(stall_ns / 1e9)}, in a run of {format_duration(runtime_ms / 1e3)}: the rate depends "
        "on how many of these stalls the run happens to include",
        weight=40,
    )


def _in_samples(case: Case, part: ReportedDirection) -> Finding | None:
    figures = part.figures
    mean, deviation = figures.bandwidth_mean_bytes, figures.bandwidth_stddev_bytes
    if (figures.samples or 0) < _SAMPLES or not mean:
        return None
    idle = _idle_share(case, part, mean)
    if idle >= _MOST_IDLE and not _is_of_disk(case, part):
        who = f"the {part.job.clones} clones" if part.job.clones > 1 else "the job"
        return suspects(
            f"{who} completed no {part.kind}s for {100 * idle:.0f}% of the time, and transferred {format_rate(mean)} "
            f"for the rest ({figures.samples} samples): the mean of both describes neither",
            weight=40,
        )
    if deviation is None or deviation / mean <= _UNEVEN:
        return None
    low, high = figures.bandwidth_min_bytes, figures.bandwidth_max_bytes
    span = f" and ranges from {format_rate(low)} to {format_rate(high)}" if low is not None and high is not None else ""
    return finding(
        "suspects" if deviation / mean > _WILD and not _is_of_disk(case, part) else "notes",
        f"the {part.kind} rate has a standard deviation of {100 * (deviation / mean):.0f}% of its mean of "
        f"{format_rate(mean)}{span} ({figures.samples} samples): no single value describes it",
        weight=40,
    )


def _idle_share(case: Case, part: ReportedDirection, mean: float) -> float:
    """Return the share of the run time without I/O, or 0.0 if it is unknown or intended.

    fio takes no sample of an interval in which a clone completed no I/O, so that the mean of the samples exceeds the
    rate. This also happens if single I/Os take about as long as an interval.
    """
    rate, iops, job = part.figures.bandwidth_bytes, part.figures.iops, case.job_named(part.job.name)
    if not rate or not iops or mean <= rate:
        return 0.0
    pauses = job is not None and is_fio_job(job) and fio_job(job).number("thinktime")
    each = iops * mean / rate / part.job.clones * _INTERVAL_S
    return 0.0 if pauses or each < _FEWEST_IN_INTERVAL else 1 - rate / mean


def _is_of_disk(case: Case, part: ReportedDirection) -> bool:
    """True if the uneven rate is that of the disk.

    This is the case if the byte accounting proves the result, if fio's disk statistics show a request for nearly every
    I/O, or if the job spent nearly all of its time in syncs that took as long as those of a disk.
    """
    requests, sync, syncs = disk_requests(case.outcome, part.kind), part.job.sync, part.job.syncs
    if proves(case) or (requests is not None and requests.ratio >= REQUESTS_IF_UNEVEN):
        return True
    if part.kind == "read" or sync is None or not sync.mean_ns or part.figures.runtime_ms is None:
        return False
    waited_ns = sync.mean_ns * (syncs or sync.samples or part.figures.ios or 0)
    median_ns = sync.percentiles_ns.get(50.0, sync.mean_ns)
    share = waited_ns / max(1.0, part.figures.runtime_ms * 1e6 * part.job.clones)
    return median_ns >= _SYNC_NS and _IN_SYNCS <= share <= _MOST_IN_SYNCS


RULE = Rule(
    title="The rate is not steady",
    wrong="The rate changes, for example because a cache fills up, a transaction group closes or a drive gets hot. The "
    "mean of a fast and a slow period then describes neither of them.",
    shows="In a result with at least 10 samples: the standard deviation is more than 30% of the mean. Above 100%, "
    "the result is suspect unless the byte accounting proves it, fio's disk statistics show a request for nearly every "
    "I/O, or the job spent 80% of its time in syncs of at least 50 µs, which wait for a disk. The same applies if the "
    "mean of the samples is at least twice the rate: fio takes no sample of an interval without I/O, so the clones did "
    "nothing for at least half of the time. The result is also suspect if the slowest I/Os took at least a quarter of "
    "the run time, and the mean latency is at least 100 times the median: nearly all of the time is spent on a few "
    "I/Os.",
    error="Too high or too low. Observed: in results that were too high, the standard deviation was 120 to 190% of the "
    "mean.",
    fix="set ramp_time=15 and a longer runtime, or steadystate=iops_slope:1% with ss_dur=60; check the rate over time",
    sources=(
        fio_source("3.42", "stat.c", "__add_samples (skips intervals without I/O), calc_lat"),
        fio_doc("steadystate"),
    ),
    in_result=each_part(_in_part),
    is_about_data=False,
    commands="fio --rw=write --bs=1m --size=4g --time_based --runtime=30",
)
