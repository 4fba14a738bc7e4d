"""Cloud volumes that load each block when it is read for the first time."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import was_filled
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_source, linux_source, notes


def _in_job(case: Case) -> Findings:
    volume = case.target.cloud_volume if case.target else None
    readers = [job for job in case.jobs if job.reads and not was_filled(case, job) and _is_old(case, job)]
    if volume and readers and case.outcome is None:
        yield notes(
            f"{case.who(readers)} reads from a cloud volume ({volume}): if it was created from a snapshot, each block "
            "is fetched from slower storage when it is read for the first time",
            weight=35,
        )


def _is_old(case: Case, job: LoadPart) -> bool:
    """True if the job reads a device or an existing file.

    New files are excluded, because fio writes them before it reads them, so none of the volume's old blocks are read.
    """
    return bool(case.files) or any(name.startswith("/dev/") for name in fio_job(job).filenames)


RULE = Rule(
    title="A volume created from a snapshot",
    wrong="A cloud volume that was created from a snapshot is usable at once, but each block is loaded from object "
    "storage when it is first read. The first test measures the speed of this loading.",
    shows="Before the run: a disk's model is that of a cloud volume, or the script creates a cloud volume from a "
    "snapshot (aws, gcloud, az). The job reads a device or existing files that no earlier job wrote.",
    error="Too low in the first run, sometimes by a factor of 10 or more.",
    fix="read or write the whole device once before the test (fio --rw=read --bs=1m --direct=1 --iodepth=32 on it), or "
    "recreate the file",
    sources=(
        "Amazon EBS User Guide, Initialize Amazon EBS volumes",
        linux_source("6.12", "drivers/nvme/host/sysfs.c", "nvme_show_str_function(model)"),
        fio_source("3.42", "filesetup.c", "extend_file (writes a new file of a reading job)"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run this on a volume created from a snapshot.",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=1g --direct=1 --ioengine=libaio --iodepth=16; done",
)
