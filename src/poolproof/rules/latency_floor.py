"""Latencies too low for any disk."""

from poolproof.load.outcome import PartOutcome
from poolproof.metrics import MetricId
from poolproof.rules.disk_requests import disk_requests, statistics_cover
from poolproof.rules.fio_job import has_copied_clock
from poolproof.rules.flow import cold_reads, writes_at_end
from poolproof.rules.model import Case, Effect, Finding, Findings, Rule, finding, fio_source, linux_source
from poolproof.rules.path import goes_past_ram, is_persistent_memory
from poolproof.rules.proof import (
    IOPS_AND_LATENCIES_OF_READS,
    LATENCIES_WITH_READS,
    LATENCIES_WITH_WRITES,
    OF_READS,
    OF_WRITES,
)
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_job, each_part, each_sync_has_data
from poolproof.rules.service_time import interval_ns, latency_text, submission_ns

_FLOOR_NS = 5000.0
_IMPOSSIBLE_NS = 3000.0  # the fastest drives (Optane, polled) answer in about 4 µs
_SYNC_NS = 50_000.0  # a sync that writes to flash takes at least this long
_IN_WRITES = 0.2
_UNEVEN = 10.0  # mean latency / median
_COVERED = ". fio's disk statistics cover all bytes, so this does not affect the bandwidth"
_SYNCS = "use fdatasync=1 and fio's sync percentiles to measure the latency of commits"


def _in_result(case: Case) -> Findings:
    if has_copied_clock(case.jobs):
        return
    yield from each_part(_completion)(case)
    yield from each_job(_syncs)(case)


def _completion(case: Case, part: ReportedDirection) -> Finding | None:
    if part.kind == "read" and not case.cold:
        return None
    latency_ns = _mean_ns(case, part) if part.median_ns is None else part.median_ns + submission_ns(part)
    limit_ns = _IMPOSSIBLE_NS if part.median_ns is None else _FLOOR_NS
    if latency_ns is None or latency_ns >= limit_ns or _on_memory(case, part.job):
        return None
    effect = _effect(case, part)
    if effect == "refutes" and latency_ns >= _IMPOSSIBLE_NS:
        effect = "suspects"
    cause = "readahead" if part.kind == "read" else "copying into RAM"
    metrics = _metrics(case, part)
    by_design = f". The likely cause is {cause}, so these latencies say nothing about the disk"
    if case.evidence is not None:
        by_design += ". The byte accounting shows whether the disk delivered the bandwidth"
    return finding(
        effect,
        (
            f"on average, a {part.kind} took {latency_text(latency_ns)}: "
            if part.median_ns is None
            else f"half of the {part.kind}s took {latency_text(latency_ns, 'at most')}: "
        )
        + ("no disk is that fast" if latency_ns < _IMPOSSIBLE_NS else "hardly any disk is that fast")
        + (by_design if effect == "notes" else ", but memory is")
        + ("" if effect == "notes" or metrics in (OF_READS, OF_WRITES) else _COVERED),
        weight=60 if effect != "notes" else 20,
        metrics=metrics,
        fix=_fix(case, part),
    )


def _fix(case: Case, part: ReportedDirection) -> str:
    """Return the fix, or an empty string for the rule's own fix."""
    if part.kind == "read" or not case.jobs:
        return ""
    return _SYNCS if case.is_direct else f"use direct=1 to measure the latency of the disk; {_SYNCS}"


def _mean_ns(case: Case, part: ReportedDirection) -> float | None:
    """Return the mean latency in nanoseconds, including submission, or None if the time of submission is unknown.

    Asynchronous engines can do the I/O during submission, which is not part of clat. If the job is unknown, the result
    is None, because readahead and the page cache make sequential I/O this fast.
    """
    job, completion = case.job_named(part.job.name), part.completion
    if job is None:
        return None
    if part.figures.lat is not None and part.figures.lat.mean_ns:
        return part.figures.lat.mean_ns
    is_whole = part.figures.slat is not None or job.is_synchronous
    return completion.mean_ns + submission_ns(part) if completion and completion.mean_ns and is_whole else None


def _metrics(case: Case, part: ReportedDirection) -> tuple[MetricId, ...]:
    """Return the metrics that the low latency makes doubtful.

    If fio's disk statistics show that the disks moved all bytes, the bandwidth is not one of them. The IOPS of reads
    are, unless the disks served the reads one by one: readahead reads the bytes of many reads with one request.
    """
    if part.kind == "write":
        return LATENCIES_WITH_WRITES if statistics_cover(case, "write") else OF_WRITES
    job, requests = case.job_named(part.job.name), disk_requests(case.outcome, "read")
    if not statistics_cover(case, "read"):
        return OF_READS
    if requests is not None and requests.in_order:
        return LATENCIES_WITH_READS
    return OF_READS if job is not None and job.is_random else IOPS_AND_LATENCIES_OF_READS


def _effect(case: Case, part: ReportedDirection) -> Effect:
    """Return the effect of a finding about a latency that is too low for a disk.

    The finding is only a note if the byte accounting shows that the disks did the work. It is also only a note for
    buffered writes and buffered sequential reads, which are meant to be served by RAM.
    """
    flow = cold_reads(case) if part.kind == "read" else writes_at_end(case)
    job = case.job_named(part.job.name)
    if flow is not None and flow.in_order:
        return "notes"
    if job is None:
        is_elsewhere = _spends_time_elsewhere(part) if part.kind == "write" else _may_be_read_ahead(case, part)
        return "notes" if is_elsewhere else "suspects"
    waits_for_disk = goes_past_ram(job, case.target) is not False or job.direct
    if part.kind == "write" and "direct" in (case.quoted or UNQUOTED).assumed:
        return "suspects"  # the writes may be buffered
    # The median is that of random I/Os only if most I/Os are random.
    waits_anyway = job.writes_are_synchronous if part.kind == "write" else job.is_random and job.random_share > 0.5
    return "refutes" if waits_for_disk or waits_anyway else "notes"


def _spends_time_elsewhere(part: ReportedDirection) -> bool:
    """True if writes were in flight for less than 20% of the time, and at least 50 µs passed between two writes.

    fio does not count the time of syncs as a part of the latency of writes.
    """
    each, latency = interval_ns(part, None), part.figures.lat or part.completion
    mean_ns = latency.mean_ns if latency else None
    return each is not None and mean_ns is not None and each >= _SYNC_NS and mean_ns < _IN_WRITES * each


def _may_be_read_ahead(case: Case, part: ReportedDirection) -> bool:
    """True if the mean of reads that may be sequential is at least 10 times their median, without disk statistics.

    With readahead, a few reads wait for a request that reads the bytes of many others.
    """
    if case.outcome is not None and case.outcome.disks:
        return False
    latency = part.figures.lat or part.completion
    mean_ns = latency.mean_ns if latency else None
    is_uneven = bool(mean_ns and part.median_ns is not None and mean_ns >= _UNEVEN * part.median_ns)
    return is_uneven and "rand" not in part.job.name.lower()


def _on_memory(case: Case, result: PartOutcome) -> bool:
    job = case.job_named(result.name)
    return job is not None and is_persistent_memory(case, job)


def _syncs(case: Case, result: PartOutcome) -> Finding | None:
    """Return a finding if syncs of buffered data were too fast for a disk.

    Direct I/O is excluded, because its syncs may have nothing to write.
    """
    job = case.job_named(result.name)
    median_ns = result.sync.percentiles_ns.get(50.0) if result.sync else None
    if median_ns is None or median_ns >= _FLOOR_NS or job is None or not job.sync_every or job.direct:
        return None
    if not each_sync_has_data(case, job) or _on_memory(case, result):
        return None
    return finding(
        "refutes" if median_ns < _IMPOSSIBLE_NS else "suspects",
        f"half of the syncs took {latency_text(median_ns, 'at most')}: a sync that writes to a disk takes "
        "longer, so these syncs did not reach a disk",
        weight=85,
        fix="look for tmpfs, `sync=disabled`, eatmydata or a mount with nobarrier, and test the disk that will store "
        "the data",
    )


RULE = Rule(
    title="Faster than any disk",
    wrong="The I/Os were served from memory. Even on the fastest drive, an I/O through the controller to flash takes "
    "several µs.",
    shows=(
        "In a result: half of the I/Os, or half of the syncs of buffered data, took less than 3 µs. With a median "
        "between 3 and 5 µs, the result is suspect. If there are no percentiles, a mean below 3 µs counts as such a "
        "median. Buffered writes are normally this fast, and so are buffered sequential reads, because of readahead. "
        "For such I/O, the finding is a note, and the byte accounting decides. The same applies to writes of an "
        "unknown job that were in flight for less than 20% of the time, at intervals of at least 50 µs: the rest may "
        "be syncs. It also applies to reads of an unknown job without `rand` in its name if the mean is at least 10 "
        "times the median without disk statistics. If fio's disk statistics cover all bytes, the finding applies only "
        "to latencies, and for sequential reads also to the IOPS, because readahead serves many reads with one "
        "request. Persistent memory is "
        "excluded. Syncs that may have nothing to write are "
        "excluded too: syncs after synchronous writes and, before fio 3.38, syncs of mixed jobs and of jobs with "
        "several I/Os in flight."
    ),
    error="Too high. Measured: on tmpfs, the p99 of fdatasync is 266 ns, which passes etcd's own test.",
    fix="make sure that the target is a disk, drop the caches before the run, and set direct=1 if the file system "
    "honours it",
    fix_if_direct="make sure that the target is a disk, and drop the caches before the run",
    sources=(
        "measured cases L14, L15",
        fio_source("3.37", "io_u.c", "get_rw_ddir (syncs after reads, up to this release)"),
        fio_source("3.38", "io_u.c", "get_rw_ddir (syncs after writes only; commit 704a8cfe)"),
        linux_source("6.12", "mm/filemap.c", "filemap_read"),
    ),
    in_result=_in_result,
    commands="fio --name=trap --directory=/dev/shm --rw=write --bs=2300 --size=22m --fdatasync=1; rm -f /dev/shm/trap*",
)
