"""Reads of compressed extents with direct=1 on btrfs."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import writers_of
from poolproof.rules.model import Case, Findings, Rule, linux_source, suspects
from poolproof.rules.stored_share import compresses

_EXTENT_BYTES = 128 * 1024  # btrfs compresses at most this many bytes at once; larger buffers do not repeat within them
_BUFFERS_DIRECT_WRITES = (6, 15)


def _in_job(case: Case) -> Findings:
    if case.target is None or case.target.file_system != "btrfs" or not compresses(case) or not case.cold:
        return
    for job in case.jobs:
        if job.reads and job.direct and any(_shrinks(case, part) for part in writers_of(case, job)):
            yield suspects(
                f"{case.who([job])} uses direct=1 to read a file that an earlier job wrote and that btrfs stored "
                "compressed: btrfs reads compressed extents through the page cache, so later reads may come from RAM, "
                "and the disk reads fewer bytes than fio",
                weight=60,
            )


def _shrinks(case: Case, part: LoadPart) -> bool:
    """True if btrfs compressed the extents, because the data is compressible and was written with buffered I/O."""
    kernel = case.target.kernel if case.target else None
    if part.direct and (kernel is None or kernel < _BUFFERS_DIRECT_WRITES):
        return False  # btrfs_new_extent_direct never compresses
    if part.zero_buffers or part.repeats_pattern or part.compress_percentage:
        return True
    return not part.refills_buffers and part.block_bytes * part.queue_each < _EXTENT_BYTES


RULE = Rule(
    title="Direct reads of compressed extents",
    wrong=(
        "btrfs cannot read a compressed extent directly, so it falls back to buffered reads without reporting an "
        "error. The pages stay in RAM, and the disk reads only the compressed size of each extent."
    ),
    shows=(
        "In a job file or script: direct=1 reads of a file on btrfs with compression, if an earlier job filled the "
        "file with compressible data (patterns, zeros, or buffers that repeat within 128 KiB). Files written with "
        "direct=1 are reported only on Linux 6.15 and later, because earlier kernels do not compress direct writes."
    ),
    error="Too high.",
    fix="write the file with refill_buffers=1, or in a directory without compression (chattr +m)",
    sources=(
        linux_source("6.12", "fs/btrfs/direct-io.c", "btrfs_dio_iomap_begin (ENOTBLK for compressed extents)"),
        linux_source("6.12", "fs/btrfs/file.c", "btrfs_file_read_iter"),
        linux_source("6.12", "fs/btrfs/direct-io.c", "btrfs_new_extent_direct (COMPRESS_NONE)"),
        linux_source("6.15", "fs/btrfs/direct-io.c", "btrfs_direct_write (buffered if the file has checksums)"),
    ),
    in_job=_in_job,
    options=("direct", "buffered", "filename"),
    needs="Run this on btrfs mounted with compress=zstd:3.",
    prepare="fio --name=w --filename=trap --rw=write --bs=4k --size=256m --end_fsync=1",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=256m --direct=1; done",
)
