"""Percentiles of a few I/Os."""

from collections.abc import Iterable

from poolproof.fio.figures import Latency
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import each_job, each_part
from poolproof.rules.reproduction import script

_FOR_P99 = 1000


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.result, lambda part: _of(part.completion, f"{part.kind}s", 1))
    yield from each_job(case.result, lambda job: _of(job.sync, "syncs", 2))


def _of(latency: Latency | None, what: str, least: int) -> Finding | None:
    """`least`: fewer than that many were no series (end_fsync makes one sync)."""
    samples = latency.samples if latency and latency.percentiles_ns else None
    return _finding(f"{samples} {what}", samples) if samples is not None and least <= samples < _FOR_P99 else None


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
