"""Rates at which one thread cannot even copy the data through RAM."""

import re

from poolproof.load.model import LoadPart
from poolproof.rules.disk_requests import statistics_cover
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.flow import cold_reads, writes_at_end
from poolproof.rules.link_rates import PCIE5_X4
from poolproof.rules.model import Case, Finding, Rule, linux_source, suspects, zfs_source
from poolproof.rules.path import is_persistent_memory, is_zfs
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_rate

_ZVOL = re.compile(r"/dev/(?:zvol/|zd\d)")
_WITHOUT_COPIES = ("mmap", "null", "libpmem", "dev-dax", "splice")


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = case.job_named(part.job.name)
    flow = cold_reads(case) if part.kind == "read" else writes_at_end(case)
    if (part.kind == "read" and not case.cold) or flow or statistics_cover(case, part.kind):
        return None
    if job is not None and (is_persistent_memory(case, job) or fio_job(job).engine in _WITHOUT_COPIES):
        return None
    if job is None and not _shows_clones(part):
        return None
    copied = _is_copied(case, job)
    clones = max(part.job.clones, job.clones if job is not None else 1)
    each = (part.figures.bandwidth_bytes or 0.0) / clones
    if copied is False or each <= (PCIE5_X4 if copied else 2 * PCIE5_X4):
        return None
    who = "the job" if clones == 1 else f"on average, each of the {clones} clones"
    how = "goes through RAM" if copied else "may go through RAM"
    verb, moved = ("read", "come from") if part.kind == "read" else ("wrote", "reached")
    return suspects(
        f"{who} {verb} {format_rate(each)}, and this I/O {how}: a thread can hardly copy data in RAM that fast, so "
        f"little of the data can have {moved} the disks",
        weight=64,
    )


def _shows_clones(part: ReportedDirection) -> bool:
    """True if the number of clones is known: fio prints it before the rate, so a quoted rate or total lacks it."""
    name, moved = part.job.name, part.figures.io_bytes
    return bool(name) and not name.startswith("group ") and moved is not None


def _is_copied(case: Case, job: LoadPart | None) -> bool | None:
    """True if the job's data is copied in RAM, because the job is buffered or its target is on ZFS; None if unknown."""
    if job is None or not is_fio_job(job):
        return None
    if is_zfs(case.target) or any(_ZVOL.match(path) for path in fio_job(job).filenames):
        return True
    return None if "direct" in (case.quoted or UNQUOTED).assumed else not job.direct


RULE = Rule(
    title="Faster than a copy in RAM",
    wrong=(
        "The processor copies all data that goes through the page cache or the ARC, which includes all I/O on a zvol. "
        "A thread can copy about 5 to 15 GB/s, and less if it has to wait for disks. A higher rate comes from data in "
        "the caches of the processor, or from blocks that were never written."
    ),
    shows=(
        "In a result without counters: the rate per clone is above 15.75 GB/s (PCIe 5.0 x4), and the I/O is buffered "
        "or on ZFS, which includes paths such as /dev/zvol/tank/v. If it is unknown whether the I/O is direct, the "
        "limit is twice as high. Engines that do not copy (mmap, splice), persistent memory, and rates without the "
        "number of clones are excluded."
    ),
    error="Too high. Observed: 47 GB/s from a single job on a zvol.",
    fix="use direct=1 if the file system honours it, and files twice the size of the RAM; on ZFS, compare with the "
    "pool's counters in `zpool iostat`",
    fix_if_direct="use files twice the size of the RAM; on ZFS, compare with the pool's counters in `zpool iostat`",
    sources=(
        linux_source("6.12", "mm/filemap.c", "filemap_read"),
        zfs_source("2.3.0", "module/os/linux/zfs/zvol_os.c", "zvol_read"),
    ),
    in_result=each_part(_in_part),
    commands="fio --rw=read --bs=256k --size=1m --io_size=20g --invalidate=0  # fits into the processor's caches",
)
