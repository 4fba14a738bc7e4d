"""Latencies of writes that return as soon as their data is in RAM."""

from poolproof.load.model import LoadPart
from poolproof.metrics import MetricId
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Finding, Findings, Rule, finding, fio_doc
from poolproof.rules.path import is_zfs, writes_are_synchronous, writes_go_past_ram
from poolproof.rules.proof import LATENCIES_OF_BOTH, LATENCIES_WITH_WRITES, WRITE_LATENCIES
from poolproof.rules.reported import parts


def _in_result(case: Case) -> Findings:
    if account(case) is None:
        return
    written = [case.job_named(part.job.name) for part in parts(case.outcome) if part.kind == "write"]
    buffered = [job for job in written if job is not None and writes_go_past_ram(case, job) is False]
    copied = [job for job in buffered if job.may_use_page_cache and not writes_are_synchronous(case, job)]
    if not copied:
        return
    others_write = len(copied) < len(written)
    others_read = any(part.kind == "read" for part in parts(case.outcome))
    if others_read and not others_write:
        yield _finding(case, copied, WRITE_LATENCIES, mixed=False)
        yield _finding(case, copied, LATENCIES_OF_BOTH, mixed=True)
    else:
        yield _finding(case, copied, LATENCIES_WITH_WRITES, mixed=others_write)


def _finding(case: Case, copied: list[LoadPart], metrics: tuple[MetricId, ...], *, mixed: bool) -> Finding:
    others = " The percentiles mix these writes with I/Os that wait for a disk." if mixed else ""
    of_write = "sync=dsync" if case.is_direct else "direct=1 or sync=dsync"
    of_syncs = f"compare the p99 of the syncs (metric: sync_p99), or use {of_write} for the latency of a write"
    return finding(
        "suspects" if mixed else "refutes",
        f"{case.who(copied)} writes through {_cache(case, copied)}: a write returns when its data is in RAM, so its "
        f"latency is only that of the copy.{others} Syncs are timed separately",
        weight=35,
        fix=of_syncs if all(job.sync_every for job in copied) else "",
        metrics=metrics,
    )


def _cache(case: Case, copied: list[LoadPart]) -> str:
    if case.target is not None and case.target.journals_in_ram and all(job.direct for job in copied):
        return "dm-integrity's journal"
    return "the ARC" if is_zfs(case.target) else "the page cache"


RULE = Rule(
    title="The latency of a copy into RAM",
    wrong="A buffered write returns when its data is in the page cache. The p99 of these writes shows how long the copy"
    " or the wait for memory takes, but says nothing about a disk. If the job also reads, its percentiles mix reads "
    "and writes.",
    shows="In a result with counters: writes that complete in RAM, without O_SYNC or the mount option sync. These are "
    "writes with direct=0, and writes to a file system in RAM, to a device with dm-integrity's journal, to a loop "
    "device without direct I/O, or to ext4 with data=journal, which ignores O_DIRECT. Only latencies that include "
    "writes are affected.",
    error="Too low. Measured: a p99 of 9.28 µs, while the sync that wrote the data took 553 µs.",
    fix="set fdatasync=1 and compare the p99 of fdatasync (metric: sync_p99), or use direct=1 or sync=dsync for the "
    "latency of a write",
    fix_if_direct="set fdatasync=1 and compare the p99 of fdatasync (metric: sync_p99), or use sync=dsync for the "
    "latency of a write",
    sources=(fio_doc("direct, sync, fdatasync"), "Linux 6.12 mm/filemap.c, generic_perform_write"),
    in_result=_in_result,
    commands="fio --rw=randwrite --bs=4k --size=64m --fdatasync=32",
)
