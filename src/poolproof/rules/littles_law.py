"""Checks that rate, latency and queue depth agree."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.load.outcome import PartOutcome
from poolproof.rules.coverage import proves
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case, Finding, Rule, finding, fio_issue, fio_source, notes, suspects
from poolproof.rules.reported import ReportedDirection, each_job, parts_of
from poolproof.units import format_count, format_duration, format_number

_LEAST_DEPTH = 4
_LEAST_ALONE, _MOST_ALONE = 0.5, 1.1  # I/Os in flight if only one is in flight at a time


def _in_reported_job(case: Case, reported: PartOutcome) -> Finding | None:
    directions = list(parts_of(reported))
    job = case.job_named(reported.name)
    in_turn = job is not None and not job.is_mixed
    if job is None and not case.jobs:
        return _at_stated_depth(case, directions)
    queue, in_flight = _queue(case, job, reported), _in_flight(directions, in_turn=in_turn)
    pauses = job is not None and (job.thinks or job.syncs or job.is_mixed)
    if queue is None or in_flight is None or (job is not None and job.averages_runs):
        return None
    if late := next((part for part in directions if _exceeds_run(part)), None):
        mean_ns = late.total.mean_ns if late.total else None
        return notes(
            f"the mean latency of {format_duration((mean_ns or 0) / 1e9)} is longer than the run, so it is not a "
            "latency. fio prints such values if the job disables clat or slat. The rates do not depend on them",
            weight=35,
        )
    most = 1.1 * queue * _longer_than_run(directions, job)
    if in_flight > most and _may_cover_other_jobs(reported):
        return None
    if in_flight > most:
        return finding(
            "suspects" if proves(case) else "refutes",
            f"{' + '.join(_term(part) for part in directions)} means {format_number(in_flight, 3)} I/Os in flight, but "
            f"the job allows only {queue}: the latency or the rate is wrong",
            weight=65,
            fix="run fio --cpuclock-test, set clocksource=clock_gettime, and check that the results belong to this job",
        )
    if job is None or (reported.clones < job.clones and not fio_job(job).flag("group_reporting")):
        return None  # a text may quote only some of the clones
    if len(case.jobs) > 1 and not fio_job(job).flag("group_reporting"):
        queue = job.queue // job.clones * reported.clones  # the values of the other jobs may be missing
    if in_flight < 0.5 * queue and job.direct and not job.is_synchronous and not pauses:
        if fio_job(job).seconds("latency_target", bare_us=1):
            return None  # chosen-depth reports it
        if job.rate_limited and case.quoted is not None:
            return None
        if job.rate_limited:
            return notes(
                f"on average, only {format_number(in_flight)} of the {queue} I/Os that the job allows were in flight: "
                "before fio waits for rate or rate_iops, it lets all I/Os in flight finish, so the latencies are not "
                "those at this depth",
                weight=60,
                fix="state the latencies for this rate instead of the depth, or remove the limit to fill the queue",
            )
        return notes(
            f"on average, only {format_number(in_flight)} of the {queue} I/Os that the job allows were in flight: "
            "submission or fio itself was the limit, not the disk",
            weight=35,
            fix="use more jobs with a smaller iodepth each, and check whether a CPU is saturated",
        )
    return None


def _at_stated_depth(case: Case, directions: Sequence[ReportedDirection]) -> Finding | None:
    """Return a finding if the text gives a queue depth, but only one I/O at a time was in flight.

    fio starts the next I/O as soon as one is done, so the mean number in flight is close to the depth. People may print
    a percentile as the latency, but a percentile above the mean only increases the number in flight.
    """
    depth, words = case.quoted.stated_depth if case.quoted else (0, "")
    found = [(part, _in_flight([part], in_turn=False) or 0.0) for part in directions]
    alone = next(((part, flying) for part, flying in found if _LEAST_ALONE <= flying <= _MOST_ALONE), None)
    if depth < _LEAST_DEPTH or alone is None or proves(case):
        return None
    part, in_flight = alone
    return suspects(
        f"{_term(part)} means that {format_number(in_flight)} I/Os were in flight on average, but {words} a queue "
        f"depth of {depth}: either the depth had no effect, or one of the values is wrong",
        weight=60,
        fix="use an asynchronous engine (io_uring or libaio) with direct=1, and check iodepth in fio's output",
    )


def _exceeds_run(part: ReportedDirection) -> bool:
    """True if the mean latency is more than twice the runtime, which is impossible, and more than 2 s."""
    mean_ns = part.total.mean_ns if part.total else None
    return bool(mean_ns and part.figures.runtime_ms and mean_ns > 2e6 * max(part.figures.runtime_ms, 1000))


def _longer_than_run(directions: Sequence[ReportedDirection], job: LoadPart | None) -> float:
    """Return how many times longer than the run the time can be in which the I/Os were in flight.

    fio does not count the ramp, but it counts the whole latency of the I/Os that were in flight when the ramp ended.
    """
    runs_s = [part.figures.runtime_ms / 1000 for part in directions if part.figures.runtime_ms]
    if job is None or not job.ramp_s or not runs_s:
        return 1.0
    found = [each for part in directions for each in (part.completion, part.total) if each is not None]
    slowest_s = max(
        (max((*each.bins_ns, *each.percentiles_ns.values()), default=0.0) / 1e9 for each in found), default=0.0
    )
    return 1.0 + min(job.ramp_s, slowest_s or job.ramp_s) / max(runs_s)


def _in_flight(directions: Sequence[ReportedDirection], *, in_turn: bool) -> float | None:
    """Return the mean number of I/Os in flight: IOPS × mean latency, added up for reads and writes.

    If one of them ended earlier, its number counts for its part of the run.
    Returns None if a value is missing, or if either reads or writes ran for less than 0.5 s.
    `in_turn`: True if reads and writes took turns, as in a job that verifies what it wrote. In that case, the larger of
    the two numbers is returned.
    """
    found = []
    longest_ms = max((part.figures.runtime_ms or 0 for part in directions), default=0)
    for part in directions:
        figures, latency = part.figures, part.total
        is_short = figures.runtime_ms is not None and figures.runtime_ms < 500
        if figures.iops is None or latency is None or not latency.mean_ns or is_short:
            return None
        of_run = 1.0 if in_turn else (figures.runtime_ms or longest_ms) / longest_ms if longest_ms else 1.0
        found.append(figures.iops * of_run * latency.mean_ns / 1e9)
    return (max(found) if in_turn else sum(found)) if found else None


def _queue(case: Case, job: LoadPart | None, reported: PartOutcome) -> int | None:
    """Return the maximum number of I/Os in flight that the job of a result allows, or None if the job is unknown.

    The result may cover one job or all clones of a group. The number is also unknown if a command sets it with a
    variable of a script.
    """
    options = [
        fio_job(each).text(name) or "" for each in filter(is_fio_job, case.jobs) for name in ("iodepth", "numjobs")
    ]
    if any("$" in value for value in options):
        return None
    if case.jobs and case.outcome is not None and len(case.outcome.parts) == 1:
        # With group_reporting, a text may show fewer clones for its jobs than fio merged into the result.
        return max(case.load.queue, reported.clones * max(each.queue_each for each in case.jobs))
    if job is None:
        return None
    return job.queue if fio_job(job).flag("group_reporting") else job.queue // job.clones * reported.clones


def _may_cover_other_jobs(reported: PartOutcome) -> bool:
    """True if fio may have merged other sections of the job file into these values.

    With group_reporting, fio prints only the options of the first section. The total run time of all jobs shows how
    many were merged.
    """
    if "group_reporting" not in reported.options:
        return False
    total_ms = reported.job_runtime_ms
    return total_ms is None or total_ms > 1.2 * reported.clones * reported.longest_ms


def _term(part: ReportedDirection) -> str:
    mean_ns = part.total.mean_ns if part.total else None
    return f"{format_count(part.figures.iops or 0)} IOPS × {format_duration((mean_ns or 0) / 1e9)}"


RULE = Rule(
    title="Rate, latency and queue depth do not agree",
    wrong=(
        "The mean number of I/Os in flight is the rate times the mean latency. This number cannot be higher than "
        "iodepth × numjobs. If it is higher, the clock was wrong, or the values come from different runs."
    ),
    shows=(
        "In a result: IOPS × mean latency is more than 1.1 times the job's queue depth. After a ramp_time, the limit "
        "is higher, because fio counts the whole latency of the I/Os that were in flight when the ramp ended. If the "
        "product is less than half of the queue depth, the queue was less than half full on average, which is "
        "reported as a note. This note is limited to asynchronous direct jobs that are not mixed and not interrupted "
        "by thinktime or syncs, because the mean latency does not include such interruptions. If rate or rate_iops is "
        "set, the note names it as the cause; in other people's results, it is then left out. JSON with "
        "group_reporting is not checked if its total run time shows that it covers other jobs, or if it lacks this "
        "time. A mean latency of more than twice the runtime (and more than 2 s) is also a note, because it is not a "
        "latency. In a text: the row of a table, a sentence or the jobs give a queue depth of at least 4, but IOPS × "
        "mean latency is only 0.5 to 1.1."
    ),
    error="Too high or too low.",
    fix="check the clock (fio --cpuclock-test) and the origin of the results",
    sources=(
        fio_source("3.42", "backend.c", "do_io, wait_for_completions"),
        "Little, A Proof for the Queuing Formula L = λW, 1961",
        fio_issue(630),
    ),
    in_result=each_job(_in_reported_job),
    commands="fio --rw=randread --size=256m --direct=1 --ioengine=libaio --iodepth=4 --runtime=5  # IOPS × mean lat: 4",
)
