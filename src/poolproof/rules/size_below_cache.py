"""A file that fits in RAM, read through RAM."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import goes_past_ram, is_zfs, may_end_in_ram, with_direct
from poolproof.rules.reproduction import script
from poolproof.units import canonical_size, format_size

_SECTOR = 512
_GIB = 1024**3


def _cache_bytes(case: Case) -> tuple[int, str] | None:
    """Return the bytes and the name of the memory that may cache the file; None if unknown."""
    if case.target is None:
        return None
    if is_zfs(case.target) and case.target.zfs and case.target.zfs.arc_max_bytes:
        return case.target.zfs.arc_max_bytes, "the ARC's limit"
    return (case.target.ram_bytes, "RAM") if case.target.ram_bytes else None


def _enough(cache_bytes: int) -> str:
    """Return twice the memory, in whole GiB if it has at least one."""
    unit = _GIB if cache_bytes >= _GIB else _SECTOR
    return canonical_size(-(-2 * cache_bytes // unit) * unit)


def _in_job(case: Case) -> Iterable[Finding]:
    cache, unique = _cache_bytes(case), case.load.unique_bytes
    readers = [job for job in case.load.parts if job.reads and may_end_in_ram(job, case.target)]
    if not case.cold or not readers or cache is None or unique is None or unique >= 2 * cache[0]:
        return
    cache_bytes, name = cache
    yield Finding(
        rule="size-below-cache",
        effect="suspects",
        message=f"{who(case, readers)} reads {format_size(unique)} through memory, and {name} is "
        f"{format_size(cache_bytes)}: reads of cached data do not reach the disks",
        fix=f"at least size={_enough(cache_bytes)} in total (2 × {name}), or direct=1 if the file system honours it, "
        "or zfs_arc_max below half of the size",
        weight=60,
    )


def _mended(case: Case, job: LoadPart) -> Changes:
    """Return direct=1 if it is honoured; otherwise files of twice the memory in total over all clones."""
    if (
        goes_past_ram(with_direct(job), case.target)
        and fio_job(job).engine != "mmap"
        and job.block_bytes % _SECTOR == 0
    ):
        return {"buffered": None, "direct": "1"}
    cache = _cache_bytes(case)
    if cache is None:
        return {}
    parts = 1 if fio_job(job).filename else job.clones
    return {"size": _enough(-(-cache[0] // parts)), "filesize": None}


RULE = Rule(
    id="size-below-cache",
    title="The test file fits in memory",
    wrong="The files are smaller than the memory that caches them, so a read may never reach a disk.",
    shows="In a job: all jobs together can access fewer bytes than twice RAM (ZFS: twice zfs_arc_max), and the reads "
    "go through memory. In the counters: the disks read less than fio did.",
    error="Too high for reads, by a factor of 2 to more than 100.",
    fix="Use files of twice RAM, or limit zfs_arc_max, or use direct=1 if it is honoured. primarycache=metadata is "
    "not neutral: it also disables prefetch.",
    sources=(
        "https://github.com/openzfs/zfs/issues/6040",
        "https://github.com/axboe/fio/issues/383",
        "https://github.com/axboe/fio/issues/470",
        "https://github.com/openzfs/zfs/issues/9375",
    ),
    pitfall_numbers="#1",
    in_job=_in_job,
    options=("size", "filesize", "direct", "buffered"),
    fixed_options=_mended,
    explains_lost={"read": "from RAM: the file fits in it"},
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --invalidate=0",
        before="fio --name=fill --filename=trap --rw=write --bs=1m --size=256m --refill_buffers --end_fsync=1",
    ),
)
