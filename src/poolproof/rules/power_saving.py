"""Processors that save power during a test with a single I/O in flight."""

from poolproof.rules.model import Case, Findings, Rule, fio_issue, linux_source, notes

_SLOW = ("powersave", "ondemand", "conservative", "schedutil")


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.queue_each == 1 and (job.reads or job.writes) and job.direct]
    if case.target and case.target.governor in _SLOW and jobs and case.load.queue == 1:
        yield notes(
            f"{case.who(jobs)} has one I/O in flight, and the processors use the {case.target.governor} governor: they "
            "sleep and slow down while they wait for each I/O, which adds to its latency",
            weight=25,
        )


RULE = Rule(
    title="Power saving at queue depth 1",
    wrong="With one I/O in flight, the processor is idle most of the time. It enters a deep sleep state or lowers its "
    "frequency, and waking up adds up to 100 µs to each I/O.",
    shows="Before the run: a direct job with a queue depth of 1, and a frequency governor that slows down idle "
    "processors (powersave, ondemand, conservative or schedutil).",
    error="For fast disks, the latency is too high, and the IOPS are too low.",
    fix="set the governor with `cpupower frequency-set -g performance` and limit C-states with `cpupower idle-set -D "
    "10`, or report them with the result",
    sources=(
        linux_source("6.12", "drivers/cpuidle/governors/menu.c", "menu_select"),
        linux_source("6.12", "drivers/cpufreq/cpufreq.c", "show_scaling_governor"),
        fio_issue(1394),
    ),
    in_job=_in_job,
    options=("iodepth", "rw"),
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --time_based --runtime=10",
)
