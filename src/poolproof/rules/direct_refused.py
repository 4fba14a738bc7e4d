"""Direct I/O that the storage stack rejects, so nothing is measured."""

from errno import EINVAL

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Findings, Rule, fails, fio_issue, fio_source, linux_source
from poolproof.rules.path import is_block_device, is_fuse
from poolproof.rules.write_hint import is_hint_refused

_FUSE = (
    "a FUSE file system such as mergerfs receives the data of a write right after a header, so the data starts at a "
    "memory address that some disks do not accept for direct I/O (for example, loop devices and virtio disks; see "
    "queue/dma_alignment)"
)
_OTHERS = (
    "the file system does not support direct I/O, or the block size (bs) or an offset is not a multiple of the disk's "
    "sector size"
)
_BEFORE_ANY_IO = (
    "with direct=1, fio failed with `Invalid argument` before its first I/O: the file system does not support direct "
    "I/O, or fio could not use another option of the job"
)


def _in_result(case: Case) -> Findings:
    if not any(job.direct for job in case.jobs):
        return
    failed = [part for part in (case.outcome.parts if case.outcome else ()) if part.error == EINVAL]
    failed = [part for part in failed if not is_hint_refused(case, part)]
    if any(map(_did_io, failed)):
        why = _FUSE if is_fuse(case.target) and case.load.writes else _OTHERS
        yield fails(f"with direct=1, the I/O failed with `Invalid argument`: {why}", weight=90)
    elif failed and not is_block_device(case.target):  # a block device is always opened
        yield fails(_BEFORE_ANY_IO, weight=90, fix=_FIX_BEFORE_ANY_IO)


def _did_io(part: PartOutcome) -> bool:
    """True if fio started an I/O, as far as its output shows. fio counts an I/O that fails too.

    fio's JSON output always contains the CPU usage. Its normal output does not if there was no I/O, but then it may
    also have been cut off.
    """
    return bool(part.directions) or part.user_cpu_percent is None


_FIX_BEFORE_ANY_IO = "run fio by hand with the job: its normal output names the function that failed (func=)"

RULE = Rule(
    title="Direct I/O is refused",
    wrong=(
        "If the file system or the disk does not accept direct I/O, or does not accept it with this block size, every "
        "I/O fails with `Invalid argument`, and fio stops."
    ),
    shows=(
        "In a result: a job with direct=1 ended with error 22 (EINVAL), on a block device only if fio started an I/O. "
        "The rule write-hint reports a write_hint that fio could not set."
    ),
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
        fio_source("3.33", "ioengines.c", "td_io_open_file (opens the files, before any I/O is counted)"),
    ),
    in_result=_in_result,
    commands="fio --rw=write --bs=2300 --size=4m --direct=1 || true",
)
