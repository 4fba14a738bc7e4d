"""Syncs that do not cover the writes in flight, and that these wait for."""

from collections.abc import Iterator, Mapping

from poolproof.load.model import LoadPart
from poolproof.load.outcome import PartOutcome
from poolproof.metrics import METRICS, Metric, MetricId
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes, suspects
from poolproof.rules.path import writes_are_synchronous
from poolproof.rules.proof import SYNCS
from poolproof.rules.reported import parts, parts_of
from poolproof.units import format_count, format_duration

_LONGER = 1.1
_ENGINES = ("libaio", "io_uring")  # posixaio passes the sync to aio_fsync, which waits for earlier requests


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes and job.sync_every and not writes_are_synchronous(case, job)]
    if jobs := [job for job in writers if job.queue_each > 1 and fio_job(job).engine in _ENGINES]:
        every, depth = jobs[0].sync_every, jobs[0].queue_each
        often = "after every write" if every == 1 else f"after every {every} writes"
        yield notes(
            f"{case.who(jobs)} syncs {often} at iodepth={depth}: fio does not wait for the writes in flight before it "
            f"syncs, so a sync may miss up to {depth - 1} of them, and its latency is not that of a commit",
            weight=40,
        )


def _in_result(case: Case) -> Findings:
    waiting = list(_waiting(case))
    for job, reported in {job.name: (job, reported) for job, reported in reversed(waiting)}.values():
        syncs, mean_ns = _syncs(reported), (reported.sync.mean_ns if reported.sync else None) or 0.0
        one_by_one_s, run_s = syncs / reported.clones * mean_ns / 1e9, reported.longest_ms / 1000
        if run_s and one_by_one_s > _LONGER * run_s:
            yield suspects(
                f"libaio does one sync after the other, but {case.generator} timed {format_count(syncs)} syncs of "
                f"{format_duration(mean_ns / 1e9)} on average in {format_duration(run_s)}: these times include the "
                f"wait for other I/Os, because {case.who([job])} has iodepth={job.queue_each}",
                weight=64,
                metrics=SYNCS,
            )
    metrics = _with_waits(case, waiting)
    if metrics:
        yield suspects(
            f"{case.who([job for job, _ in waiting])} syncs with libaio, which blocks {case.generator} until the sync "
            f"is done. {case.generator} notices only afterwards which I/Os have finished meanwhile, so their latencies "
            "include the rest of the sync",
            weight=63,
            metrics=metrics,
            fix="set ioengine=io_uring, which does not wait for a sync, or sync in a separate job with iodepth=1",
        )


def _waiting(case: Case) -> Iterator[tuple[LoadPart, PartOutcome]]:
    """Yield the jobs that have other I/Os in flight while a sync blocks them, with their results."""
    for reported in case.outcome.parts if case.outcome else ():
        job = case.job_named(reported.name)
        if job is not None and job.sync_every and job.queue_each > 1 and fio_job(job).engine == "libaio":
            yield job, reported


def _syncs(reported: PartOutcome) -> int:
    return max(reported.syncs or 0, (reported.sync.samples or 0) if reported.sync else 0)


def _with_waits(case: Case, waiting: list[tuple[LoadPart, PartOutcome]]) -> tuple[MetricId, ...]:
    """Return the latency percentiles that depend on I/Os that were in flight during a sync.

    With 10 syncs at iodepth=8, these are 80 I/Os. They decide the p99 if they are at least 1% of all I/Os.
    """
    every, waited = {"read": 0.0, "write": 0.0}, {"read": 0.0, "write": 0.0}
    for part in parts(case.outcome):
        if part.kind in every:
            every[part.kind] += part.figures.ios or 0
    for job, reported in waiting:
        found = [part for part in parts_of(reported) if part.kind in every]
        ios = sum(part.figures.ios or 0 for part in found)
        share = min(1.0, _syncs(reported) * job.queue_each / ios) if ios else 0.0
        for part in found:
            waited[part.kind] += share * (part.figures.ios or 0)
    return tuple(metric.id for metric in METRICS if metric.is_of_ios and _decide(metric, every, waited))


def _decide(metric: Metric, every: Mapping[str, float], waited: Mapping[str, float]) -> bool:
    kinds = ("read", "write") if metric.of == "ios" else (metric.of,)
    ios, slowest = sum(waited[kind] for kind in kinds), 1 - (metric.percent or 0) / 100
    return ios > 0 and ios >= slowest * sum(every[kind] for kind in kinds)


RULE = Rule(
    title="A sync that does not cover the writes in flight",
    wrong="With fsync=N or fdatasync=N, libaio and io_uring issue the sync while other writes are in flight. fsync "
    "only covers writes that have completed. A database, in contrast, waits for its writes before it syncs, and then "
    "waits for the sync. libaio also blocks fio during the sync. The I/Os in flight then finish unnoticed, and their "
    "latencies include the rest of the sync.",
    shows="In a job: libaio or io_uring with iodepth above 1, and fsync or fdatasync. In a result with libaio: each "
    "percentile of the I/Os is suspect if enough I/Os were in flight during syncs to determine it (syncs × iodepth; "
    "for the p99, 1% of all I/Os). The percentiles of the syncs are suspect if all syncs together took more than 1.1 "
    "times the run.",
    error="Rates are too high for a database; the sync latency is too low or too high. Measured at iodepth=32: libaio "
    "was at depth 32 in 94% of the submissions, io_uring in all of them. Measured at iodepth=16 with fsync=1: with "
    "libaio, a write took 15 ms on average, with io_uring 0.66 ms; the disk needed less than 0.5 ms per request.",
    fix="set iodepth=1 and, for several committing clients, raise numjobs, with one file per job; or use sync=dsync at "
    "that depth",
    sources=(
        fio_source("3.33", "engines/libaio.c", "fio_libaio_queue (waits for queued I/Os, not for those submitted)"),
        fio_source("3.33", "engines/io_uring.c", "fio_ioring_queue"),
        fio_source("3.33", "backend.c", "do_io"),
        fio_doc("fsync"),
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("iodepth", "fsync", "fdatasync"),
    fixed_options={"iodepth": "1"},
    cleared_by_byte_count=False,
    commands="for depth in 1 32; do fio --rw=randwrite --bs=4k --size=64m --io_size=4m --direct=1 --ioengine=libaio "
    "--iodepth=$depth --fdatasync=1; done",
)
