"""Latencies too low for any disk."""

from collections.abc import Iterable
from functools import partial

from poolproof.load.model import LoadPart
from poolproof.load.outcome import PartOutcome
from poolproof.rules.flow import Flow, cold_reads, writes_at_end
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.path import goes_past_ram
from poolproof.rules.reported import ReportedDirection, each_job, each_part, job_named, job_of
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_FLOOR_NS = 5000.0
_MEMORY = "no disk answers in less than 5 µs, only memory does"


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.outcome, partial(_completion, case))
    yield from each_job(case.outcome, partial(_syncs, case))


def _completion(case: Case, part: ReportedDirection) -> Finding | None:
    median_ns = _median_of_all(part)
    if median_ns is None or median_ns >= _FLOOR_NS or (part.kind == "read" and not case.cold):
        return None
    flow = cold_reads(case) if part.kind == "read" else writes_at_end(case)
    job = job_of(case, part)
    effect = _effect(case, part, job, flow)
    half = f"half of the {part.kind}s took less than {format_duration(median_ns / 1e9)}: {_MEMORY}"
    if effect == "notes":
        aside = "readahead" if part.kind == "read" else "copying into RAM"
        half += (
            f". The cause is {aside}; the byte count decides on the bandwidth, and these latencies are not the disk's"
        )
    return Finding(
        rule="latency-floor",
        effect=effect,
        message=half,
        fix="direct=1 for the disk's latency; fdatasync=1 and fio's sync percentiles for the latency of a commit",
        weight=60 if effect != "notes" else 20,
    )


def _median_of_all(part: ReportedDirection) -> float | None:
    """Return the median latency including submission, because some engines do the I/O during submission."""
    submission = part.figures.slat.mean_ns if part.figures.slat else None
    return None if part.median_ns is None else part.median_ns + (submission or 0.0)


def _effect(case: Case, part: ReportedDirection, job: LoadPart | None, flow: Flow | None) -> Effect:
    """Return the effect; buffered sequential reads and buffered writes end in RAM by design, so the bytes decide."""
    if flow is not None and flow.in_order:
        return "notes"
    if job is None:
        return "suspects"
    waits_for_disk = goes_past_ram(job, case.target) is not False or job.direct
    if part.kind == "write":
        return "refutes" if waits_for_disk or job.writes_are_synchronous else "notes"
    return "refutes" if waits_for_disk or job.is_random else "notes"


def _syncs(case: Case, result: PartOutcome) -> Finding | None:
    """A sync of new buffered data has to write. With direct=1 there may be nothing left to write."""
    job = job_named(case, result.name)
    median_ns = result.sync.percentiles_ns.get(50.0) if result.sync else None
    if median_ns is None or median_ns >= _FLOOR_NS or job is None or not job.sync_every or job.direct:
        return None
    return Finding(
        rule="latency-floor",
        effect="refutes",
        message=f"half of the syncs took less than {format_duration(median_ns / 1e9)}: a sync that writes to a disk "
        "takes more than 5 µs, so these reached no disk",
        fix="look for tmpfs, `sync=disabled`, eatmydata, or a mount with nobarrier; test on the disk that will hold "
        "the data",
        weight=85,
    )


RULE = Rule(
    id="latency-floor",
    title="Faster than a disk can be",
    wrong="The I/Os ended in memory. Even the fastest drive needs several microseconds for the PCIe transfer.",
    shows="In a result: half of the I/Os, or of the syncs of buffered data, took less than 5 µs. Buffered sequential "
    "reads (readahead) and buffered writes do that by design: the finding is then a note, and the byte count decides.",
    error="Too high. Measured: p99 of fdatasync is 266 ns on tmpfs, which passes etcd's own test.",
    fix="direct=1 if the file system honours it, cold caches, and a disk as the target.",
    sources=("measured cases L14, L15",),
    pitfall_numbers="A6, #20",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --directory=/dev/shm --rw=write --bs=2300 --size=22m --ioengine=sync --fdatasync=1; rm -f "
        "/dev/shm/trap*"
    ),
)
