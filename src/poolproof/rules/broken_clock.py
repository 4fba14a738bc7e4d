"""A clock that stood still."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.reproduction import script


def _in_result(case: Case) -> Iterable[Finding]:
    return each_part(case.outcome, _of_part)


def _of_part(part: ReportedDirection) -> Finding | None:
    latency = part.completion
    if latency is None or not latency.samples or latency.mean_ns is None or latency.mean_ns > 0:
        return None
    return Finding(
        rule="broken-clock",
        effect="suspects",
        message=f"the mean latency of {latency.samples} {part.kind}s is 0: fio's clock did not move",
        fix="fio --cpuclock-test; clocksource=clock_gettime; look at steal time in a virtual machine",
        weight=60,
    )


RULE = Rule(
    id="broken-clock",
    title="Latencies of zero",
    wrong="fio reads the processor's time-stamp counter. Where that is not reliable (some virtual machines, processors "
    "out of step) latencies come out as zero or as nonsense, and runtime may be wrong as well.",
    shows="In a result: I/Os were timed and their mean latency is 0.",
    error="Either way.",
    fix="Check the clock, take another clocksource.",
    sources=("https://github.com/axboe/fio/issues/630", "https://github.com/axboe/fio/issues/902"),
    pitfall_numbers="#42",
    in_result=_in_result,
    reproduce=script("fio --cpuclock-test || true"),
)
