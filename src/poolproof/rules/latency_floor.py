"""Latencies that no disk can have."""

from collections.abc import Iterable

from poolproof.fio.job import Job
from poolproof.rules.flow import Flow, cold_reads, writes_at_end
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.path import goes_past_ram
from poolproof.rules.reported import Part, job_of, parts
from poolproof.rules.reproduction import script
from poolproof.units import format_duration

_FLOOR_NS = 5000.0
_MEMORY = "no disk answers in less than 5 µs, memory does"


def _in_result(case: Case) -> Iterable[Finding]:
    for part in parts(case.result):
        if part.median_ns is not None and part.median_ns < _FLOOR_NS:
            yield from _completion(case, part, part.median_ns)
    for job in case.job.jobs:
        yield from _syncs(case, job)


def _completion(case: Case, part: Part, median_ns: float) -> Iterable[Finding]:
    if part.kind == "read" and not case.cold:
        return
    flow = cold_reads(case) if part.kind == "read" else writes_at_end(case)
    job = job_of(case, part)
    effect = _effect(case, part, job, flow)
    half = f"half of the {part.kind}s took less than {format_duration(median_ns / 1e9)}: {_MEMORY}"
    if effect == "notes":
        aside = "readahead" if part.kind == "read" else "copying into RAM"
        half += f". That is {aside}; the bandwidth is judged by the bytes, these latencies are not the disk's"
    yield Finding(
        rule="latency-floor",
        effect=effect,
        message=half,
        fix="direct=1 for the disk's latency; fdatasync=1 and fio's sync percentiles for the latency of a commit",
        weight=60 if effect != "notes" else 20,
    )


def _effect(case: Case, part: Part, job: Job | None, flow: Flow | None) -> Effect:
    """Buffered sequential reads and buffered writes end in RAM by design, and the bytes decide what they are worth."""
    if flow is not None and flow.in_order:
        return "notes"
    if job is None:
        return "suspects"
    waits_for_disk = goes_past_ram(job, case.target) is not False or job.direct
    if part.kind == "write":
        return "refutes" if waits_for_disk or job.writes_are_synchronous else "notes"
    return "refutes" if waits_for_disk or job.is_random else "notes"


def _syncs(case: Case, job: Job) -> Iterable[Finding]:
    """A sync of fresh buffered data has to write. With direct=1 there may be nothing left to do, honestly."""
    if not job.sync_every or job.direct or case.result is None:
        return
    for each in case.result.jobs:
        median_ns = each.sync.percentiles_ns.get(50.0) if each.sync else None
        if median_ns is None or median_ns >= _FLOOR_NS or (each.name != job.name and len(case.job.jobs) > 1):
            continue
        yield Finding(
            rule="latency-floor",
            effect="refutes",
            message=f"half of the syncs took less than {format_duration(median_ns / 1e9)}: a sync that writes to a "
            "disk takes more than 5 µs, these wrote nowhere",
            fix="look for tmpfs, `sync=disabled`, eatmydata, or a mount with nobarrier; test on the disk that will "
            "hold the data",
            weight=85,
        )


RULE = Rule(
    id="latency-floor",
    title="Faster than a disk can be",
    wrong="The I/Os ended in memory. Even the fastest drive needs several microseconds for the way over PCIe.",
    shows="In a result: half of the I/Os, or of the syncs of buffered data, took less than 5 µs. Buffered sequential "
    "reads (readahead) and buffered writes do that by design: there it is a note, and the bytes decide.",
    error="High. Measured: p99 of fdatasync 266 ns on tmpfs, which passes etcd's own test.",
    mend="direct=1 where it is honoured, cold caches, a target that is a disk.",
    sources=("measured cases L14, L15",),
    catalogue="A6, #20",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --directory=/dev/shm --rw=write --bs=2300 --size=22m --ioengine=sync --fdatasync=1; rm -f "
        "/dev/shm/trap*"
    ),
)
