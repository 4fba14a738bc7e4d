"""Test files in which several parts share the same blocks on disk."""

from poolproof.rules.model import Case, Findings, Rule, fill, linux_source, suspects
from poolproof.rules.proof import OF_READS
from poolproof.units import format_size

_SHARE = 0.05


def _in_result(case: Case) -> Findings:
    shared = sum(file.shared_bytes or 0 for file in case.files)
    total = sum(file.size_bytes for file in case.files)
    if case.cold and case.load.reads and shared > _SHARE * total:
        yield suspects(
            f"{format_size(shared)} of the {format_size(total)} in the test files share their blocks with other parts "
            f"of these files (reflinks): the disks store only {format_size(total - shared)} of distinct data, and a "
            "cache in or below a disk may serve repeated reads of it",
            weight=62,
            metrics=OF_READS,
        )


RULE = Rule(
    title="Shared extents",
    wrong="A file made of reflinks has its full size, but many of its extents share the same blocks on the disk. Reads "
    "of the file seek only within a small area of the disk, and may be served from the disk's own cache.",
    shows="In the evidence: FIEMAP showed, before the run, that several extents of the test files share the same "
    "physical blocks. The result is suspect if these extents make up more than 5% of the bytes.",
    error="Too high: the disk may serve reads from its own memory, which is much faster than its medium.",
    fix="rewrite the file (cp --reflink=never), or let poolproof fill it",
    sources=(linux_source("6.12", "fs/ioctl.c", "ioctl_fiemap (fe_physical)"), "man 8 filefrag"),
    in_result=_in_result,
    needs="Run this on btrfs or xfs.",
    prepare=fill("1m") + '\nfor at in $(seq 1 63); do xfs_io -c "reflink trap 0 $((at << 20)) 1048576" trap; done',
    commands="fio --rw=randread --bs=4k --size=64m --direct=1",
)
