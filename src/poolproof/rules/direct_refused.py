"""Direct I/O that the storage stack rejects, so nothing is measured."""

from errno import EINVAL

from poolproof.rules.model import Case, Findings, Rule, fails, fio_issue, linux_source
from poolproof.rules.path import is_fuse

_FUSE = (
    "a FUSE file system such as mergerfs receives the data of a write right after a header, so the data starts at a "
    "memory address that some disks do not accept for direct I/O (for example, loop devices and virtio disks; see "
    "queue/dma_alignment)"
)
_OTHERS = (
    "the file system does not support direct I/O, or the block size (bs) or an offset is not a multiple of the disk's "
    "sector size"
)


def _in_result(case: Case) -> Findings:
    refused = case.outcome is not None and any(job.error == EINVAL for job in case.outcome.parts)
    if refused and any(job.direct for job in case.jobs):
        why = _FUSE if is_fuse(case.target) and case.load.writes else _OTHERS
        yield fails(f"with direct=1, the I/O failed with `Invalid argument`: {why}", weight=90)


RULE = Rule(
    title="Direct I/O is refused",
    wrong=(
        "If the file system or the disk does not accept direct I/O, or does not accept it with this block size, every "
        "I/O fails with `Invalid argument`, and fio stops."
    ),
    shows="In a result: a job with direct=1 ended with error 22 (EINVAL).",
    error="The job has no result, because fio stops at the first I/O.",
    fix=(
        "use direct=0 with end_fsync=1 for writes, and direct=0 with a cold cache for reads; or choose a block size "
        "(bs) that the disk accepts"
    ),
    sources=(
        "measured: mergerfs 2.33.5 on Linux 6.18 refused every write with direct=1 on loop devices and virtio disks",
        linux_source("6.12", "fs/fuse/file.c", "fuse_direct_io"),
        linux_source("6.12", "block/fops.c", "blkdev_dio_invalid"),
        fio_issue(253),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=2300 --size=4m --direct=1 || true",
)
