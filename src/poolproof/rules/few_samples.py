"""Percentiles of a few I/Os."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.load.outcome import Latency
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reported import each_job, each_part
from poolproof.rules.reproduction import script

_FOR_P99 = 1000
_TEN_OF_THEM = 1000.0  # ten samples above a percentile p: ios × (100 − p) / 100 ≥ 10


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts if case.outcome is None else ():
        ios, asked = _ios(job), _highest_percentile(job)
        if ios is None or asked is None or ios * (100 - asked) >= _TEN_OF_THEM:
            continue
        yield Finding(
            rule="few-samples",
            effect="notes",
            message=f"{who(case, [job])} asks for the percentile {asked:g} of {ios} I/Os: "
            f"{ios * (100 - asked) / 100:.2g} of them are slower than that, and ten are needed",
            fix=f"{round(_TEN_OF_THEM / (100 - asked)):,} I/Os or more, or a lower percentile",
            weight=20,
        )


def _ios(job: LoadPart) -> int | None:
    """I/Os that each clone will do; None where it goes by time, or its size is not known."""
    if job.time_based or not (job.reads or job.writes) or not job.measures_latency:
        return None
    size = job.io_size_bytes or job.size_bytes
    by_size = size // job.max_block_bytes if size else None
    return fio_job(job).number("number_ios") or by_size


def _highest_percentile(job: LoadPart) -> float | None:
    """The highest of `percentile_list`, below 100."""
    try:
        asked = [float(part) for part in (fio_job(job).text("percentile_list") or "").split(":") if part.strip()]
    except ValueError:
        return None
    return max((each for each in asked if 0 < each < 100), default=None)


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.outcome, lambda part: _of(part.completion, f"{part.kind}s", 1))
    yield from each_job(case.outcome, lambda job: _of(job.sync, "syncs", 2))


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
    shows="In a job: percentile_list asks for more than the number of I/Os can give. In a result: fewer than 1,000 "
    "I/Os or syncs with percentiles.",
    error="Either way.",
    fix="Run longer, or look at lower percentiles.",
    sources=("fio stat.h (FIO_IO_U_PLAT_BITS)",),
    pitfall_numbers="#31",
    in_job=_in_job,
    options=("percentile_list",),
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=randread --bs=1m --size=256m --io_size=64m --direct=1"),
)
