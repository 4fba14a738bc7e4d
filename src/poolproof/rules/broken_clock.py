"""fio's clock did not advance."""

from poolproof.rules.model import Case, Finding, Rule, fio_issue, fio_source, suspects
from poolproof.rules.reported import ReportedDirection, each_part


def _in_part(_case: Case, part: ReportedDirection) -> Finding | None:
    latency = part.completion
    if latency is None or not latency.samples or latency.mean_ns is None or latency.mean_ns > 0:
        return None
    return suspects(f"the mean latency of {latency.samples} {part.kind}s is 0: fio's clock did not advance", weight=60)


RULE = Rule(
    title="Latencies of zero",
    wrong="fio reads the processor's time-stamp counter. If the counter is unreliable (some virtual machines, "
    "unsynchronized processors), latencies are zero or meaningless, and runtime may be wrong too.",
    shows="In a result: I/Os were timed, but their mean latency is 0.",
    error="Too high or too low.",
    fix="run fio --cpuclock-test; set clocksource=clock_gettime; in a virtual machine, check the steal time",
    sources=(
        fio_source("3.42", "gettime.c", "calibrate_cpu_clock, fio_monotonic_clocktest"),
        fio_issue(630),
        fio_issue(902),
    ),
    in_result=each_part(_in_part),
    commands="fio --cpuclock-test || true",
)
