"""direct=1 reads of compressed extents on btrfs."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import writers_of
from poolproof.rules.flow import compresses
from poolproof.rules.model import Case, Findings, Rule, linux_source, suspects


def _in_job(case: Case) -> Findings:
    if case.target is None or case.target.file_system != "btrfs" or not compresses(case) or not case.cold:
        return
    for job in case.jobs:
        if job.reads and job.direct and any(_shrinks(part) for part in writers_of(case, job)):
            yield suspects(
                f"{case.who([job])} reads with direct=1 what an earlier job wrote, and btrfs compressed it: btrfs "
                "reads such extents through the page cache, so later reads may come from RAM, and the "
                "disk reads fewer bytes",
                weight=60,
            )


def _shrinks(part: LoadPart) -> bool:
    return not part.refills_buffers or bool(part.compress_percentage)


RULE = Rule(
    title="Direct reads of compressed extents",
    wrong="btrfs cannot read a compressed extent directly, so it falls back to buffered reads without an error. The "
    "pages stay in RAM, and each extent is read from the disk at its compressed size.",
    shows="In a job file or script: direct=1 reads on a btrfs that compresses, of a file that an earlier job wrote "
    "without refill_buffers.",
    error="Too high.",
    fix="write the file with refill_buffers=1, or in a directory without compression (chattr +m)",
    sources=(
        linux_source("6.12", "fs/btrfs/direct-io.c", "btrfs_dio_iomap_begin (ENOTBLK for compressed extents)"),
        linux_source("6.12", "fs/btrfs/file.c", "btrfs_file_read_iter"),
    ),
    in_job=_in_job,
    options=("direct", "buffered", "filename"),
    needs="Run on btrfs mounted with compress=zstd:3.",
    prepare="fio --name=w --filename=trap --rw=write --bs=4k --size=256m --end_fsync=1",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=256m --direct=1; done",
)
