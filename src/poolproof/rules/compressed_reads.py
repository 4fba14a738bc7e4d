"""Reads of a file that was stored compressed."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import is_fio_job
from poolproof.rules.flow import lost_reads
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, linux_source, suspects, zfs_source
from poolproof.rules.proof import OF_READS
from poolproof.rules.reported import parts
from poolproof.rules.stored_share import compresses


def _in_result(case: Case) -> Findings:
    flow = lost_reads(case)
    if flow and compresses(case) and case.target and _may_be_smaller_than_expected(case):
        yield finding(
            flow.effect,
            f"{case.generator} read {flow.moved}; the disks read {flow.counted_share}: the target has "
            f"compression={case.target.compression}, so only this share had to be read from the disks",
            weight=85,
            metrics=OF_READS,
        )
    elif case.quoted and case.quoted.compressed and any(part.kind == "read" for part in parts(case.outcome)):
        yield suspects(
            f"{case.quoted.compressed}: the disks had to read only this share of the bytes",
            weight=60,
            metrics=OF_READS,
        )
    elif not flow and compresses(case) and case.target and (jobs := _reading_own_data(case)):
        yield suspects(
            f"{case.who(jobs)} reads data that {case.generator} has written, which compresses well, from a target with "
            f"compression={case.target.compression}: the disks had to read only a fraction of the bytes",
            weight=60,
            metrics=OF_READS,
            fix="write data that does not compress, as fio does with refill_buffers=1",
        )


def _may_be_smaller_than_expected(case: Case) -> bool:
    """True if compression may explain why the disks read less than expected.

    If the stored size was measured after the files were filled, the expected bytes already take it into account. It is
    then only smaller if the load itself has written data that compresses better, as fio does if it reuses its buffers.
    """
    found = case.evidence.account if case.evidence else None
    is_measured = found is not None and found.stored_share is not None
    return not is_measured or any(job.writes and not job.refills_buffers for job in case.jobs)


def _reading_own_data(case: Case) -> list[LoadPart]:
    """Return the jobs of programs that fill their files with a pattern or with zeros before they read them."""
    own = (job for job in case.jobs if job.reads and not job.writes and not is_fio_job(job))
    return [job for job in own if job.repeats_pattern or job.zero_buffers]


RULE = Rule(
    title="The test file is stored compressed",
    wrong=(
        "A file of zeros or of fio's default data takes up only a fraction of its size on disk, so only this fraction "
        "has to be read from the disk."
    ),
    shows=(
        "In the evidence: the target compresses data, and the disks read fewer bytes than fio did, or fewer than the "
        "stored size explains, if it was measured after the fill. The compressible data must come from an earlier "
        "write job: if fio itself lays out a missing file, it writes incompressible data. In a text: the output of "
        "compsize shows that the file uses at most 90% of its size on disk; or bonnie++ or sysbench, whose data "
        "compresses well, reads its files from a target that compresses data."
    ),
    error=(
        "The result is too high by a factor equal to the compression ratio. Measured: fio read 256 MiB, but the disk "
        "read only 16 MiB."
    ),
    fix="rewrite the file with refill_buffers=1 (or buffer_compress_percentage=N for data like yours), then read it; "
    "`compsize FILE` (btrfs) or `zfs get compressratio` shows the compression ratio",
    sources=(
        "measured case L13",
        zfs_source("2.3.0", "module/zfs/zio_compress.c", "zio_compress_data"),
        linux_source("6.12", "fs/btrfs/compression.c", "btrfs_submit_compressed_read"),
        fio_source("3.42", "filesetup.c", "extend_file (fills each block of a layout anew)"),
        "bonnie++ 2.00 bonnie.cpp (memset(buf, 0, …); buf[bufindex]++ for each chunk)",
        "https://github.com/kilobyte/compsize/blob/v1.5/compsize.c (main: the disk usage and the size of the extents)",
    ),
    in_result=_in_result,
    explains_lost={"read": "compressed on the disks"},
    needs="Run this on btrfs mounted with compress=zstd:3, or on ZFS with compression=on.",
    prepare="fio --name=fill --filename=trap --rw=write --bs=4k --size=256m --end_fsync=1",
    commands="fio --rw=read --bs=1m --size=256m",
)
