"""Text that says that the target is memory, or that the data came from memory."""

import re
from collections.abc import Iterator

from poolproof.rules.coverage import proves
from poolproof.rules.disk_requests import statistics_cover
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.link_rates import PCIE3_X4
from poolproof.rules.memory_values import is_like_memory, reads_like_memory
from poolproof.rules.model import Case, Findings, Rule, suspects
from poolproof.rules.quoted import UNQUOTED
from poolproof.rules.reported import ReportedDirection, parts
from poolproof.units import format_rate

_COMPOSITE = re.compile(r"/dev/(?:nbd|loop|dm-|md|ublkb|ubbd|drbd|bcache)\d+\S{0,20}$|/dev/(?:mapper|md)/")


def _in_result(case: Case) -> Findings:
    words = case.quoted.memory if case.quoted else ""
    heading = case.quoted.memory_heading if case.quoted else ""
    cached = case.quoted.cached_heading if case.quoted else ""
    target = _memory_target(case)
    if heading and case.cold and not proves(case):
        yield suspects(f"a heading names memory as the target: {heading}", weight=58)
    elif target and case.cold and not proves(case):
        yield suspects(f"the text says that the tested device is in memory: {target}", weight=58)
    elif words and case.cold and not proves(case) and any(is_like_memory(case, part) for part in parts(case.outcome)):
        yield suspects(
            f"the text mentions memory as the target or as the cache, and the values are typical of memory: {words}",
            weight=58,
        )
    elif cached and case.cold and not proves(case) and reads_like_memory(case):
        yield suspects(f"a heading or a name says that the data is read from RAM: {cached}", weight=58)
    buffered = case.quoted.buffered if case.quoted else ""
    if buffered and not words and not target and not _is_direct(case) and not proves(case):
        kinds = {part.kind for part in parts(case.outcome) if _is_faster_than_a_drive(case, part)}
        if case.cold or "write" in kinds:
            yield from _is_buffered(buffered) if kinds else ()


def _memory_target(case: Case) -> str:
    """Return the statement that the tested device is in memory, or an empty string if the text does not say so.

    Also empty if a command shows the paths of its files, because these files may be elsewhere. Devices that are made
    from other devices do not count as such paths.
    """
    shows_files = any(path.startswith("/") and "$" not in path and not _COMPOSITE.match(path) for path in _paths(case))
    return case.quoted.memory_target if case.quoted and not shows_files else ""


def _paths(case: Case) -> Iterator[str]:
    for part in case.load.parts:
        yield from fio_job(part).filenames if is_fio_job(part) else ()
        yield from (extent.file for extent in part.extents)


def _is_buffered(words: str) -> Findings:
    yield suspects(
        f"the text says that the I/O is buffered, and the rate is above {format_rate(PCIE3_X4)}, the limit of a drive "
        f"on PCIe 3.0 x4: {words}",
        weight=57,
    )


def _is_direct(case: Case) -> bool:
    """True if the source shows that every job is direct."""
    stated = "direct" not in (case.quoted or UNQUOTED).assumed
    return bool(case.jobs) and stated and all(job.direct for job in case.jobs)


def _is_faster_than_a_drive(case: Case, part: ReportedDirection) -> bool:
    rate = part.figures.bandwidth_bytes or 0.0
    return rate > PCIE3_X4 and not statistics_cover(case, part.kind)


RULE = Rule(
    title="The text mentions memory",
    wrong="The author writes that the target is a RAM disk or tmpfs, or that the ARC or the page cache served the I/O. "
    "Such a result says nothing about a disk. A sentence is weaker evidence than a counter, so it never refutes a "
    "result.",
    shows="In a text: a sentence near the result, without a negation, mentions a RAM disk, tmpfs, null_blk, the ARC "
    "or the page cache, and the result is at least 1 GB/s or less than 100 µs per I/O. Or such a sentence says that "
    "the I/O is buffered, no command shows direct=1, and the rate is above 3.94 GB/s (PCIe 3.0 x4). Or the heading "
    "above the result, or those of the row and the column in a table, name only a RAM disk, tmpfs, null_blk or "
    "mergerfs's nullrw. Or the heading above the result, or its row or column in a table, says that the reads are "
    "cached or that the cache is warm, and the result is at least 1 GB/s or less than 100 µs per I/O. The same applies "
    "if the output of mount or df shows tmpfs or a RAM disk at the path of the files. "
    "Or a statement above the result says that the tested device is, or is made from, a RAM disk, "
    "tmpfs or null_blk (`uses a ramdisk`, `device = /dev/nullb0`, `modprobe brd`, `nbd-server 9000 "
    "/dev/ram0`), no line after it names another kind of device, and no command shows other files.",
    error="Too high.",
    fix="put the test files on the disk, and make them twice the size of the RAM or set direct=1",
    fix_if_direct="put the test files on the disk, and make them twice the size of the RAM",
    sources=("https://github.com/axboe/fio/issues/1364", "https://github.com/openzfs/zfs/issues/8066"),
    in_result=_in_result,
    commands="fio --directory=/dev/shm --name=ram --rw=read --bs=64k --size=100m; rm -f /dev/shm/ram*",
)
