"""What a source does not show: what is assumed for the rules, and what the audit reports as unknown.

A missing option is always read in the job's favour, so no finding rests on an option that the source cannot show.
fio's header line shows only direction, block size, engine and depth. JSON omits options without a value, such as
`stonewall` and `refill_buffers`.
"""

from collections.abc import Iterator

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.external_counters import counted_nothing
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.load import part_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.rules.model import Case
from poolproof.rules.reported import ReportedDirection, parts

_SECTOR_BYTES = 512
_CLEARLY_MORE = 1.05
_NOTHING_COUNTED = (
    "whether the disks did any I/O: fio's disk statistics are all 0, as after a run served from RAM or one that lasts "
    "a fraction of a second, or with counters that do not work (NVMe multipath, zvols of OpenZFS 2.0)"
)


def jobs_of(made: SourceCommand | None, result: Outcome) -> JobFile:
    """Return the jobs that the rules may judge, with options assumed; empty if nothing is known about them."""
    if made is None:
        return JobFile(())
    if made.origin == "header":
        return JobFile(tuple(_from_header(job) for job in made.jobs.jobs))
    if made.origin == "printed options":
        return _in_phases(JobFile(tuple(_with_switches(job, result) for job in made.jobs.jobs)), result)
    return made.jobs


def _from_header(job: Job) -> Job:
    """Assume a final fsync for writers, and direct I/O for random or queued I/O in whole sectors."""
    assumed = {"end_fsync": "1"} if part_of(job).writes else {}
    if part_of(job).block_bytes % _SECTOR_BYTES == 0 and (part_of(job).is_random or part_of(job).depth > 1):
        assumed["direct"] = "1"
    return Job(job.name, {**assumed, **job.options}, job.line, job.lines)


def _with_switches(job: Job, result: Outcome) -> Job:
    """Assume refill_buffers for a writer, and time_based for a job that moved more than its size.

    fio prints neither option.
    """
    assumed = {"refill_buffers": "1"} if part_of(job).writes else {}
    if part_of(job).runtime_s and _exceeded_its_size(job, result):
        assumed["time_based"] = "1"
    absent = {name: value for name, value in assumed.items() if name not in job.options}
    return Job(job.name, {**job.options, **absent}, job.line, job.lines) if absent else job


def _exceeded_its_size(job: Job, result: Outcome) -> bool:
    """True if the job moved clearly more bytes than one pass over its size would."""
    size_bytes = part_of(job).io_size_bytes or part_of(job).size_bytes
    directions = [direction for part in result.parts if part.name == job.name for direction in _directions(part)]
    moved = sum(direction.io_bytes or 0 for direction in directions)
    if size_bytes is None or "loops" in job.options:
        return False
    return moved > _CLEARLY_MORE * size_bytes * part_of(job).clones


def _in_phases(jobs: JobFile, result: Outcome) -> JobFile:
    """Assume that jobs run one after another unless their times are known to overlap."""
    times = {job.name: _span_ms(result, job.name) for job in jobs.jobs}
    placed: list[Job] = []
    for job in jobs.jobs:
        is_parallel = any(_overlap(times[job.name], times[other.name]) for other in placed)
        if "stonewall" not in job.options and placed and not is_parallel:
            job = Job(job.name, {**job.options, "stonewall": "1"}, job.line, job.lines)
        placed.append(job)
    return JobFile(tuple(placed))


def _span_ms(result: Outcome, name: str) -> tuple[int, int] | None:
    """Return the start and end of a job in ms since the epoch; None if fio did not print when it started."""
    clones = [part for part in result.parts if part.name == name]
    starts = [part.job_start_ms for part in clones if part.job_start_ms is not None]
    if not clones or len(starts) != len(clones):
        return None
    return min(starts), max((part.job_start_ms or 0) + _longest_ms(part) for part in clones)


def _longest_ms(part: PartOutcome) -> int:
    return max((direction.runtime_ms or 0 for direction in _directions(part)), default=0)


def _directions(part: PartOutcome) -> list[Direction]:
    return [direction for direction in (part.read, part.write, part.trim, part.mixed) if direction is not None]


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """True if the spans share more than half of the shorter one."""
    if one is None or other is None:
        return False
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > min(one[1] - one[0], other[1] - other[0]) / 2


def missing_of(found: FoundResult, case: Case, context: Context) -> tuple[str, ...]:
    """Return what is unknown, the most important first; each entry fits after `not known:`."""
    return (*_about_the_job(found), *_about_the_values(found), *_about_the_machine(case, context))


def _about_the_job(found: FoundResult) -> Iterator[str]:
    if found.made is None:
        yield "the command or job: direct, size, files, depth, engine"
    elif found.made.origin == "header":
        yield "the command: fio's output does not show direct, size or the file names"
    elif found.made.origin == "printed options":
        yield "the command: fio does not print options without a value, such as refill_buffers"
    jobs = found.made.jobs.jobs if found.made else ()
    variables = sorted({name for job in jobs for name, value in job.options.items() if "$" in value})
    if variables:
        yield f"the values of the variables in {', '.join(variables)}"


def _about_the_values(found: FoundResult) -> Iterator[str]:
    if found.is_cut_off:
        yield "the rest of the output, which is cut off"
    every = list(parts(found.result))
    if any(part.figures.io_bytes is None for part in every):
        yield "how many bytes were transferred"
    if any(part.figures.runtime_ms is None for part in every):
        yield "how long it ran"
    if every and not any(_has_latency(part) for part in every):
        yield "latencies"
    yield from found.result.notes
    if counted_nothing(found.result):
        yield _NOTHING_COUNTED
    if not every and not any(job.error for job in found.result.parts):
        yield "rates and bytes"


def _has_latency(part: ReportedDirection) -> bool:
    return any(latency and latency.mean_ns for latency in (part.figures.lat, part.figures.clat)) or bool(part.median_ns)


def _about_the_machine(case: Case, context: Context) -> Iterator[str]:
    """Yield what the user could add with flags, and the counters if there are none."""
    unknown = []
    if context.file_system is None:
        unknown.append(("the file system", "--fs"))
    if context.ram_bytes is None:
        unknown.append(("RAM", "--ram"))
    if case.target is None or not (case.target.ceiling_read_bytes_per_s or case.target.ceiling_write_bytes_per_s):
        unknown.append(("the disks", "--devices"))
    if unknown:
        yield f"{', '.join(name for name, _ in unknown)} ({', '.join(flag for _, flag in unknown)})"
    if case.evidence is None:
        yield "the disks' own counters"
