"""Percentiles of too few I/Os."""

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
            message=f"{who(case, [job])} asks for percentile {asked:g} of {ios} I/Os: only "
            f"{ios * (100 - asked) / 100:.2g} of them are slower, but at least ten are needed",
            fix=f"{round(_TEN_OF_THEM / (100 - asked)):,} I/Os at least, or a lower percentile",
            weight=20,
        )


def _ios(job: LoadPart) -> int | None:
    """Return the I/Os that each clone will do; None if the job is time-based or its size is unknown."""
    if job.time_based or not (job.reads or job.writes) or not job.measures_latency:
        return None
    size = job.io_size_bytes or job.size_bytes
    by_size = size // job.max_block_bytes if size else None
    return fio_job(job).number("number_ios") or by_size


def _highest_percentile(job: LoadPart) -> float | None:
    """Return the highest value of `percentile_list` below 100."""
    try:
        asked = [float(part) for part in (fio_job(job).text("percentile_list") or "").split(":") if part.strip()]
    except ValueError:
        return None
    return max((each for each in asked if 0 < each < 100), default=None)


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.outcome, lambda part: _of(part.completion, f"{part.kind}s", 1))
    yield from each_job(case.outcome, lambda job: _of(job.sync, "syncs", 2))


def _of(latency: Latency | None, what: str, least: int) -> Finding | None:
    """Return a finding unless there are fewer than `least` samples: end_fsync causes a single sync."""
    samples = latency.samples if latency and latency.percentiles_ns else None
    return _finding(f"{samples} {what}", samples) if samples is not None and least <= samples < _FOR_P99 else None


def _finding(what: str, samples: int) -> Finding:
    return Finding(
        rule="few-samples",
        effect="notes",
        message=f"{what} were timed: the p99 depends on only the slowest {max(samples // 100, 1)}, but at least "
        "ten are needed",
        fix="a longer run: 1,000 I/Os for a p99, 10,000 for a p99.9",
        weight=20,
    )


RULE = Rule(
    id="few-samples",
    title="Too few I/Os for a percentile",
    wrong="A percentile p needs about 10 / (1 − p) samples to be stable: 1,000 for p99, 100,000 for p99.99. fio "
    "prints all percentiles, however few samples it has.",
    shows="In a job: percentile_list asks for a higher percentile than the number of I/Os supports. In a result: "
    "fewer than 1,000 "
    "I/Os or syncs with percentiles.",
    error="Too high or too low.",
    fix="Run longer, or use lower percentiles.",
    sources=("fio stat.h (FIO_IO_U_PLAT_BITS)",),
    pitfall_numbers="#31",
    in_job=_in_job,
    options=("percentile_list",),
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=randread --bs=1m --size=256m --io_size=64m --direct=1"),
)
