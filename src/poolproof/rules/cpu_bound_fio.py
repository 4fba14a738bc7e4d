"""The processor limits fio."""

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Finding, Rule, fio_issue, notes
from poolproof.rules.reported import each_job


def _in_reported_job(_case: Case, job: PartOutcome) -> Finding | None:
    user, system = job.user_cpu_percent, job.system_cpu_percent
    if user is None or system is None or user + system < 90:
        return None
    return notes(
        f"job `{job.name}` used {user + system:.0f} % of a processor ({user:.0f} % in fio, {system:.0f} % in the "
        "kernel): the processor is the limit, not the disk"
    )


RULE = Rule(
    title="The processor is the limit",
    wrong="One fio job runs on one processor, which random data, verification, checksums or the file system can "
    "saturate.",
    shows="In a result: the user and system time of a job add up to at least 90 % of a processor.",
    error="Too low. Observed maximum of one core: 3.0 M IOPS at 4k, and 4.0 GB/s with refill_buffers.",
    fix="use more numjobs (each with its own file), cpus_allowed or thread=1; if the target does not compress, remove "
    "refill_buffers and `verify`; use ioengine=null to find the highest rate that fio can reach",
    sources=(fio_issue(1206), "https://github.com/JonMagon/KDiskMark/issues/175"),
    in_result=each_job(_in_reported_job),
    commands="fio --name=trap --ioengine=null --size=100g --bs=4k --rw=write --refill_buffers --time_based --runtime=3",
)
