"""Determines the time that a single I/O took, from the values in a report."""

from poolproof.load.model import LoadPart
from poolproof.rules.reported import ReportedDirection
from poolproof.units import format_duration


def submission_ns(part: ReportedDirection) -> float:
    """Return the mean submission time in nanoseconds, or 0 if it is not reported."""
    return (part.figures.slat.mean_ns if part.figures.slat else None) or 0.0


def typical_ns(part: ReportedDirection) -> float | None:
    """Return the typical latency of an I/O plus its submission time, in nanoseconds, or None if the latency is unknown.

    The typical latency is the median, or the mean if the median is missing.
    """
    completion = part.completion
    latency = part.median_ns if part.median_ns is not None else completion.mean_ns if completion else None
    return None if latency is None else latency + submission_ns(part)


def latency_text(latency_ns: float, limit: str = "") -> str:
    """Format a latency, preceded by `limit`, for example `at most 908 ns`.

    fio 2 and the terse output of later releases round latencies down to whole microseconds, so 0 is `less than 1 µs`.
    """
    return f"{limit} {format_duration(latency_ns / 1e9)}".strip() if latency_ns else "less than 1 µs"


def interval_ns(part: ReportedDirection, job: LoadPart | None) -> float | None:
    """Return the mean interval between two I/Os of the same clone in nanoseconds, or None if the rate is unknown."""
    clones = job.clones if job is not None else part.job.clones
    iops = part.figures.iops
    if not iops and job is not None and job.block_bytes == job.max_block_bytes:
        iops = (part.figures.bandwidth_bytes or 0.0) / job.block_bytes
    return 1e9 * clones / iops if iops else None


def faster_than(part: ReportedDirection, limit_ns: float, *, is_alone: bool) -> float:
    """Return a lower bound on the percentage of I/Os that took less than `limit_ns`.

    The bound is derived from the percentiles, the mean and the latency distribution. The mean is useful because no
    latency is negative, so at most a fraction of mean / limit of the I/Os can be above the limit.
    `is_alone`: True if the job only reads or only writes. The latency distribution then applies to these I/Os alone.
    """
    submitted = submission_ns(part)
    percentiles = part.completion.percentiles_ns if part.completion else {}
    found = [percent for percent, value in percentiles.items() if value + submitted < limit_ns]
    mean = part.completion.mean_ns if part.completion else None
    if mean:
        found.append(100 * (1 - (mean + submitted) / limit_ns))
    if is_alone:
        shares = part.job.latency_shares.items()
        found.append(sum(share for bound, share in shares if bound + submitted <= limit_ns))
    return min(100.0, max([0.0, *found]))
