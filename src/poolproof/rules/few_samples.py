"""Percentiles of too few I/Os."""

from poolproof.load.model import LoadPart
from poolproof.load.outcome import Latency
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, notes
from poolproof.rules.reported import each_job, each_part

_FOR_P99 = 1000
_TEN_OF_THEM = 1000.0  # ten samples above a percentile p: ios × (100 − p) / 100 ≥ 10


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.outcome is None else ():
        ios, asked = _ios(job), _highest_percentile(job)
        if ios is None or asked is None or ios * (100 - asked) >= _TEN_OF_THEM:
            continue
        yield notes(
            f"{case.who([job])} asks for percentile {asked:g} of {ios} I/Os: only {ios * (100 - asked) / 100:.2g} of "
            "them are slower, but at least ten are needed",
            weight=20,
            fix=f"{round(_TEN_OF_THEM / (100 - asked)):,} I/Os at least, or a lower percentile",
        )


def _ios(job: LoadPart) -> int | None:
    """Return the I/Os that each clone will do; None if the job is time-based or its size is unknown."""
    if job.time_based or not (job.reads or job.writes) or not job.measures_latency:
        return None
    size = job.io_size_bytes or job.size_bytes
    return fio_job(job).number("number_ios") or (size // job.max_block_bytes if size else None)


def _highest_percentile(job: LoadPart) -> float | None:
    """Return the highest value of `percentile_list` below 100."""
    try:
        asked = [float(part) for part in (fio_job(job).text("percentile_list") or "").split(":") if part.strip()]
    except ValueError:
        return None
    return max((each for each in asked if 0 < each < 100), default=None)


def _in_result(case: Case) -> Findings:
    yield from each_part(lambda _case, part: _timed(part.completion, f"{part.kind}s", 1))(case)
    yield from each_job(lambda _case, job: _timed(job.sync, "syncs", 2))(case)


def _timed(latency: Latency | None, noun: str, fewest: int) -> Finding | None:
    """Return a finding unless there are fewer than `fewest` samples: end_fsync causes a single sync."""
    samples = latency.samples if latency and latency.percentiles_ns else None
    if samples is None or not fewest <= samples < _FOR_P99:
        return None
    return notes(
        f"{samples} {noun} were timed: the p99 depends on only the slowest {max(samples // 100, 1)}, but at least ten "
        "are needed",
        weight=20,
        fix="a longer run: 1,000 I/Os for a p99, 10,000 for a p99.9",
    )


RULE = Rule(
    title="Too few I/Os for a percentile",
    wrong="A percentile p needs about 10 / (1 − p) samples: 1,000 for p99, 100,000 for p99.99. fio prints it anyway.",
    shows="In a job: percentile_list goes beyond what its I/Os support. In a result: under 1,000 I/Os or syncs.",
    error="Too high or too low.",
    fix="Run longer, or use lower percentiles.",
    sources=("fio stat.h (FIO_IO_U_PLAT_BITS)",),
    in_job=_in_job,
    options=("percentile_list",),
    in_result=_in_result,
    commands="fio --rw=randread --bs=1m --size=256m --io_size=64m --direct=1",
)
