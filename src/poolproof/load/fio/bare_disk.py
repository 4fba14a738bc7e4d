"""The jobs of a workload on a bare disk: direct I/O in whole sectors, with a separate region for each clone."""

import re
from collections.abc import Mapping

from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import part_of
from poolproof.load.fio.quantity import attempt, parse_bytes

_SECTOR_BYTES = 512
_PAGE_BYTES = 4096
_GRAIN_BYTES = 1024**2
_SIZE = re.compile(r"(?<![/\w.])[\w.]+")  # in bs=4k,8k, bsrange=1k-8k, bssplit=4k/40:8k/60; what follows `/` is a share
_BLOCKS = ("bs", "bsrange", "bssplit")
_REPLACED = frozenset({"directory", "filename", "size", "offset", "offset_increment", "direct", "bs_unaligned"})


def on_bare_disk(jobs: JobFile, path: str, size_bytes: int | None) -> JobFile:
    """Return the jobs on a disk of that size in bytes. None: the size is not known and assumed to be large enough.

    Like the files of a layout, the regions of all clones are separate, one after the other from the start of the disk.
    If they do not fit, all of them shrink in proportion. A block that is not a whole number of sectors, which only the
    page cache can write, becomes the whole pages (4 KiB) that a file system would write for it.
    """
    fitted = [_in_whole_sectors(job) for job in jobs.jobs]
    lengths = _lengths(fitted, size_bytes)
    start, placed = 0, []
    for job, length in zip(fitted, lengths, strict=True):
        placed.append(Job(job.name, {**_kept(job), **_region(job, path, start, length)}))
        start += length * part_of(job).clones
    return JobFile(tuple(placed))


def _kept(job: Job) -> Mapping[str, str]:
    return {name: value for name, value in job.options.items() if name not in _REPLACED}


def _region(job: Job, path: str, start: int, length: int) -> Mapping[str, str]:
    region = {"filename": path, "direct": "1", "size": str(length)}
    if start:
        region["offset"] = str(start)
    if part_of(job).clones > 1:
        region["offset_increment"] = str(length)
    return region


def _lengths(jobs: list[Job], size_bytes: int | None) -> list[int]:
    """Bytes of each clone's region, by section: whole MiB, and never less than a block."""
    wanted = [max(part_of(job).size_bytes or 0, part_of(job).max_block_bytes) for job in jobs]
    total = sum(length * part_of(job).clones for job, length in zip(jobs, map(_up, wanted), strict=True))
    if size_bytes is None or total <= size_bytes:
        return [_up(length) for length in wanted]
    return [
        max(int(length * size_bytes / total) // _GRAIN_BYTES * _GRAIN_BYTES, part_of(job).max_block_bytes)
        for job, length in zip(jobs, wanted, strict=True)
    ]


def _up(length: int) -> int:
    return -(-length // _GRAIN_BYTES) * _GRAIN_BYTES


def _in_whole_sectors(job: Job) -> Job:
    blocks = {name: _SIZE.sub(_whole, job.options[name]) for name in _BLOCKS if name in job.options}
    return Job(job.name, {**job.options, **blocks})


def _whole(found: "re.Match[str]") -> str:
    length = attempt(parse_bytes, found[0])
    if not length or length % _SECTOR_BYTES == 0:
        return found[0]
    return str(-(-length // _PAGE_BYTES) * _PAGE_BYTES)
