"""A requested rate that the run failed to reach, or that fio may exceed."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Findings, Rule, fio_doc, fio_issue, fio_source, notes
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_count


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.rate_limited and fio_job(job).text("rate_process") == "poisson"]
    if jobs:
        yield notes(
            f"{case.who(jobs)} sets rate_process=poisson, which makes some fio releases send I/Os at twice the "
            "requested rate",
            weight=25,
            fix="compare the rate that fio reports with the one requested",
        )


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job, reached = case.job_named(part.job.name), part.figures.iops
    asked = _asked_iops(job, part) if job else None
    if not asked or reached is None or reached >= 0.95 * asked:
        return None
    return notes(
        f"{format_count(asked)} {part.kind}s/s were requested, but only {format_count(reached)} were reached: fio "
        "waits for completions before it sends the next I/O, so the percentiles do not include the time that delayed "
        "I/Os waited",
        weight=55,
    )


def _asked_iops(job: LoadPart, part: ReportedDirection) -> int | None:
    """Return the sum of rate_iops over all clones in the result, or None if it is unknown.

    It is unknown if rate_iops is not set, or if it has several values, because the job determines which of them
    applies.
    """
    each = fio_job(job).number("rate_iops")
    if each is None or "," in (fio_job(job).text("rate_iops") or ""):
        return None
    return each * (job.clones if fio_job(job).flag("group_reporting") else part.job.clones)


RULE = Rule(
    title="The requested rate was not reached",
    wrong="fio sends a new I/O only when an earlier one has completed (a closed loop). During a stall, it sends fewer "
    "I/Os. The percentiles do not include the waiting time of the I/Os that it did not send (coordinated omission). At "
    "a rate that the disk cannot sustain, percentiles look better than what users would experience.",
    shows="In a result: rate_iops was set, but the job reached less than 95% of it. In a job: rate_process=poisson, "
    "with which some releases of fio send I/Os at twice the requested rate.",
    error="Latency is too low near saturation.",
    fix="run with rate_iops from 10 to 90% of the maximum, and report the percentiles at each rate that was reached",
    sources=(
        fio_source("3.42", "backend.c", "usec_for_io"),
        fio_source("3.42", "io_u.c", "rate_ddir"),
        fio_doc("io_submit_mode"),
        fio_issue(333),
    ),
    in_job=_in_job,
    options=("rate_process", "rate_iops"),
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=1000000 --time_based --runtime=3",
)
