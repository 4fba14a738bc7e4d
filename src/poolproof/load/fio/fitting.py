"""Whether jobs can have made a result: nothing that the result tells contradicts them.

Names, directions, clones, what fio printed of the job itself; block sizes, which are bytes over I/Os; and run times,
which end at `runtime`.
"""

from collections.abc import Iterator

from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.fio.makers import SourceCommand
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_TELLING_PLACE = frozenset({"filename", "directory", "size", "runtime"})
_FEWEST_IOPS = 20  # fewer, and the whole number that fio prints is too coarse
_ROUNDING = 0.03
_SHORT_LAST = 0.1  # the last block of a file may be short
_LONGER = 1.5  # a slow disk ends what is in flight after the time is over
_DRAIN_MS = 10_000


def fits(result: Outcome, jobs: JobFile, own: SourceCommand | None) -> bool:
    """Nothing that the result tells, or that it prints of its own jobs, contradicts the jobs."""
    names = {job.name for job in jobs.jobs}
    told = [job for job in result.parts if job.name and not job.name.startswith("group ")]
    if any(job.name not in names for job in told):
        return False
    if any(job.clones > 1 and not _has_clones(jobs, job.clones) for job in told):
        return False
    if not (_fits_directions(result, jobs) and _fits_blocks(result, jobs) and _fits_times(result, jobs)):
        return False
    return own is None or _agrees(own, jobs)


def _has_clones(jobs: JobFile, clones: int) -> bool:
    """The jobs, or a group of them, have that many clones."""
    return clones in (load_of(jobs).clones, *(part_of(job).clones for job in jobs.jobs)) or any(
        _is_open(job, "numjobs") for job in jobs.jobs
    )


def _is_open(job: Job, name: str) -> bool:
    """The option holds a variable."""
    return "$" in (job.text(name) or "")


def _fits_directions(result: Outcome, jobs: JobFile) -> bool:
    if any(_is_open(job, "rw") for job in jobs.jobs):
        return True
    reads = any(job.read is not None for job in result.parts)
    writes = any(job.write is not None for job in result.parts)
    syncs = any(job.sync is not None for job in result.parts)
    may_read = load_of(jobs).reads or any(part_of(job).verifies for job in jobs.jobs)
    return (may_read or not reads) and (load_of(jobs).writes or not (writes or syncs))


def _fits_blocks(result: Outcome, jobs: JobFile) -> bool:
    """Bytes over I/Os lie between the smallest and the largest block."""
    if any("$" in value for job in jobs.jobs for value in job.options.values()):
        return True
    return all(_can_move(_candidates(job, jobs), part) for job in result.parts for part in _parts(job))


def _candidates(result: PartOutcome, jobs: JobFile) -> list[Job]:
    """The job of the result's name; all jobs where it has none."""
    return [job for job in jobs.jobs if job.name == result.name] or list(jobs.jobs)


def _parts(result: PartOutcome) -> Iterator[Direction]:
    return (part for part in (result.read, result.write) if part is not None)


def _can_move(jobs: list[Job], part: Direction) -> bool:
    block = _mean_block(part)
    if block is None:
        return True
    smallest, largest = (
        min(part_of(job).block_bytes for job in jobs),
        max(part_of(job).max_block_bytes for job in jobs),
    )
    return smallest * (1 - _SHORT_LAST) <= block * (1 + _rounding(part)) and block * (1 - _rounding(part)) <= largest


def _mean_block(part: Direction) -> float | None:
    if part.iops is None or part.iops < _FEWEST_IOPS:
        return None
    return part.bandwidth_bytes / part.iops if part.bandwidth_bytes else None


def _rounding(part: Direction) -> float:
    """How far bandwidth and IOPS as printed may be off together: the latter is cut to a whole number."""
    return _ROUNDING + 1 / (part.iops or _FEWEST_IOPS)


def _fits_times(result: Outcome, jobs: JobFile) -> bool:
    """None ran clearly longer than its `runtime`."""
    for job in result.parts:
        limits = [part_of(each).runtime_s for each in _candidates(job, jobs)]
        known = [limit for limit in limits if limit is not None]
        longest = max((part.runtime_ms or 0 for part in _parts(job)), default=0)
        if known and len(known) == len(limits) and longest > 1000 * _LONGER * max(known) + _DRAIN_MS:
            return False
    return True


def _agrees(own: SourceCommand, jobs: JobFile) -> bool:
    """What the result prints of a job is what the job of that name says."""
    by_name = {job.name: job for job in jobs.jobs}
    return all(_same_job(job, by_name[job.name], own) for job in own.jobs.jobs if job.name in by_name)


def _same_job(printed: Job, given: Job, own: SourceCommand) -> bool:
    if any("$" in value for value in given.options.values()):
        return True
    if any(
        printed.options.get(name, value) != value for name, value in given.options.items() if name in _TELLING_PLACE
    ):
        return False
    if not _same_clones(printed, given, own):
        return False
    # Which engine fio takes where none is asked for depends on the system: windowsaio, posixaio, psync, sync.
    same_engine = "ioengine" not in given.options or printed.engine == given.engine
    same = printed.rw == given.rw and same_engine and part_of(printed).depth == part_of(given).depth
    return same and ("bs" not in printed.options or part_of(printed).block_bytes == part_of(given).block_bytes)


def _same_clones(printed: Job, given: Job, own: SourceCommand) -> bool:
    """Of clones that report one by one, a text may quote some."""
    if "numjobs" not in printed.options:
        return True
    return part_of(printed).clones == part_of(given).clones or (
        own.origin == "header" and part_of(printed).clones < part_of(given).clones
    )
