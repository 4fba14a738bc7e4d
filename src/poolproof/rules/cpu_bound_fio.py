"""The processor limits fio."""

from collections.abc import Iterable

from poolproof.load.outcome import PartOutcome
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import each_job
from poolproof.rules.reproduction import script

_FULL_PERCENT = 90.0


def _in_result(case: Case) -> Iterable[Finding]:
    return each_job(case.outcome, _of_job)


def _of_job(job: PartOutcome) -> Finding | None:
    user, system = job.user_cpu_percent, job.system_cpu_percent
    if user is None or system is None or user + system < _FULL_PERCENT:
        return None
    return Finding(
        rule="cpu-bound-fio",
        effect="notes",
        message=f"job `{job.name}` used {user + system:.0f} % of a processor ({user:.0f} % in fio, {system:.0f} % in "
        "the kernel): the processor is the limit, not the disk",
        fix="more numjobs (each with its own file), cpus_allowed, thread=1; remove refill_buffers and verify if "
        "the target does not compress; ioengine=null shows the highest rate that fio can reach",
        weight=50,
    )


RULE = Rule(
    id="cpu-bound-fio",
    title="The processor is the limit",
    wrong="One fio job runs on one processor. Random data, verification, checksums and the file system's own work can "
    "saturate it, and then the result measures the processor.",
    shows="In a result: user and system time of a job add up to at least 90 % of a processor.",
    error="Too low. One core was observed to reach 3.0 M IOPS at 4k, and 4.0 GB/s with refill_buffers.",
    fix="More jobs, or less work per byte.",
    sources=("https://github.com/axboe/fio/issues/1206", "https://github.com/JonMagon/KDiskMark/issues/175"),
    pitfall_numbers="#29",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --ioengine=null --size=100g --bs=4k --rw=write --refill_buffers --time_based --runtime=3"
    ),
)
