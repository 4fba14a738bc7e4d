"""Write buffers that fio reuses on a target with compression."""

import re
from collections.abc import Mapping

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import is_fio_job
from poolproof.rules.flow import lost_writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, linux_source, suspects, zfs_source
from poolproof.rules.stored_share import compresses, stays_uncompressed
from poolproof.rules.tolerances import WRITTEN, percent
from poolproof.units import format_size

_DEFAULT_RECORD_BYTES = 128 * 1024
_REACHES: Mapping[str, int] = {"lz4": 65_535, "on": 65_535, "gzip": 32_506, "zlib": 32_506, "lzo": 4_095, "lzjb": 1_023}
"""The largest distance in bytes between two copies of a block that a compression algorithm finds.

zstd finds copies anywhere in a record. btrfs compresses each page on its own with lzo.
"""


def _record_bytes(case: Case) -> int:
    return (case.target.record_bytes if case.target else None) or _DEFAULT_RECORD_BYTES


def _buffer_bytes(job: LoadPart) -> int:
    """Return the total size of a clone's write buffers in bytes.

    fio allocates `iodepth` buffers of `bs` bytes each, and fills each of them only once.
    """
    return job.block_bytes * (job.queue // job.clones)


def _repeating(case: Case) -> list[LoadPart]:
    """Return the jobs that write the same buffer several times within one record, if the target compresses data.

    A buffer filled with a short pattern counts too, because it repeats itself.
    """
    writers = [job for job in case.jobs if job.writes and not job.refills_buffers and not job.zero_buffers]
    name = re.split(r"[:-]", (case.target.compression or "") if case.target else "")[0]
    if not compresses(case) or name == "zle":  # zle compresses only zeros
        return []
    reach = min(_record_bytes(case) - 1, _REACHES.get(name, _record_bytes(case)))
    return [
        job
        for job in writers
        if not stays_uncompressed(case, job)
        and (job.repeats_pattern or (_buffer_bytes(job) <= reach and not _stores_one_by_one(case, job)))
    ]


def _stores_one_by_one(case: Case, job: LoadPart) -> bool:
    """True if btrfs stores each of the job's writes as an extent of its own, so that it contains the buffer once."""
    is_flushed = job.direct or job.commits_each_write
    return case.target is not None and case.target.file_system == "btrfs" and is_flushed


def _in_job(case: Case) -> Findings:
    jobs = _repeating(case)
    if jobs and case.target:
        record, buffers = _record_bytes(case), _buffer_bytes(jobs[0])
        if jobs[0].repeats_pattern:
            yield suspects(
                f"{case.who(jobs)} fills its buffers with one pattern, on a target with "
                f"compression={case.target.compression}: a record shrinks to a small fraction of its size",
                weight=75,
                fix=_fix_of_pattern(jobs[0]),
            )
            return
        yield suspects(
            f"{case.who(jobs)} repeatedly writes the same buffers ({format_size(buffers)} in total) to a target with "
            f"compression={case.target.compression}: a record of {format_size(record)} contains about "
            f"{record / buffers:.0f} copies of the data and shrinks by about that factor",
            weight=75,
        )


def _in_result(case: Case) -> Findings:
    flow, jobs = lost_writes(case), _repeating(case)
    if flow and jobs and case.target:
        patterned = [job for job in jobs if job.repeats_pattern]
        why = (
            f"{case.who(patterned)} fills its buffers with one pattern, which compresses well"
            if patterned
            else "fio fills each buffer once and reuses it, so the data repeats"
        )
        yield finding(
            flow.effect,
            f"{case.generator} wrote {flow.moved}; compression={case.target.compression} reduced it to {flow.counted} "
            f"on the disks ({flow.share}): {why}",
            weight=92,
            fix=_fix_of_pattern(patterned[0]) if patterned else "",
        )


def _fix_of_pattern(job: LoadPart) -> str:
    if is_fio_job(job):
        return "remove buffer_pattern and verify_pattern: refill_buffers does not override them"
    return "write data that does not compress, as fio does with refill_buffers=1"


RULE = Rule(
    title="fio's default data compresses well",
    wrong=(
        "fio fills each I/O buffer once and then writes it repeatedly; scramble_buffers changes only a few bytes. If "
        "the target compresses data, each record contains many copies of the same block and shrinks to a few blocks."
    ),
    shows=(
        "In a job: writes without refill_buffers to a target that compresses data, with bs × iodepth smaller than a "
        "record, and small enough for the algorithm to find the copies: less than 64 KiB with lz4, 32 KiB with gzip "
        "and zlib, and 4 KiB with lzo on btrfs; zle compresses only zeros. Direct and synced writes on btrfs are not "
        "reported (except patterns since Linux 6.15), because each of them is stored on its own. Writes with "
        "buffer_pattern or verify_pattern are reported even with refill_buffers, because a pattern overrides this "
        "option (measured: the data shrank by a factor of 227). In the evidence: by the end of "
        f"the final flush, the disks have written less than {percent(WRITTEN)} of the expected bytes."
    ),
    error=(
        "Too high. With lz4 and 128 KiB records, the measured factor was 14.9 at bs=4k and 4.7 at bs=16k; from bs=64k "
        "on, the result was correct. With zstd, the factor was 26.7 at bs=4k and still 2.2 at bs=64k."
    ),
    fix="set refill_buffers=1 for data that does not compress, or buffer_compress_percentage=N for data like yours",
    sources=(
        "measured cases L11, L12",
        fio_source("3.42", "io_u.c", "fill_io_buffer (a pattern replaces random data)"),
        fio_source("3.42", "verify.c", "fill_verify_pattern"),
        zfs_source("2.3.0", "module/zfs/lz4_zfs.c", "MAX_DISTANCE"),
        zfs_source("2.3.0", "module/zfs/lzjb.c", "OFFSET_MASK"),
        linux_source("6.12", "lib/zlib_deflate/defutil.h", "MAX_DIST"),
        linux_source("6.12", "fs/btrfs/lzo.c", "lzo_compress_folios (one sector at a time)"),
        linux_source("6.15", "fs/btrfs/direct-io.c", "btrfs_direct_write (writes back each write)"),
        fio_doc("refill_buffers, scramble_buffers"),
    ),
    in_job=_in_job,
    options=("bs", "iodepth", "rw"),
    fixed_options={"refill_buffers": "1", "buffer_pattern": None, "verify_pattern": None},
    in_result=_in_result,
    explains_lost={"write": "compressed away"},
    needs="Run this on btrfs mounted with compress=zstd:3, or on ZFS with compression=on.",
    commands="fio --rw=write --bs=4k --size=256m --end_fsync=1",
)
