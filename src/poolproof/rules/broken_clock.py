"""A clock that did not advance while fio was measuring, or that gave an impossible run time."""

from poolproof.rules.model import Case, Finding, Rule, fio_issue, fio_source, suspects
from poolproof.rules.reported import ReportedDirection, each_part, fio_release
from poolproof.units import format_duration

_IN_NANOSECONDS = (3, 0)  # earlier releases of fio measure in microseconds
_LONGEST_MS = 10 * 365 * 24 * 3600 * 1000


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    if (ran_ms := part.figures.runtime_ms or 0) > _LONGEST_MS:
        return suspects(
            f"a run time of {format_duration(ran_ms / 1000)} is impossible, and so are the rates, which fio computes "
            "as an amount divided by this time: the clock was wrong",
            weight=60,
        )
    latency = part.completion
    if latency is None or not latency.samples or latency.mean_ns is None or latency.mean_ns > 0:
        return None
    submission = part.figures.slat.mean_ns if part.figures.slat else None
    if submission and (release := fio_release(case.outcome)) and release < _IN_NANOSECONDS:
        return None  # each completion took less than 1 µs
    return suspects(f"the mean latency of {latency.samples} {part.kind}s is 0: fio's clock did not advance", weight=60)


RULE = Rule(
    title="Latencies of zero or an impossible run time",
    wrong=(
        "fio measures time with the CPU's time-stamp counter. If this counter is unreliable, as it is in some virtual "
        "machines or with unsynchronized CPUs, latencies are zero or meaningless, and the run time may be wrong too."
    ),
    shows=(
        "In a result: fio timed I/Os, but their mean latency is 0. fio 1 and 2 round latencies to whole microseconds. "
        "In their results, a mean latency of 0 is not reported if the submission latency is above 0, because the clock "
        "then works. Or fio's run time is longer than ten years."
    ),
    error="Too high or too low.",
    fix="run fio --cpuclock-test; set clocksource=clock_gettime; in a virtual machine, check the steal time",
    sources=(
        fio_source("3.42", "gettime.c", "ntime_since (0 if the clock goes backwards)"),
        fio_source("3.42", "gettime.c", "calibrate_cpu_clock, fio_monotonic_clocktest"),
        fio_issue(630),
        fio_issue(902),
        fio_issue(1558),
    ),
    in_result=each_part(_in_part),
    commands="fio --cpuclock-test || true",
)
