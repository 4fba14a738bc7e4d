"""A clock that did not advance while fio was measuring, or that gave an impossible run time or latency."""

from poolproof.rules.fio_job import has_copied_clock
from poolproof.rules.model import Case, Finding, Findings, Rule, finding, fio_issue, fio_source, suspects
from poolproof.rules.proof import LATENCIES, LATENCIES_WITH_READS, LATENCIES_WITH_WRITES, SYNCS
from poolproof.rules.reported import ReportedDirection, each_part, fio_release
from poolproof.units import format_duration

_IN_NANOSECONDS = (3, 0)  # earlier releases of fio measure in microseconds
_LONGEST_MS = 10 * 365 * 24 * 3600 * 1000
_LONGER = 1.2  # a text may round the two means differently


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    if (ran_ms := part.figures.runtime_ms or 0) > _LONGEST_MS:
        return suspects(
            f"a run time of {format_duration(ran_ms / 1000)} is impossible, and so are the rates, which fio computes "
            "as an amount divided by this time: the clock was wrong",
            weight=60,
        )
    latency, whole = part.completion, part.figures.lat.mean_ns if part.figures.lat else None
    if latency is not None and latency.mean_ns and whole and latency.mean_ns > _LONGER * whole:
        return finding(
            "refutes",
            f"the completion of a {part.kind} took {format_duration(latency.mean_ns / 1e9)} on average, but the whole "
            f"{part.kind} took only {format_duration(whole / 1e9)}: fio timed the completions from a wrong start time",
            weight=60,
            metrics=LATENCIES_WITH_READS if part.kind == "read" else LATENCIES_WITH_WRITES,
            fix="remove sqthread_poll, or use fio 3.36 or later",
        )
    if latency is None or not latency.samples or latency.mean_ns is None or latency.mean_ns > 0:
        return None
    submission = part.figures.slat.mean_ns if part.figures.slat else None
    if submission and (release := fio_release(case.outcome)) and release < _IN_NANOSECONDS:
        return None  # each completion took less than 1 µs
    return suspects(f"the mean latency of {latency.samples} {part.kind}s is 0: fio's clock did not advance", weight=60)


def _in_result(case: Case) -> Findings:
    yield from each_part(_in_part)(case)
    if case.outcome is not None and has_copied_clock(case.jobs):
        yield suspects(
            "gtod_cpu makes fio copy the time from another thread. If this thread has to wait for its CPU, the time "
            "does not advance, so many I/Os seem to take 0 s, and others milliseconds",
            weight=60,
            metrics=(*LATENCIES, *SYNCS),
            fix="remove gtod_cpu, or keep all other programs off its CPU",
        )


RULE = Rule(
    title="Impossible latencies or an impossible run time",
    wrong=(
        "fio measures time with the CPU's time-stamp counter. If this counter is unreliable, as it is in some virtual "
        "machines or with unsynchronized CPUs, latencies are zero or meaningless, and the run time may be wrong too. "
        "With io_uring and sqthread_poll, older releases of fio do not record when an I/O was submitted, and measure "
        "its completion from an earlier time."
    ),
    shows=(
        "In a result: fio timed I/Os, but their mean latency is 0. fio 1 and 2 round latencies to whole microseconds. "
        "In their results, a mean latency of 0 is not reported if the submission latency is above 0, because the clock "
        "then works. Or fio's run time is longer than ten years. Or the mean completion latency (clat) is more than "
        "1.2 times the mean total latency (lat), of which it is only a part. This refutes the latencies. Or a job sets "
        "gtod_cpu, with which fio copies the time from another thread. This makes the latencies suspect."
    ),
    error="Too high or too low. Measured with sqthread_poll: a p50 of 541 ms, although a read took 31 ms on average.",
    fix="run fio --cpuclock-test; set clocksource=clock_gettime; in a virtual machine, check the steal time",
    sources=(
        fio_source("3.42", "gettime.c", "ntime_since (0 if the clock goes backwards)"),
        fio_source("3.42", "gettime.c", "calibrate_cpu_clock, fio_monotonic_clocktest"),
        fio_source("3.42", "gettime-thread.c", "fio_gtod_update (gtod_cpu)"),
        fio_issue(630),
        fio_issue(902),
        fio_issue(1558),
        fio_issue(1484),
        "https://github.com/axboe/fio/pull/1594",
    ),
    in_result=_in_result,
    is_about_data=False,
    commands="fio --cpuclock-test || true",
)
