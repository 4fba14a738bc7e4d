"""A rate that the job limits itself."""

from poolproof.load.model import LoadPart
from poolproof.metrics import METRICS
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule, finding, fio_doc, fio_source
from poolproof.rules.reported import ReportedDirection, each_part

RATES = tuple(metric.id for metric in METRICS if metric.is_rate)
_REACHED = 0.9


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = case.job_named(part.job.name)
    if job is None or not job.rate_limited:
        return None
    for option, reached in (("rate_iops", part.figures.iops), ("rate", part.figures.bandwidth_bytes)):
        most = _most(job, option, part)
        if most and reached is not None and reached >= _REACHED * most:
            return finding(
                "suspects" if case.quoted is None else "notes",  # it can mislead a comparison, not a reader of the job
                f"{option}={fio_job(job).text(option)} limits the {part.kind}s, and they reached this limit: the rate "
                "is the one that was asked for, not the one that the layout can reach. The latencies are valid at this "
                "rate",
                weight=72,
                metrics=RATES,
            )
    return None


def _most(job: LoadPart, option: str, part: ReportedDirection) -> float | None:
    """Return the limit of the direction for all clones that the result covers; None without a limit.

    The values of a list are for reads, writes and trims. If one is missing, the previous value is used.
    """
    fio = fio_job(job)
    values = [value for value in (fio.text(option) or "").split(",") if value.strip()]
    if not values:
        return None
    value = values[min(0 if part.kind == "read" else 1, len(values) - 1)]
    each = fio.bytes_in(option, value)
    return each * (job.clones if fio.flag("group_reporting") else part.job.clones) if each else None


RULE = Rule(
    title="The rate is the limit that was set",
    wrong="rate and rate_iops make fio wait before each I/O. A layout that could do more shows exactly this rate, so "
    "all layouts look equal and perfectly steady.",
    shows="In a result: rate or rate_iops is set, and 90 % of it was reached. Only the verdict of rates changes. Such "
    "a rate is not compared or ranked. In other people's results, this is reported as a note.",
    error="Too low: it is the limit. The latencies are valid at this rate.",
    fix="compare the latencies at this rate (metric: p99), or remove rate and rate_iops to measure the speed",
    sources=(fio_doc("rate, rate_iops"), fio_source("3.42", "backend.c", "usec_for_io")),
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --rate_iops=100 --time_based --runtime=3",
)
