"""Trials that other work disturbed, as recorded in runs, without measuring anything."""

from poolproof.metrics import TrialMetrics
from poolproof.results.runs.model import Trial
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict

STOLEN = Finding(
    "other-work",
    "suspects",
    "the hypervisor gave 31% of the processor time to other virtual machines, so I/Os waited for a processor",
    "stop the other programs",
    weight=75,
)
BUSY = Finding("other-work", "suspects", "other programs used 1.7 of 2 processors while fio ran", "stop", weight=76)
DISKS = Finding("other-work", "suspects", "other programs read 9 MB/s and wrote 40 MB/s", "stop them", weight=74)
BACKGROUND = Finding("background-io", "suspects", "the disks were busy without fio", "wait until they are idle")
SLOW_PERCENTILE = Finding("write-latency", "suspects", "the p99 is that of RAM", "use p99 of fsync", metrics=("p99",))


def trial(
    number: int, value: float, *findings: Finding, build: int = 1, layout: str = "one", workload: str = "reads"
) -> Trial:
    """Return a trial whose verdict on `iops` is `failed` for the value 0, and otherwise that of its findings."""
    suspect = any(finding.effect == "suspects" and finding.is_about("iops") for finding in findings)
    verdict: Verdict = "suspect" if suspect else "sound"
    figures = TrialMetrics(iops=value, bandwidth_bytes=4096 * value)
    if not value:
        failed = Finding("work-done", "fails", "fio ended with error 5", "look at dmesg")
        return Trial(layout, workload, number, "failed", (failed,), "iops", build=build)
    return Trial(layout, workload, number, verdict, findings, "iops", figures, build=build)
