"""Handle options that a text does not show: the values that rules assume, and the unknown facts that audit lists.

A missing option is given the value most favourable to the job, so that no finding is based on a guess. fio's header
line shows only the direction, block size, engine and depth. fio's JSON omits options without a value, such as
`stonewall` and `refill_buffers`. A script may set options with variables (`--direct=$DIRECT`, `variable_options.py`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.counted_syncs import writes_per_sync
from poolproof.foreign.audit.external_counters import counted_nothing
from poolproof.foreign.audit.variable_options import has_variable_options, variable_options
from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.load import part_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.outcome import Outcome
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.model import Case
from poolproof.rules.reported import parts

_SECTOR_BYTES = 512
_CLEARLY_MORE = 1.05
_NOTHING_COUNTED = (
    "whether the disks did any I/O: fio's disk statistics are all 0. Either RAM served the I/O, or the run lasted a "
    "fraction of a second, or the counters do not work (NVMe multipath, zvols of OpenZFS 2.0)"
)
_PASTE = "(if you know it, paste it above the output, in the same file)"
_ONLY_BOUNDS = " for the measurement alone (fio's disk statistics also count what fio did before it)"


def jobs_of(made: SourceCommand | None, result: Outcome) -> Jobs:
    """Return the jobs that produced a result, or an empty tuple if unknown.

    Options that the text cannot show are assumed.
    """
    if made is None:
        return ()
    if made.origin == "header":
        return tuple(_with(job, _assumed_for_header(job, result)) for job in made.jobs)
    if made.origin == "printed options":
        jobs = [_with(job, _assumed_for_printed(job, result)) for job in made.jobs]
        return tuple(_in_phases(jobs, result))
    has_others = made.origin == "command" and has_variable_options(made.text)
    return tuple(_with_assumed(job, has_others=has_others) for job in made.jobs)


def assumed_options(made: SourceCommand | None, jobs: Jobs) -> frozenset[str]:
    """Return the names of the options that `jobs_of` assumed. `jobs`: the jobs that `jobs_of` returned."""
    shown = made.jobs if made is not None else ()
    return frozenset(
        name
        for job, other in zip(jobs, shown, strict=False)
        for name, value in job.options.items()
        if other.options.get(name) != value
    )


def _with_assumed(job: Job, *, has_others: bool) -> Job:
    """Return a job of a command, with values for the options that the command sets with variables of a script.

    `has_others`: True if a variable may contain other options, so that any option may be set.
    """
    assumed = variable_options(job, has_others=has_others)
    return replace(job, options={**job.options, **assumed}) if assumed else job


def _with(job: Job, assumed: dict[str, str]) -> Job:
    """Return the job with the assumed options added. Options that the job already sets keep their values."""
    return replace(job, options={**job.options, **assumed, **job.options})


def _assumed_for_header(job: Job, result: Outcome) -> dict[str, str]:
    """Return the options to assume for a job if only fio's header line is known.

    A job that writes gets `fsync` if fio counted regular syncs, and `end_fsync` otherwise. A job with random or queued
    I/O gets `direct` if its block size is a multiple of 512 bytes.
    """
    part = part_of(job)
    interval = writes_per_sync(each for each in result.parts if each.name == job.name)
    synced = {"end_fsync": "1"} if interval is None else {"fsync": str(interval)}
    assumed = synced if part.writes else {}
    if part.block_bytes % _SECTOR_BYTES == 0 and (part.is_random or part.depth > 1):
        assumed["direct"] = "1"
    return assumed


def _assumed_for_printed(job: Job, result: Outcome) -> dict[str, str]:
    """Return the options to assume for a job whose other options are known from fio's output.

    fio's output never shows `refill_buffers` and `time_based`. A job that writes therefore gets `refill_buffers`. A job
    with a runtime but no `loops` gets `time_based` if it transferred over 5% more bytes than its size. A job with fewer
    results than numjobs clones gets `group_reporting`.
    """
    part = part_of(job)
    assumed = {"refill_buffers": "1"} if part.writes else {}
    size_bytes = part.io_size_bytes or part.size_bytes
    clones = [each for each in result.parts if each.name == job.name]
    if sum(each.clones for each in clones) < part.clones:
        assumed["group_reporting"] = "1"
    if part.runtime_s and size_bytes is not None and "loops" not in job.options:
        moved = sum(direction.io_bytes or 0 for clone in clones for direction in clone.directions.values())
        if moved > _CLEARLY_MORE * size_bytes * part.clones:
            assumed["time_based"] = "1"
    return assumed


def _in_phases(jobs: list[Job], result: Outcome) -> Iterator[Job]:
    """Yield the jobs, adding `stonewall` to all except the first one and those that overlap with an earlier job."""
    earlier: list[tuple[int, int] | None] = []
    for number, job in enumerate(jobs):
        span = _span_ms(result, job.name)
        is_parallel = any(_overlap(span, other) for other in earlier)
        earlier.append(span)
        yield job if number == 0 or is_parallel or "stonewall" in job.options else _with(job, {"stonewall": "1"})


def _span_ms(result: Outcome, name: str) -> tuple[int, int] | None:
    """Return the job's start and end in milliseconds since 1970, or None if the start of a numjobs clone is unknown."""
    clones = [part for part in result.parts if part.name == name]
    starts = [part.job_start_ms for part in clones if part.job_start_ms is not None]
    if not clones or len(starts) != len(clones):
        return None
    return min(starts), max(start + part.longest_ms for start, part in zip(starts, clones, strict=True))


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """True if the two time spans overlap for more than half of the shorter one."""
    if one is None or other is None:
        return False
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > min(one[1] - one[0], other[1] - other[0]) / 2


def missing_of(
    found: FoundResult, case: Case, context: Context, foreign: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the unknown facts about a result, most important first. Each is worded to follow `not known:`.

    `foreign`: the facts that the format of another program does not show, or None if the result is fio's.
    """
    if foreign is not None:
        has_ram = context.ram_bytes is not None or bool(case.target and case.target.ram_bytes)
        shown = (gap for gap in foreign if not (has_ram and "(--ram)" in gap))
        return (*shown, *_about_the_machine(case, context))
    return (*_about_the_job(found.made), *_about_the_values(found, case), *_about_the_machine(case, context))


def _about_the_job(made: SourceCommand | None) -> Iterator[str]:
    if made is None:
        yield f"the command or job, with its direct setting, size, files, queue depth and engine {_PASTE}"
        return
    if made.origin == "header":
        yield f"the command: fio's output does not show the direct setting, the size or the file names {_PASTE}"
    elif made.origin == "printed options":
        yield "the command: fio does not print options without a value, such as refill_buffers"
    variables = sorted({name for job in made.jobs for name, value in job.options.items() if "$" in value})
    if variables:
        yield f"the values of the variables in {', '.join(variables)}"


def _about_the_values(found: FoundResult, case: Case) -> Iterator[str]:
    if found.is_cut_off:
        yield "the rest of the output, which was cut off"
    if found.format == "progress":
        yield "the mean of the whole run: this is the rate of one moment"
    yield from _other_clones(found, case)
    reported = list(parts(found.result))
    if any(part.figures.io_bytes is None for part in reported):
        yield "the number of bytes transferred"
    if any(part.figures.runtime_ms is None for part in reported):
        yield "the run time"
    latencies = [latency for part in reported for latency in (part.figures.lat, part.figures.clat) if latency]
    if reported and not any(each.mean_ns for each in latencies) and not any(part.median_ns for part in reported):
        yield "latencies"
    yield from found.result.notes
    if counted_nothing(found.result):
        yield _NOTHING_COUNTED
    if not reported and not any(job.error for job in found.result.parts):
        yield "rates and bytes"


def _other_clones(found: FoundResult, case: Case) -> Iterator[str]:
    """Yield the number of a job's clones whose values are missing from the text, if clones report separately."""
    quoted = Counter[str]()
    for part in found.result.parts:
        quoted[part.name] += part.clones
    for job in case.jobs:
        left = job.clones - quoted[job.name]
        if quoted[job.name] and left > 0 and is_fio_job(job) and not fio_job(job).flag("group_reporting"):
            yield f"the values of {left} of the job's {job.clones} clones"


def _about_the_machine(case: Case, context: Context) -> Iterator[str]:
    """Yield the unknown facts that the user can supply as options, and the disks' counters if they are unknown."""
    target = case.target
    unknown = {"the file system": "--fs", "RAM": "--ram", "the disks": "--devices"}
    if context.file_system is not None or (target and target.file_system):
        del unknown["the file system"]
    if context.ram_bytes is not None or (target and target.ram_bytes):
        del unknown["RAM"]
    if target and (target.ceiling_read_bytes_per_s or target.ceiling_write_bytes_per_s):
        del unknown["the disks"]
    if unknown:
        yield f"{', '.join(unknown)} ({', '.join(unknown.values())})"
    if case.evidence is None:
        is_partly = case.outcome is not None and bool(case.outcome.disks) and not counted_nothing(case.outcome)
        yield f"the disks' counters{_ONLY_BOUNDS if is_partly else ''}"
