"""A clock that did not advance while fio was measuring."""

from poolproof.rules.model import Case, Finding, Rule, fio_issue, fio_source, suspects
from poolproof.rules.reported import ReportedDirection, each_part, fio_release

_IN_NANOSECONDS = (3, 0)  # earlier releases of fio measure in microseconds


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    latency = part.completion
    if latency is None or not latency.samples or latency.mean_ns is None or latency.mean_ns > 0:
        return None
    submission = part.figures.slat.mean_ns if part.figures.slat else None
    if submission and (release := fio_release(case.outcome)) and release < _IN_NANOSECONDS:
        return None  # each completion took less than 1 µs
    return suspects(f"the mean latency of {latency.samples} {part.kind}s is 0: fio's clock did not advance", weight=60)


RULE = Rule(
    title="Latencies of zero",
    wrong=(
        "fio measures time with the CPU's time-stamp counter. If this counter is unreliable, as it is in some virtual "
        "machines or with unsynchronized CPUs, latencies are zero or meaningless, and the run time may be wrong too."
    ),
    shows=(
        "In a result: fio timed I/Os, but their mean latency is 0. fio 1 and 2 round latencies to whole microseconds. "
        "In their results, a mean latency of 0 is not reported if the submission latency is above 0, because the clock "
        "then works."
    ),
    error="Too high or too low.",
    fix="run fio --cpuclock-test; set clocksource=clock_gettime; in a virtual machine, check the steal time",
    sources=(
        fio_source("3.42", "gettime.c", "ntime_since (0 if the clock goes backwards)"),
        fio_source("3.42", "gettime.c", "calibrate_cpu_clock, fio_monotonic_clocktest"),
        fio_issue(630),
        fio_issue(902),
    ),
    in_result=each_part(_in_part),
    commands="fio --cpuclock-test || true",
)
