"""Rate, latency and queue depth must agree."""

from collections.abc import Iterable
from functools import partial

from poolproof.load.outcome import PartOutcome
from poolproof.rules.fio_job import fio_job
from poolproof.rules.flow import proves
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ReportedDirection, each_job, job_of, parts
from poolproof.rules.reproduction import script
from poolproof.units import format_count, format_duration

_TOO_MANY = 1.1
_TOO_FEW = 0.5
_SHORTEST_MS = 500


def _in_result(case: Case) -> Iterable[Finding]:
    return each_job(case.outcome, partial(_of_job, case))


def _of_job(case: Case, job: PartOutcome) -> Finding | None:
    mine = [part for part in parts(case.outcome) if part.job is job]
    queue, in_flight = _queue(case, job, mine), _in_flight(mine)
    if queue is None or in_flight is None:
        return None
    if in_flight > _TOO_MANY * queue:
        return _impossible(case, mine, in_flight, queue)
    if in_flight < _TOO_FEW * queue and _keeps_queue_full(case, mine[0]):
        return _idle(in_flight, queue)
    return None


def _in_flight(mine: list[ReportedDirection]) -> float | None:
    """Return IOPS × mean latency over all directions, the average I/Os in flight; None if a value is missing."""
    products = [_product(part) for part in mine]
    if not products or any(product is None for product in products):
        return None
    return sum(product for product in products if product is not None)


def _product(part: ReportedDirection) -> float | None:
    figures, latency = part.figures, part.total
    if figures.iops is None or latency is None or not latency.mean_ns:
        return None
    long_enough = figures.runtime_ms is None or figures.runtime_ms >= _SHORTEST_MS
    return figures.iops * latency.mean_ns / 1e9 if long_enough else None


def _queue(case: Case, result: PartOutcome, mine: list[ReportedDirection]) -> int | None:
    """Return the most I/Os these results can have in flight: of all clones of a group, or of one job."""
    if not mine or not case.load.parts:
        return None
    if case.outcome is not None and len(case.outcome.parts) == 1:
        return case.load.queue
    job = job_of(case, mine[0])
    if job is None:
        return None
    return job.queue if fio_job(job).flag("group_reporting") else job.queue // job.clones * result.clones


def _keeps_queue_full(case: Case, part: ReportedDirection) -> bool:
    """True if nothing in the job explains an empty queue: no pauses, no syncs, no blocking submission."""
    job = job_of(case, part)
    if job is None or job.is_synchronous or not job.direct:
        return False
    return not (job.rate_limited or job.thinks or job.syncs or job.is_mixed)


def _impossible(case: Case, mine: list[ReportedDirection], in_flight: float, queue: int) -> Finding:
    sums = " + ".join(_term(part) for part in mine)
    return Finding(
        rule="littles-law",
        effect="suspects" if proves(case) else "refutes",
        message=f"{sums} means {in_flight:.3g} I/Os in flight, but the job allows {queue}: latency or rate is wrong",
        fix="fio --cpuclock-test; clocksource=clock_gettime; and check that the results belong to this job",
        weight=65,
    )


def _term(part: ReportedDirection) -> str:
    mean_ns = part.total.mean_ns if part.total else None
    return f"{format_count(part.figures.iops or 0)} IOPS × {format_duration((mean_ns or 0) / 1e9)}"


def _idle(in_flight: float, queue: int) -> Finding:
    return Finding(
        rule="littles-law",
        effect="notes",
        message=f"on average {in_flight:.2g} of the {queue} I/Os that the job allows were in flight: submission or "
        "fio itself held them back, not the disk",
        fix="more jobs with a smaller iodepth each; check if a CPU is saturated",
        weight=35,
    )


RULE = Rule(
    id="littles-law",
    title="Rate, latency and depth do not agree",
    wrong="The number of I/Os in flight is the rate times the mean latency. It can't be more than iodepth × numjobs: "
    "if it is, the clock was wrong or the results belong to different runs.",
    shows="In a result: IOPS × mean latency is over 1.1 × the queue of the job. If it is far below the queue in an "
    "asynchronous direct job that never pauses, the finding is a note: the queue was mostly empty. Neither value "
    "includes time in fsync.",
    error="Too high or too low.",
    fix="Check the clock (fio --cpuclock-test) and the origin of the results.",
    sources=("Little, A Proof for the Queuing Formula L = λW, 1961", "https://github.com/axboe/fio/issues/630"),
    pitfall_numbers="A7",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=randread --bs=4k --size=256m --direct=1 --ioengine=libaio --iodepth=4 "
        "--time_based --runtime=5   # multiply IOPS by the mean `lat`: 4"
    ),
)
