"""Recognize paths and engines that use no disk: tmpfs at /dev/shm, brd, zram and null_blk devices, fio's `null`.

Some engines use a network or bypass the kernel, so that their I/O does not appear in the kernel's disk statistics. If
fio prints disk statistics for such an engine, they are those of the disk that contains the working directory.
"""

import re
from dataclasses import replace

from poolproof.load.model import Load
from poolproof.load.outcome import Outcome
from poolproof.rules.fio_job import fio_job, is_fio_job

_MEMORY = (
    (re.compile(r"/(?:dev|run)/shm/"), "tmpfs"),
    (re.compile(r"/dev/ram\d+$"), "a RAM disk (brd)"),
    (re.compile(r"/dev/rd\d+$"), "a RAM disk (rapiddisk)"),
    (re.compile(r"/dev/zram\d+$"), "zram"),
    (re.compile(r"/dev/nullb\d+$"), "null_blk, which drops the data or keeps it"),
)
_COMPOSITE = re.compile(r"(?:md|dm-)\d+$")
_NAMED = re.compile(r"(?:^|[/_.-])(?:(?:ram|mem(?:ory)?)[-_]?(?:disk|drive|fs)s?|tmpfs)(?=$|[/_.\d-])", re.IGNORECASE)
_PAST_THE_KERNEL = frozenset(
    {
        "rbd", "rados", "http", "nfs", "gfapi", "gfapi_async", "glusterfs", "libhdfs", "libiscsi", "nbd", "net",
        "netsplice", "rdma", "dfs", "spdk", "libblkio", "null", "cpuio",
    }
)  # fmt: skip


def memory_of(load: Load) -> str | None:
    """Return the kind of memory that contains all of the load's files, such as `tmpfs`.

    None if a file may be on a disk, or if the files are in different kinds of memory.
    """
    if load.parts and all(is_fio_job(part) and fio_job(part).engine == "null" for part in load.parts):
        return "fio's null engine, which moves no data and has only buffers"
    paths = {extent.file for part in load.parts for extent in part.extents}
    found = {next((name for pattern, name in _MEMORY if pattern.match(path)), None) for path in paths}
    return found.pop() if len(found) == 1 else None


def memory_below(result: Outcome) -> str | None:
    """Return the kind of memory device in fio's disk statistics.

    None if the statistics are empty, include a disk, or include several kinds of memory device. fio lists the devices
    of an array or of a device-mapper target below it, so the array itself is ignored.
    """
    names = [disk.name for disk in result.disks]
    leaves = [name for name in names if not _COMPOSITE.match(name)] or names
    found = {next((name for pattern, name in _MEMORY if pattern.match(f"/dev/{leaf}")), None) for leaf in leaves}
    return found.pop() if len(found) == 1 else None


def named_memory(load: Load) -> str:
    """Return the first of the load's paths if all paths look like those of a RAM disk, otherwise an empty string."""
    paths = [extent.file for part in load.parts for extent in part.extents]
    return paths[0] if paths and all(_NAMED.search(path) for path in paths) else ""


def without_other_disks(result: Outcome, load: Load) -> Outcome:
    """Return a copy of the result without fio's disk statistics if the load's engines do not use those disks.

    Otherwise, the result is returned unchanged.
    """
    engines = {fio_job(part).engine.partition(":")[0] for part in load.parts if is_fio_job(part)}
    return replace(result, disks=()) if engines and engines <= _PAST_THE_KERNEL else result
