"""Jobs that wait for each other, so that their I/Os keep a ratio (flow)."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.metrics import METRICS, MetricId
from poolproof.rules.fio_job import fio_job, groups_in_ratio
from poolproof.rules.model import Case, Finding, Findings, Rule, finding, fio_doc, fio_source, notes, suspects
from poolproof.rules.proof import LATENCIES, LATENCIES_WITH_READS, LATENCIES_WITH_WRITES

_RATES = tuple(metric.id for metric in METRICS if metric.is_rate)


def _waiting(case: Case) -> list[LoadPart]:
    return [job for group in groups_in_ratio(case.load) for job in group]


def _in_job(case: Case) -> Findings:
    waiting = _waiting(case)
    if waiting:
        yield notes(
            f"{case.who(waiting)} sets flow, so fio holds back I/Os until the other jobs have done their share: the "
            "slowest job determines all rates",
            weight=58,
        )
    yield from _of_queues(case, waiting)


def _in_result(case: Case) -> Findings:
    """Yield the findings on the jobs for their result too. The bytes match at any ratio and any queue depth."""
    if case.outcome is None or not (waiting := _waiting(case)):
        return
    yield finding(
        # readers of a text see the option in the job, but readers of a comparison do not
        "suspects" if case.quoted is None else "notes",
        f"{case.who(waiting)} sets flow, so fio held back I/Os until the other jobs had done their share: the slowest "
        "job determined all rates, and the layout may be capable of more",
        weight=72,
        metrics=_RATES,
    )
    yield from _of_queues(case, waiting)


def _of_queues(case: Case, waiting: Sequence[LoadPart]) -> Findings:
    deep = [job for job in waiting if job.queue_each > 1 and fio_job(job).text("io_submit_mode") != "offload"]
    emptied = [job for job in deep if _lets_its_queue_empty(job)]
    if left := [job for job in deep if job not in emptied]:
        yield _of_queue(
            case,
            left,
            "does not notice that an I/O in flight has finished, so the latencies include the time that fio waited",
        )
    if emptied:
        yield _of_queue(
            case,
            emptied,
            "lets all I/Os in flight finish first, so the queue is emptied again and again, and the latencies are "
            "those of fewer I/Os in flight",
        )


def _of_queue(case: Case, jobs: list[LoadPart], consequence: str) -> Finding:
    return suspects(
        f"{case.who(jobs)} sets flow and a queue depth of {jobs[0].queue_each}. While fio holds back an I/O, it "
        f"{consequence}",
        weight=71,
        metrics=_latencies(jobs) if case.outcome is not None else (),
    )


def _lets_its_queue_empty(job: LoadPart) -> bool:
    return bool(fio_job(job).number("flow_sleep")) or fio_job(job).text("zonemode") == "zbd"


def _latencies(jobs: list[LoadPart]) -> tuple[MetricId, ...]:
    reads, writes = any(job.reads for job in jobs), any(job.writes for job in jobs)
    if reads != writes:
        return LATENCIES_WITH_READS if reads else LATENCIES_WITH_WRITES
    return LATENCIES


RULE = Rule(
    title="Jobs that wait for each other",
    wrong=(
        "With flow, fio keeps the numbers of I/Os of several jobs in a ratio: a job that is ahead waits for the "
        "others, so the slowest job determines the rate of each. While a job waits, fio does not collect its I/Os that "
        "have finished, unless flow_sleep is set. With a queue depth above 1, their latencies therefore include this "
        "wait. With flow_sleep, fio empties the queue before it waits."
    ),
    shows=(
        "In a job and its result: flow is set, and several clones or jobs have the same flow_id. The finding about the "
        "rates changes only the verdict on rates, and these rates are neither compared nor ranked. In other people's "
        "results, it is a note. The finding about latencies also needs a queue depth above 1."
    ),
    error=(
        "Rates are too low, because jobs wait for each other. With a queue depth above 1, latencies are too high "
        "without flow_sleep, and too low for the stated depth with flow_sleep. Measured (fio 3.33, 4k random reads, "
        "flow=1 in both jobs): next to a job that read 100 times per second, a job with iodepth=16 had a median of "
        "150 ms. With flow_sleep=1000, its median was 48 µs, and its queue depth was 1 for 99% of the I/Os."
    ),
    fix=(
        "remove flow and measure each job alone, or use a single job with rwmixread; to measure latencies with flow, "
        "set iodepth=1 and raise numjobs"
    ),
    sources=(
        fio_source("3.42", "flow.c", "flow_threshold_exceeded"),
        fio_source("3.42", "backend.c", "do_io"),
        fio_doc("flow, flow_id, flow_sleep"),
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("flow", "flow_id", "iodepth", "flow_sleep"),
    cleared_by_byte_count=False,
    not_compared="the jobs wait for each other",
    commands=(
        "fio --rw=randread --bs=4k --size=256m --direct=1 --ioengine=libaio --iodepth=16 --flow=1 --time_based "
        "--runtime=3 --name=slow --filename=trap --rw=randread --bs=4k --size=256m --direct=1 --flow=1 "
        "--rate_iops=100 --time_based --runtime=3"
    ),
)
