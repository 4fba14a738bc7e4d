"""Figures whose direction their source does not tell, or tells wrong, under the direction that their job has.

A lone latency line names none; and under `unified_rw_reporting=1` a terse line has the sum of all directions where
reads stand otherwise.
"""

from dataclasses import replace

from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import part_of
from poolproof.load.outcome import Outcome, PartOutcome


def in_its_directions(result: Outcome, jobs: JobFile) -> Outcome:
    """The result with each job's figures in the directions that the jobs leave no doubt of."""
    if not jobs.jobs or any("$" in value for job in jobs.jobs for value in job.options.values()):
        return result
    placed = tuple(_placed(job, jobs) for job in result.parts)
    return result if placed == result.parts else replace(result, parts=placed)


def _placed(result: PartOutcome, jobs: JobFile) -> PartOutcome:
    mine = [job for job in jobs.jobs if job.name == result.name] or list(jobs.jobs)
    if _only(result, "read") and all(_is_unified(job) for job in mine):
        return replace(result, read=None, mixed=result.read)
    if not _only(result, "mixed") or any(_is_unified(job) or part_of(job).verifies for job in mine):
        return result
    if all(part_of(job).reads and not part_of(job).writes for job in mine):
        return replace(result, read=result.mixed, mixed=None)
    if all(job.rw in ("write", "randwrite") for job in mine):
        return replace(result, write=result.mixed, mixed=None)
    return result


def _only(result: PartOutcome, direction: str) -> bool:
    """That direction and no other has figures."""
    return [name for name in ("read", "write", "trim", "mixed") if getattr(result, name) is not None] == [direction]


def _is_unified(job: Job) -> bool:
    """All directions are counted as one."""
    return (job.text("unified_rw_reporting") or "0").strip() in ("1", "mixed")
