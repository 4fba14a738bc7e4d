"""An SSD whose blocks were trimmed and have not been written since."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import before, is_cut_short, prepared_by, was_filled
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, notes, suspects, zfs_issue
from poolproof.rules.proof import OF_READS

DISCARDING = ("blkdiscard", "nvme format", "nvme sanitize", "hdparm")
"""The programs that trim or erase a whole device, as lint names them."""


def _is_trimmed(case: Case) -> bool:
    return case.target is not None and bool(case.target.discarded) and case.target.rotational is not True


def _fills_device(job: LoadPart) -> bool:
    """True if the job writes the whole device in order, as a preconditioning job does."""
    return not job.is_random and not job.reads and not job.size_bytes and not is_cut_short(job)


def _in_job(case: Case) -> Findings:
    if _is_trimmed(case) and (case.load.writes or case.outcome is None):
        yield notes(
            "the target was trimmed and has not been filled since (mkfs trims too): until it is filled, an SSD writes "
            "without erasing first, and reads without accessing its flash",
            weight=35,
        )

    yield from _after_trims(case)
    for job in case.jobs:
        program = prepared_by(job, case.empty)
        if program in DISCARDING and job.writes and not was_filled(case, job) and not _fills_device(job):
            yield notes(
                f"{case.who([job])} writes to a device that `{program}` has just trimmed: until it has been filled "
                "once, an SSD writes without erasing first",
                weight=35,
            )


def _trimmers(case: Case, job: LoadPart) -> tuple[str, ...]:
    """Return the names of the jobs that trim blocks which the job reads, earlier or at the same time.

    Jobs that write each block again after they have trimmed it (trimwrite) are left out, except those with the engine
    mmap: when it opens a block device for writing, it discards the range that it maps (fio_mmap_file() in
    engines/mmap.c, MADV_REMOVE).
    """
    names = []
    for part in case.load.parts:
        is_before = any(part is other for other in (*before(case, job), *_phase_of(case, job)))
        punches = part.writes and is_on_devices(part) and fio_job(part).engine == "mmap"
        if is_before and ((part.trims and not part.writes) or punches) and _overlap(part, job):
            names.append(part.name)
        elif part.writes and not part.is_random and part in before(case, job) and _overlap(part, job):
            names.clear()  # written again
    return tuple(names)


def _phase_of(case: Case, job: LoadPart) -> tuple[LoadPart, ...]:
    return next((phase for phase in case.load.phases if any(part is job for part in phase)), ())


def _overlap(part: LoadPart, job: LoadPart) -> bool:
    return any(
        one.file == other.file and (one.scale != other.scale or (one.start < other.end and other.start < one.end))
        for one in part.extents
        for other in job.extents
    )


def _after_trims(case: Case) -> Findings:
    """Yield a finding for each job that reads blocks which another job of the load trims."""
    for job in case.jobs:
        names = _trimmers(case, job) if job.reads and job.may_use_page_cache and case.cold else ()
        if names:
            yield suspects(
                f"{case.who([job])} reads blocks that {' and '.join(f'job `{name}`' for name in names)} trimmed: the "
                "drive returns zeros from its mapping table, and its counters include these reads",
                weight=70,
                fix="read and trim different areas (offset), or write the area again before it is read",
                metrics=OF_READS,
            )


def _in_result(case: Case) -> Findings:
    yield from _after_trims(case)
    reads_only = case.outcome is not None and case.load.reads and not case.load.writes and case.cold
    were_filled = case.files and not any(file.hole_bytes or file.unwritten_bytes for file in case.files)
    if _is_trimmed(case) and reads_only and not were_filled:
        yield suspects(
            "the blocks that were read had been trimmed and not rewritten since: the drive returns zeros from its "
            "mapping table, and its counters include these reads",
            weight=70,
        )


RULE = Rule(
    title="A fresh or trimmed SSD",
    wrong="Until a trimmed SSD is filled, it returns zeros without accessing its flash and has free blocks for each "
    "write.",
    shows="Before the run: the disks were trimmed and have not been filled since, or the script trimmed the device "
    "(blkdiscard, nvme format or sanitize, the security erase of hdparm) and the job does not fill it in order. Reads "
    "are also suspect if another job trims the same blocks earlier or at the same time. Jobs with the engine mmap that "
    "write to a block device count as trims, because fio discards the range that it maps. In a result: reads of such "
    "disks are suspect, unless the job also wrote or the test files are known to be completely written. The counters "
    "include reads of trimmed blocks, so they do not show the effect.",
    error="Too high. Observed: 2,083 MiB/s from a fresh SSD, 581 MiB/s from a used one.",
    fix="write the whole device (or the whole file) twice sequentially, then write at random until the rate is steady",
    sources=(
        "NVM Express NVM Command Set 1.0, Deallocated or Unwritten Logical Blocks",
        linux_source("6.12", "block/blk-lib.c", "blkdev_issue_discard"),
        fio_source("3.37", "engines/mmap.c", "fio_mmap_file (MADV_REMOVE)"),
        zfs_issue(10856),
        "https://github.com/spdk/spdk/issues/661",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    needs="Run this on an SSD whose blocks have been trimmed.",
    commands="# blkdiscard DEVICE   (this erases it!)\nfio --rw=randread --bs=4k --size=1g --io_size=256m --direct=1",
)
