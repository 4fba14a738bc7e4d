"""Results that fio merged over several sections of a job file (group_reporting).

fio prints one entry for such a group. Its name is that of the first section, and in JSON, its options are those of the
last section (3.33). If they were taken for the options of the whole group, one section's I/O would be judged by the
options of another one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from poolproof.load.fio.job import Job, Jobs, delay_ms
from poolproof.load.fio.load import part_of
from poolproof.load.fio.option_names import canonical
from poolproof.load.model import LoadPart
from poolproof.load.outcome import Direction, Outcome, PartOutcome

# options that do not change what kind of I/O a section does
_NOT_OF_IO = frozenset(
    (
        "name", "description", "filename", "filename_format", "directory", "opendir", "unique_filename", "offset",
        "offset_increment", "numjobs", "group_reporting", "new_group", "cpus_allowed", "cpus_allowed_policy",
        "cpumask", "numa_cpu_nodes", "numa_mem_policy", "randseed",
    )
)  # fmt: skip
_MOST_DIGITS = 5


def described(
    common: Mapping[str, str | None],
    own: Mapping[str, str | None],
    ways: Mapping[str, Direction | None],
    job_runtime_ms: float | None,
    *,
    is_only: bool,
) -> tuple[dict[str, str], int]:
    """Return the options of all jobs that a JSON entry covers, and the number of these jobs.

    If the entry also covers other sections, the options that each section sets on its own are unknown. Only the common
    options are then returned, with one clone per section, or no options if a section's own options change its I/O.

    `common`, `own`: the printed options of all sections, and those of one section.
    `ways`: the entry's I/O in each direction.
    `is_only`: True if no other entry has the same name. Otherwise, the entry covers a single clone.
    """
    shared = {canonical(name): value or "" for name, value in common.items()}
    options = {**shared, **{canonical(name): value or "" for name, value in own.items()}}
    number = options.get("numjobs", "")
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    clones = max(1, int(number)) if is_only and is_number else 1
    ran_together = _ran_together(ways, job_runtime_ms)
    if not is_only or not options or part_of(Job("", options)).verifies:
        return options, clones
    if ran_together <= clones if ran_together else not _does_more(options, ways):
        return options, clones
    is_known = "rw" in shared and {canonical(name) for name in own} <= _NOT_OF_IO
    jobs = max(ran_together, clones)
    return {**shared, "numjobs": str(jobs)} if is_known else {}, jobs


def _ran_together(ways: Mapping[str, Direction | None], job_runtime_ms: float | None) -> int:
    """Return the number of jobs whose run times add up to the entry's total run time, or 0 if it is unknown."""
    longest_ms = max((each.runtime_ms or 0 for each in ways.values() if each is not None), default=0)
    return round(job_runtime_ms / longest_ms) if job_runtime_ms and longest_ms else 0


def _does_more(options: Mapping[str, str], ways: Mapping[str, Direction | None]) -> bool:
    """True if the entry has I/O in a direction in which a job with these options does none."""
    if "rw" not in options:
        return False
    part = part_of(Job("", options))
    done = {name for name, direction in ways.items() if direction is not None and direction.ios}
    return bool(done - {"mixed"} - set(_directions(part)))


def _directions(part: LoadPart) -> Iterator[str]:
    yield from (name for name, does in (("read", part.reads), ("write", part.writes), ("trim", part.trims)) if does)


def apart(result: Outcome, jobs: Jobs) -> Outcome:
    """Return the result with a separate part for each section, if only one section of a group does each kind of I/O.

    `jobs`: the jobs that produced the result, in order.
    """
    names = [job.name for job in jobs]
    known = {part.name for part in result.parts}
    if not known or len(set(names)) < len(names) or len(known) < len(result.parts) or not known <= set(names):
        return result
    starts = sorted(names.index(part.name) for part in result.parts)
    sections = {
        names[start]: (jobs[start], *takewhile(lambda job: not starts_group(job), jobs[start + 1 : end]))
        for start, end in zip(starts, [*starts[1:], len(jobs)], strict=True)
    }  # fio merges sections of a group that follow one another
    return replace(result, parts=tuple(each for part in result.parts for each in _split(part, sections[part.name])))


def starts_group(job: Job) -> bool:
    """True if fio reports a job in another group than the job before it."""
    return job.flag("new_group") or job.flag("stonewall")


def _split(part: PartOutcome, sections: Sequence[Job]) -> Iterator[PartOutcome]:
    loads = [part_of(job) for job in sections]
    of_each = {name: [load for load in loads if name in _directions(load)] for name in part.directions}
    is_merged = len(loads) > 1 and part.clones > loads[0].clones and not any(load.verifies for load in loads)
    if not is_merged or any(len(owners) != 1 for owners in of_each.values()):
        yield part
        return
    unknown = max(0, part.clones - sum(load.clones for load in loads))  # clones of any of the sections
    syncing = [load for load in loads if load.syncs and load.writes]
    for load, job in zip(loads, sections, strict=True):
        own = {name: part.directions[name] for name, owners in of_each.items() if owners[0] is load}
        syncs = syncing == [load]
        if own:
            yield PartOutcome(
                name=load.name,
                error=part.error,
                clones=load.clones + unknown,
                options=dict(job.options),
                read=own.get("read"),
                write=own.get("write"),
                trim=own.get("trim"),
                sync=part.sync if syncs else None,
                syncs=part.syncs if syncs else None,
                delay_ms=delay_ms(job.options),
                host=part.host,
                group=part.group,
            )
