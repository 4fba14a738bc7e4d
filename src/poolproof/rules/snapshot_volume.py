"""Cloud volumes that load their blocks when they are first read."""

from poolproof.rules.earlier import was_filled
from poolproof.rules.model import Case, Findings, Rule, notes


def _in_job(case: Case) -> Findings:
    volume = case.target.cloud_volume if case.target else None
    readers = [job for job in case.jobs if job.reads and not was_filled(case, job)]
    if volume and readers and case.outcome is None:
        yield notes(
            f"{case.who(readers)} reads from a {volume}: if the volume was created from a snapshot, each block is "
            "fetched from slower storage when it is read for the first time",
            weight=35,
        )


RULE = Rule(
    title="A volume created from a snapshot",
    wrong="A cloud volume that was created from a snapshot is usable at once, but each block is loaded from object "
    "storage when it is first read. The first test measures that.",
    shows="Before the run: a disk's model is that of a cloud volume, and no earlier job wrote the file or device.",
    error="Too low in the first run, by a factor of up to 10 and more.",
    fix="read or write the whole device once before the test (fio --rw=read --bs=1m --direct=1 --iodepth=32 on it), or "
    "create the file anew",
    sources=(
        "Amazon EBS User Guide, Initialize Amazon EBS volumes",
        "Linux 6.12 drivers/nvme/host/sysfs.c, model_show",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run on a volume created from a snapshot.",
    commands="for run in 1 2; do fio --rw=read --bs=1m --size=1g --direct=1 --ioengine=libaio --iodepth=16; done",
)
