"""Syncs that are too rare to affect the result."""

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, suspects
from poolproof.rules.path import may_end_in_ram, writes_are_synchronous
from poolproof.units import format_size

_SHARE = 0.01


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        if job.sync_every and _is_rare(case, job, job.sync_every):
            yield suspects(
                f"{case.who([job])} syncs after every {job.sync_every} writes: up to "
                f"{format_size(job.sync_every * job.max_block_bytes)} per numjobs clone is still in RAM when fio ends, "
                "and the latency of a write is not that of a commit",
                weight=45,
            )


def _is_rare(case: Case, job: LoadPart, every: int) -> bool:
    if not job.writes or every < 100 or not may_end_in_ram(job, case.target):
        return False
    if job.syncs_at_end or writes_are_synchronous(case, job):
        return False
    size = job.io_size_bytes or job.size_bytes
    return not size or job.time_based or every * job.max_block_bytes >= _SHARE * size


RULE = Rule(
    title="Infrequent syncs",
    wrong="With fsync=10000, the writes after the last sync are still in RAM when fio ends, and the latency of a write "
    "is not that of a commit.",
    shows="In a job: fsync or fdatasync of 100 or more without end_fsync, if at least 1% of the bytes can remain "
    "unsynced. fio syncs only when it is about to issue the next write, so no sync follows the last write: 10 writes "
    "with fsync=10 cause no sync (measured with fio 3.33).",
    error="Too high by the share of bytes that were never synced.",
    fix="add end_fsync=1 for throughput, or use fdatasync=1 for commit latency",
    sources=(
        fio_source("3.42", "io_u.c", "get_rw_ddir (syncs before the next write)"),
        fio_source("3.42", "backend.c", "do_io (ends after the last byte)"),
        fio_doc("fsync"),
    ),
    in_job=_in_job,
    options=("fsync", "fdatasync"),
    fixed_options={"end_fsync": "1"},
    commands="fio --rw=write --bs=4k --size=256m --fsync=60000",
)
