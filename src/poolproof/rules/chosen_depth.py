"""A queue depth that fio chooses so that a latency is not exceeded."""

from poolproof.metrics import METRICS
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Finding, Rule, fio_doc, fio_source, notes
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.units import format_number

_RATES = tuple(metric.id for metric in METRICS if metric.is_rate)


def _in_part(case: Case, part: ReportedDirection) -> Finding | None:
    job = case.job_named(part.job.name)
    iops, latency = part.figures.iops, part.total.mean_ns if part.total else None
    if job is None or not is_fio_job(job) or not iops or not latency:
        return None
    if not fio_job(job).seconds("latency_target", bare_us=1):
        return None
    return notes(
        f"latency_target={fio_job(job).text('latency_target')}: fio chose the queue depth that meets this target (on "
        f"average, {format_number(iops * latency / 1e9)} of {job.queue} {part.kind}s were in flight), so the rate is "
        "the one at this latency, and other layouts may have run at another depth",
        weight=66,
        metrics=_RATES,
    )


RULE = Rule(
    title="fio chose the queue depth",
    wrong="With latency_target, fio searches for the largest queue depth at which latency_percentile of the I/Os take "
    "at most latency_target. Each layout then runs at its own depth, so rates differ because the depths do.",
    shows="In a result: latency_target is set. The note gives the mean number of I/Os in flight, and is shown with "
    "each rate.",
    error="The rate is right for the chosen depth. Measured: 138 IOPS at depth 1 on a hard disk, and 3,024 IOPS on a "
    "loop file, with iodepth=64 in both jobs.",
    fix="state the depth or the latency with the rate, or remove latency_target to measure all layouts at iodepth",
    sources=(
        fio_source("3.42", "io_u.c", "lat_target_check, lat_target_failed, lat_target_success"),
        fio_doc("latency_target, latency_percentile, latency_window"),
    ),
    in_result=each_part(_in_part),
    cleared_by_byte_count=False,
    notes_are_remarks=True,
    commands="fio --rw=randread --bs=4k --size=256m --direct=1 --ioengine=libaio --iodepth=64 --latency_target=500us "
    "--latency_window=200ms --latency_percentile=95 --time_based --runtime=5",
)
