"""Percentiles of a few I/Os."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import parts
from poolproof.rules.reproduction import script

_FOR_P99 = 1000


def _in_result(case: Case) -> Iterable[Finding]:
    for part in parts(case.result):
        samples = part.completion.samples if part.completion and part.completion.percentiles_ns else None
        if samples is not None and 0 < samples < _FOR_P99:
            yield _finding(f"{samples} {part.kind}s", samples)
    for job in case.result.jobs if case.result else ():
        samples = job.sync.samples if job.sync and job.sync.percentiles_ns else None
        if samples is not None and 1 < samples < _FOR_P99:
            yield _finding(f"{samples} syncs", samples)


def _finding(what: str, samples: int) -> Finding:
    return Finding(
        rule="few-samples",
        effect="notes",
        message=f"{what} were timed: the p99 stands on the slowest {max(samples // 100, 1)} of them, and ten are "
        "needed",
        fix="a longer run: 1,000 I/Os for a p99, 10,000 for a p99.9",
        weight=20,
    )


RULE = Rule(
    id="few-samples",
    title="Too few I/Os for a percentile",
    wrong="A percentile p needs about 10 / (1 − p) samples to hold still: 1,000 for p99, 100,000 for p99.99. fio "
    "prints them all, whatever it has.",
    shows="In a result: fewer than 1,000 I/Os or syncs with percentiles.",
    error="Either way.",
    mend="Run longer, or look at lower percentiles.",
    sources=("fio stat.h (FIO_IO_U_PLAT_BITS)",),
    catalogue="#31",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=randread --bs=1m --size=256m --io_size=64m --direct=1"),
)
