"""A rate that is limited by the job itself."""

from poolproof.load.model import LoadPart
from poolproof.metrics import METRICS
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Finding, Rule, finding, fio_doc, fio_source
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_count

RATES = tuple(metric.id for metric in METRICS if metric.is_rate)
_REACHED, _EXACTLY, _PAUSED = 0.9, 0.95, 0.1
_FEWEST_IOS, _ROUND, _PAUSES = 10_000, 0.0003, 0.7


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = case.job_named(part.job.name)
    if job is not None and job.thinks and (paused := _paused_share(job, part)) >= _PAUSED:
        return finding(
            "suspects" if case.quoted is None else "notes",
            f"thinktime={fio_job(job).text('thinktime')} makes fio pause for {100 * paused:.0f}% of the time, so the "
            "pauses determine the rate, and the layout may be capable of more. The latencies are valid at this rate",
            weight=72,
            metrics=RATES,
        )
    if job is not None and is_fio_job(job) and not job.extents and case.quoted is not None:
        return _round_rate(part)
    if job is None or not job.rate_limited:
        return None
    for option, reached in (("rate_iops", part.figures.iops), ("rate", part.figures.bandwidth_bytes)):
        most = _most(job, option, part)
        if most and reached is not None and reached >= _REACHED * most:
            is_exact = reached >= _EXACTLY * most
            share = "" if is_exact else f"{100 * reached / most:.0f}% of "
            requested = "the requested rate, " if is_exact else ""  # below this share, rate-not-reached may apply too
            return finding(
                # readers of a text see the limit in the job, but readers of a comparison do not
                "suspects" if case.quoted is None else "notes",
                f"{option}={fio_job(job).text(option)} limits the {part.kind}s, and they reached {share}this limit, so "
                f"the result is {requested}not the highest rate that the layout can reach. The latencies are valid at "
                "this rate",
                weight=72,
                metrics=RATES,
            )
    return None


def _round_rate(part: ReportedDirection) -> Finding | None:
    """Return a finding if a job whose options are unknown did a round number of I/Os per second, with pauses.

    A device that limits the rate makes I/Os wait, so the queue stays full. A pause between I/Os is not part of their
    latency, and shows that the job itself waits.
    """
    figures, alone = part.figures, len(part.job.directions) == 1
    latency = part.total.mean_ns if part.total else None
    if not (figures.ios and figures.runtime_ms and latency) or figures.ios < _FEWEST_IOS or not alone:
        return None
    each = 1000 * figures.ios / figures.runtime_ms / part.job.clones
    nearest = float(f"{each:.1e}")
    in_flight = each * latency / 1e9
    if part.job.sync is not None or abs(each - nearest) > _ROUND * nearest or in_flight > _PAUSES:
        return None
    return finding(
        "suspects",
        f"each clone did {format_count(nearest)} {part.kind}s/s to within {100 * _ROUND:g}%, but had only "
        f"{in_flight:.2g} I/Os in flight on average: the job itself paused, as with rate_iops={nearest:.0f}, so this "
        "is the requested rate, not the highest rate of the disks",
        weight=72,
        metrics=RATES,
    )


def _paused_share(job: LoadPart, part: ReportedDirection) -> float:
    """Return the fraction of the run time that a clone spent paused by thinktime, from 0 to 1.

    fio pauses after every `thinktime_blocks` I/Os, counting reads and writes together. If only `thinktime_iotime` is
    set, fio pauses each time it has done I/O for that long (handle_thinktime).
    """
    fio = fio_job(job)
    pause_s, ran_s = fio.seconds("thinktime", bare_us=1) or 0.0, (part.figures.runtime_ms or 0) / 1e3
    work_s = fio.seconds("thinktime_iotime")
    if work_s and "thinktime_blocks" not in fio.options:
        return pause_s / (pause_s + work_s)
    ios = sum((each.ios or 0) for each in (part.job.read, part.job.write) if each is not None)
    clones = job.clones if fio.flag("group_reporting") else part.job.clones
    pauses = ios / max(1, clones) / max(1, fio.number("thinktime_blocks") or 1)
    return min(1.0, pauses * pause_s / ran_s) if ran_s else 0.0


def _most(job: LoadPart, option: str, part: ReportedDirection) -> float | None:
    """Return the total rate limit of all clones in the result, for reads or for writes. None if no limit is set.

    The option takes up to three comma-separated limits: for reads, writes and trims. A single value limits all of them,
    but `,500k` limits only the writes, and `500k,` only the reads.
    """
    fio = fio_job(job)
    values = (fio.text(option) or "").split(",")
    value = values[min(0 if part.kind == "read" else 1, len(values) - 1)].strip()
    each = fio.bytes_in(option, value) if value else None
    return each * (job.clones if fio.flag("group_reporting") else part.job.clones) if each else None


RULE = Rule(
    title="The rate is limited by the job's options",
    wrong=(
        "With rate or rate_iops, fio delays its I/Os so that the rate does not exceed the configured limit. All "
        "layouts that could be faster reach exactly this rate, so they look equally fast and perfectly steady. "
        "thinktime makes fio pause after each I/O, or after every thinktime_blocks I/Os, and these pauses can largely "
        "determine the rate."
    ),
    shows=(
        "In a result: rate or rate_iops is set, and the rate reached at least 90% of this limit; or the pauses caused "
        "by thinktime add up to at least 10% of the time. The finding changes only the verdict on rates, and these "
        "rates are neither compared nor ranked. In other people's results, the finding is a note if the text shows the "
        "options. Otherwise, the result is suspect if each clone did a round number of I/Os per second (two "
        "significant digits, to within 0.03%: 24,999 counts as 25,000), with an average of at most 0.7 I/Os in flight, "
        "in at least 10,000 reads or writes without syncs."
    ),
    error="Too low, because the job's options determine the rate. The latencies are valid at this rate.",
    fix=(
        "compare the latencies at this rate (metric: p99), or remove rate, rate_iops and thinktime to measure the "
        "speed of the layout"
    ),
    sources=(
        fio_doc("rate, rate_iops, thinktime, thinktime_blocks, thinktime_iotime"),
        fio_source("3.42", "backend.c", "usec_for_io, handle_thinktime"),
    ),
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    not_compared="the job limits the rate",
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=100 --time_based --runtime=3",
)
