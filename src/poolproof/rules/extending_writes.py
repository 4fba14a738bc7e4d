"""Direct writes that extend their file."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, notes
from poolproof.rules.path import is_fuse

_WAITING = ("ext4", "xfs")
_FIXES = {
    "file_append": "remove file_append, so that fio lays the file out first",
    "fallocate=none": "remove fallocate=none, or set overwrite=1, so that fio lays the file out first",
}


def _in_job(case: Case) -> Findings:
    target = case.target
    name = "" if target is None or target.file_system == "unknown" or is_fuse(target) else target.file_system
    if name and name not in _WAITING:
        return
    if jobs := [job for job in case.jobs if _extends(job)]:
        why = "file_append" if fio_job(jobs[0]).flag("file_append") else "fallocate=none"
        wait, where = (f"{name} performs", "") if name else ("ext4 and xfs perform", " on these file systems")
        yield notes(
            f"{case.who(jobs)} writes with direct=1 beyond the end of its file ({why}): {wait} such writes one at a "
            f"time, so a queue depth of {jobs[0].depth} is not reached{where}",
            weight=45,
            fix=_FIXES[why],
        )


def _extends(job: LoadPart) -> bool:
    fio = fio_job(job)
    if job.reads or not (job.writes and job.direct and job.queue_each > 1) or is_on_devices(job):
        return False
    is_none = (fio.text("fallocate") or "").strip() in ("none", "0")
    return fio.flag("file_append") or (is_none and job.is_sequential and not fio.flag("overwrite"))


RULE = Rule(
    title="Writes that extend the file",
    wrong=(
        "A direct write beyond the end of a file has to change the file's size, so ext4 and xfs wait for this write "
        "before they accept the next one. fio's default fallocate=native sets the size first, but fallocate=none and "
        "file_append do not."
    ),
    shows=(
        "In a job: direct=1 writes to a file, with iodepth above 1, that either append to the file (file_append) or "
        "are sequential, with fallocate=none and without overwrite=1, on ext4, xfs or an unknown file system."
    ),
    error="Too low for disks that can work in parallel.",
    fix="remove file_append, and remove fallocate=none or set overwrite=1 so that fio lays the file out first",
    sources=(
        linux_source("6.12", "fs/ext4/file.c", "ext4_dio_write_checks (IOMAP_DIO_FORCE_WAIT)"),
        linux_source("6.12", "fs/xfs/xfs_file.c", "xfs_file_write_checks (inode_dio_wait)"),
        fio_source("3.42", "filesetup.c", "fallocate_file"),
    ),
    in_job=_in_job,
    options=("file_append", "fallocate", "iodepth"),
    fixed_options={"fallocate": None, "file_append": None},
    cleared_by_byte_count=False,
    commands="for how in none native; do rm -f trap; fio --rw=write --bs=4k --size=64m --direct=1 --ioengine=libaio "
    "--iodepth=32 --fallocate=$how; done",
)
