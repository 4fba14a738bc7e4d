"""A requested rate that was not reached."""

from collections.abc import Iterable
from functools import partial

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reported import ReportedDirection, each_part, job_of
from poolproof.rules.reproduction import script
from poolproof.units import format_count

_REACHED = 0.95
_FIX = "run rate_iops from 10 to 90 % of the maximum, and report the percentiles at each rate that was reached"


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.rate_limited and fio_job(job).text("rate_process") == "poisson"]
    if jobs:
        yield Finding(
            rule="rate-not-reached",
            effect="notes",
            message=f"{who(case, jobs)} sets rate_process=poisson, which sends twice the rate in some releases of fio",
            fix="compare the rate that fio reports with the one requested",
            weight=25,
        )


def _in_result(case: Case) -> Iterable[Finding]:
    yield from each_part(case.outcome, partial(_of_part, case))


def _of_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = job_of(case, part)
    asked = _asked_iops(job, part) if job else None
    reached = part.figures.iops
    if not asked or reached is None or reached >= _REACHED * asked:
        return None
    return Finding(
        rule="rate-not-reached",
        effect="notes",
        message=f"{format_count(asked)} {part.kind}s a second were requested, {format_count(reached)} were reached: "
        "fio waits for an answer before it sends the next I/O, so the percentiles exclude the time that delayed I/Os "
        "waited",
        fix=_FIX,
        weight=55,
    )


def _asked_iops(job: LoadPart, part: ReportedDirection) -> int | None:
    """Return rate_iops of the direction, times the clones that the result sums.

    None for several values, because their order of directions depends on the job.
    """
    value = fio_job(job).text("rate_iops") or ""
    if "," in value or (each := fio_job(job).number("rate_iops")) is None:
        return None
    return each * (job.clones if fio_job(job).flag("group_reporting") else part.job.clones)


RULE = Rule(
    id="rate-not-reached",
    title="The requested rate was not reached",
    wrong="fio is a closed loop: during a stall it sends less, and the wait of I/Os that were never sent is in no "
    "percentile. At a rate that the disk cannot sustain, percentiles look better than users would see.",
    shows="In a result: rate_iops was set, and less than 95 % of it was reached. In a job: rate_process=poisson.",
    error="Latency is too low near saturation.",
    fix=_FIX,
    sources=(
        "https://fio.readthedocs.io/en/latest/fio_doc.html (io_submit_mode)",
        "https://github.com/axboe/fio/issues/333",
    ),
    pitfall_numbers="#30",
    in_job=_in_job,
    options=("rate_process", "rate_iops"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=1000000 --time_based "
        "--runtime=3"
    ),
)
