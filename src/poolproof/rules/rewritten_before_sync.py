"""A small file that is overwritten many times before it is synced once."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, notes
from poolproof.rules.path import may_end_in_ram
from poolproof.units import format_size

_LARGE = 16 << 30
_PASSES = 2


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        limit = (case.target.dirty_limit_bytes if case.target else None) or _LARGE
        size = (job.size_bytes or 0) * job.clones
        if not size or size >= limit or not _rewrites(case, job):
            continue
        yield notes(
            f"{case.who([job])} overwrites {format_size(size)} again and again and syncs only when it ends: pages that "
            "are overwritten in RAM before they are written to a disk count in fio's rate, but no disk writes them",
            weight=55,
        )


def _rewrites(case: Case, job: LoadPart) -> bool:
    if not job.writes or not may_end_in_ram(job, case.target) or not job.syncs_at_end:
        return False
    if job.sync_every or job.writes_are_synchronous:
        return False
    passes = (job.io_size_bytes or 0) / job.size_bytes if job.size_bytes else 0.0
    return job.time_based or max(passes, fio_job(job).number("loops") or 1) >= _PASSES


RULE = Rule(
    title="Overwritten before it was synced",
    wrong="The kernel writes a dirty page to the disk after up to 30 s, or when too many pages are dirty. If a page "
    "is overwritten before then, the disk writes it only once, no matter how often fio wrote it. end_fsync=1 "
    "writes only the last version.",
    shows="In a job: buffered writes with time_based, io_size or loops that go over the file at least twice, with a "
    "sync only at the end, and files smaller than the dirty limit (16 GiB if it is unknown).",
    error="Too high, by a factor of up to the number of passes between two write-backs.",
    fix="write each byte once (a larger size without time_based), or use fdatasync=1 or direct=1",
    sources=(
        linux_source("6.12", "mm/page-writeback.c", "wb_over_bg_thresh, dirty_expire_interval"),
        fio_source("3.42", "io_u.c", "get_next_seq_offset (starts over for time_based)"),
        fio_source("3.42", "backend.c", "do_io (one fsync at the end)"),
    ),
    in_job=_in_job,
    options=("time_based", "loops", "io_size", "size"),
    explains_lost={"write": "overwritten in RAM before it was synced"},
    commands="fio --rw=write --bs=1m --size=256m --time_based --runtime=10 --end_fsync=1",
)
