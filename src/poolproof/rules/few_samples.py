"""Percentiles, and other people's rates, that are based on too few I/Os."""

from poolproof.load.model import LoadPart
from poolproof.load.outcome import Latency, PartOutcome
from poolproof.metrics import events_needed
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, fio_source, notes, suspects
from poolproof.rules.reported import ReportedDirection, each_job, each_part, each_sync_has_data
from poolproof.units import format_number_of

_MOST_ROUNDS = 2
_LARGE = 1 << 20
_FOR_P99 = events_needed(99)


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.outcome is None else ():
        ios, asked = _ios(job), _highest_percentile(job)
        if ios is None or asked is None or ios >= events_needed(asked):
            continue
        yield notes(
            f"{case.who([job])} asks for percentile {asked:g}, but issues only {ios:,} I/Os. "
            f"About {ios * (100 - asked) / 100:.2g} would be slower than this percentile, but at least ten are needed",
            weight=20,
            fix=f"run at least {events_needed(asked):,} I/Os, or request a lower percentile",
        )


def _ios(job: LoadPart) -> int | None:
    """Return the number of I/Os that each clone will issue. None if it is unknown or the job measures no latency."""
    if job.time_based or not (job.reads or job.writes) or not job.measures_latency:
        return None
    size = job.io_size_bytes or job.size_bytes
    return fio_job(job).number("number_ios") or (size // job.max_block_bytes if size else None)


def _highest_percentile(job: LoadPart) -> float | None:
    """Return the highest percentile below 100 in the job's `percentile_list`, or None if it lists none."""
    try:
        asked = [float(part) for part in (fio_job(job).text("percentile_list") or "").split(":") if part.strip()]
    except ValueError:
        return None
    return max((each for each in asked if 0 < each < 100), default=None)


def _in_result(case: Case) -> Findings:
    yield from each_part(lambda _case, part: _timed(part.completion, f"{part.kind}s", 1))(case)
    yield from each_job(_syncs_timed)(case)
    yield from each_part(_few_rounds)(case)


def _few_rounds(case: Case, part: ReportedDirection) -> Finding | None:
    """Return a finding if the rate of someone else's result depends on one or two I/Os of each clone.

    Large I/Os are excluded, because a few of them may be the whole job.
    """
    ios, moved, job = part.figures.ios, part.figures.io_bytes, case.job_named(part.job.name)
    if case.quoted is None or not ios or not moved or moved > ios * _LARGE:
        return None
    at_once = max(part.job.clones, job.clones if job is not None else 1) * (job.queue_each if job is not None else 1)
    if ios > _MOST_ROUNDS * at_once:
        return None
    return suspects(
        f"only {format_number_of(ios, part.kind)} completed, and up to {at_once} ran at once: the rate depends on the "
        f"latency of one or two {part.kind}s per clone",
        weight=45,
        fix="run longer, until each clone has done hundreds of I/Os",
    )


def _syncs_timed(case: Case, result: PartOutcome) -> Finding | None:
    """Return a finding on the sync latencies. None if some syncs may have had nothing to write."""
    job = case.job_named(result.name)
    return _timed(result.sync, "syncs", 2) if job is None or each_sync_has_data(case, job) else None


def _timed(latency: Latency | None, noun: str, fewest: int) -> Finding | None:
    """Return a finding if the p99 is based on too few samples.

    `fewest`: with fewer samples than this, nothing is reported. It is 2 for syncs, because end_fsync alone causes one.
    """
    samples = latency.samples if latency and latency.percentiles_ns else None
    if samples is None or not fewest <= samples < _FOR_P99:
        return None
    timed = f"1 {noun.removesuffix('s')} was" if samples == 1 else f"{samples} {noun} were"
    return notes(
        f"only {timed} timed, so the p99 depends only on the slowest {samples // 100 if samples >= 200 else 'one'}, "
        "but it should depend on at least ten",
        weight=20,
        fix="run longer: a p99 needs 1,000 I/Os, and a p99.9 needs 10,000",
    )


RULE = Rule(
    title="Too few I/Os for a percentile",
    wrong=(
        "A percentile is unreliable if fewer than about ten samples are slower than it. A p99 therefore needs 1,000 "
        "samples, and a p99.99 needs 100,000. fio also prints percentiles that are based on fewer samples."
    ),
    shows="In a job: percentile_list contains a percentile that needs more I/Os than the job issues. In a result: "
    "fewer than 1,000 I/Os or syncs. Someone else's result is suspect if it consists of at most two I/Os of up to "
    "1 MiB for each I/O in flight.",
    error="Too high or too low.",
    fix="run longer, or use a lower percentile",
    sources=(fio_source("3.42", "stat.c", "calc_clat_percentiles"), fio_source("3.37", "io_u.c", "get_rw_ddir")),
    in_job=_in_job,
    options=("percentile_list",),
    in_result=_in_result,
    is_about_data=False,
    commands="fio --rw=randread --bs=1m --size=256m --io_size=64m --direct=1",
)
