"""Estimates how much of a result's writes can have been in RAM when the load ended."""

from poolproof.rules.fio_job import is_fio_job
from poolproof.rules.model import Case
from poolproof.rules.reported import bandwidth_bytes, moved_bytes, ran_s
from poolproof.units import format_rate, format_size

_GIB = 1024**3
_MOST_LEFT = 0.15
_DIRTY_SHARE = 0.2  # vm.dirty_ratio: at most 20% of RAM is dirty
_DIRTY_ON_ZFS = 4 * _GIB  # zfs_dirty_data_max_max: ZFS accepts 4 GiB, or less on machines with less than 40 GiB of RAM
_USUAL_RAM = 64 * _GIB
_MOST_OF_ANY_RAM, _LONG_S, _COPY_BYTES_PER_S = _DIRTY_SHARE * _USUAL_RAM / _MOST_LEFT, 120, 750e6
_FEWEST_WRITES, _LITTLE_BYTES, _NOT_BUFFERED_BYTES_PER_S = 16, 128 << 20, 5e6
_EXPIRED_S = 35  # vm.dirty_expire_centisecs and dirty_writeback_centisecs: dirty data is written after at most 35 s


def why_little_is_left(case: Case) -> str:
    """Return why only a small part of a result's data can have been left in RAM, or an empty string if it may be more.

    If the writes were not crawling (`_crawls`), the dirty data that the system allows must be at most 15% of the data.
    If neither this limit nor the RAM is known, the usual RAM of a server is assumed, and the writes must have been
    slower than copies in RAM for minutes. Data that was written again does not count.
    """
    written, rate = moved_bytes(case.outcome, "write") or _whole_files(case), bandwidth_bytes(case.outcome, "write")
    seconds = ran_s(case.outcome) or (written / rate if rate else 0.0)
    if crawls := _crawls(case, written, rate or 0.0, seconds):
        return crawls
    distinct = min(written, case.load.unique_bytes or written)
    limit = _dirty_limit(case)
    if limit and distinct:
        most, source = limit
        is_little = most <= _MOST_LEFT * distinct
        share = 100 * most / distinct
        return f"{source}, which is {share:.2g}% of the {format_size(distinct)} written" if is_little else ""
    writers = sum(job.clones for job in case.jobs if job.writes)
    is_slow = rate is not None and rate < _COPY_BYTES_PER_S * writers and seconds >= _LONG_S
    if not is_slow or distinct < _MOST_OF_ANY_RAM:
        return ""
    return f"{case.generator} wrote {format_size(distinct)}, at a lower rate than copies in RAM reach"


def _crawls(case: Case, written: int, rate: float, seconds: float) -> str:
    """Return why writes that were slower than any disk writes in order waited for it, or an empty string if unknown.

    RAM accepts small writes at once. Therefore, if a program that only writes took long for at most 128 MiB, its writes
    waited for the disk or the server. If it wrote more, and each write was new data, the kernel kept up with it, and
    only the last 35 s can be missing. If the number of bytes is unknown, it is assumed to be that of one second.
    """
    only_writes = all(
        job.writes and not (job.reads or job.trims or job.rate_limited or job.thinks) for job in case.jobs
    )
    if not only_writes or not 0 < rate < _NOT_BUFFERED_BYTES_PER_S:
        return ""
    fewest = _FEWEST_WRITES * max((job.max_block_bytes for job in case.jobs), default=0)
    if fewest <= (written or rate) and written <= _LITTLE_BYTES:
        return f"at {format_rate(rate)}, the writes waited for the disk or a server, as with the mount option sync"
    is_new = written == min(written, case.load.unique_bytes or written)
    is_in_order = is_new and not any(job.is_random for job in case.jobs)
    if is_in_order and written and _MOST_LEFT * seconds >= _EXPIRED_S:
        return f"the kernel writes data that is {_EXPIRED_S} s old, and {case.generator} ran for {seconds:.0f} s"
    return ""


def _whole_files(case: Case) -> int:
    """Return the size of the files that a program other than fio writes once each, such as iozone. 0 if unknown."""
    sizes = [job.clones * (job.size_bytes or 0) for job in case.jobs if job.writes and not is_fio_job(job)]
    return sum(sizes) if case.outcome is not None and all(sizes) else 0


def _dirty_limit(case: Case) -> tuple[float, str] | None:
    """Return the amount of written data that can be in RAM, and its source as text, or None if it is unknown."""
    target = case.target
    if target is None:
        return None
    if target.file_system == "zfs" and not (target.zfs and target.zfs.is_zvol):
        return _DIRTY_ON_ZFS, f"by default, ZFS keeps at most {format_size(_DIRTY_ON_ZFS)} of unwritten data"
    if target.dirty_limit_bytes:
        return target.dirty_limit_bytes, f"the dirty limit is {format_size(target.dirty_limit_bytes)}"
    if target.ram_bytes:
        most, ram = _DIRTY_SHARE * target.ram_bytes, format_size(target.ram_bytes)
        return most, f"by default, at most {format_size(round(most))} of {ram} of RAM is dirty"
    return None
