"""What a source does not tell of a job, read in the job's favour: no finding may rest on an option that is not there.

fio's header line knows direction, block size, engine and depth only. JSON leaves out switches that were given without
a value, `stonewall` and `refill_buffers` among them.
"""

from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import part_of
from poolproof.load.fio.makers import SourceCommand
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_SECTOR = 512
_MORE = 1.05


def jobs_of(made: SourceCommand | None, result: Outcome) -> JobFile:
    """The jobs that the rules may judge; none where nothing is known of them."""
    if made is None:
        return JobFile(())
    if made.origin == "header":
        return JobFile(tuple(_from_header(job) for job in made.jobs.jobs))
    if made.origin == "printed options":
        return _in_phases(JobFile(tuple(_with_switches(job, result) for job in made.jobs.jobs)), result)
    return made.jobs


def _from_header(job: Job) -> Job:
    """Direct where that is the harmless reading, and synced at its end."""
    assumed = {"end_fsync": "1"} if part_of(job).writes else {}
    if part_of(job).block_bytes % _SECTOR == 0 and (part_of(job).is_random or part_of(job).depth > 1):
        assumed["direct"] = "1"
    return Job(job.name, {**assumed, **job.options}, job.line, job.lines)


def _with_switches(job: Job, result: Outcome) -> Job:
    """A writer may have refilled its buffers, and what moved more than its size was time_based: fio prints neither
    switch.
    """
    assumed = {"refill_buffers": "1"} if part_of(job).writes else {}
    if part_of(job).runtime_s and _went_round(job, result):
        assumed["time_based"] = "1"
    missing = {name: value for name, value in assumed.items() if name not in job.options}
    return Job(job.name, {**job.options, **missing}, job.line, job.lines) if missing else job


def _went_round(job: Job, result: Outcome) -> bool:
    """It moved clearly more than it would have before it ended by itself."""
    asked = part_of(job).io_size_bytes or part_of(job).size_bytes
    mine = [part for each in result.parts if each.name == job.name for part in _parts(each)]
    moved = sum(part.io_bytes or 0 for part in mine)
    return asked is not None and "loops" not in job.options and moved > _MORE * asked * part_of(job).clones


def _in_phases(jobs: JobFile, result: Outcome) -> JobFile:
    """Sections that are not seen to run at once are taken to follow each other."""
    times = {job.name: _span(result, job.name) for job in jobs.jobs}
    placed: list[Job] = []
    for job in jobs.jobs:
        beside = any(_overlap(times[job.name], times[other.name]) for other in placed)
        known = "stonewall" in job.options or not placed or beside
        placed.append(job if known else Job(job.name, {**job.options, "stonewall": "1"}, job.line, job.lines))
    return JobFile(tuple(placed))


def _span(result: Outcome, name: str) -> tuple[int, int] | None:
    """Start and end of a job in ms of the clock; None where fio did not print its start."""
    mine = [job for job in result.parts if job.name == name]
    starts = [job.job_start_ms for job in mine if job.job_start_ms is not None]
    if not mine or len(starts) != len(mine):
        return None
    return min(starts), max((job.job_start_ms or 0) + _longest_ms(job) for job in mine)


def _longest_ms(job: PartOutcome) -> int:
    return max((part.runtime_ms or 0 for part in _parts(job)), default=0)


def _parts(job: PartOutcome) -> list[Direction]:
    return [part for part in (job.read, job.write, job.trim, job.mixed) if part is not None]


def _overlap(mine: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    if mine is None or other is None:
        return False
    together = min(mine[1], other[1]) - max(mine[0], other[0])
    return together > min(mine[1] - mine[0], other[1] - other[0]) / 2
