"""Split the result of a fio run into its groups of jobs.

With `stonewall` or `new_group`, fio reports jobs in groups, which usually run one after the other. If one group reaches
243,000 IOPS and another 26,100, these are two results, and their mean describes neither. Groups that ran at the same
time, according to fio's start times, are not split, because the disks had to deliver their sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.merge import groups_ran_at_once
from poolproof.load.outcome import PartOutcome


@dataclass(frozen=True)
class ReportingGroup:
    """One group of the jobs in a fio run (`found`), and the result of the entire run (`whole`).

    If the run is not split, `found` and `whole` are the same object.
    """

    found: FoundResult
    whole: FoundResult


def groups_of(found: FoundResult) -> Iterator[ReportingGroup]:
    """Yield each group of a run as a separate result, ordered by group number.

    Each group keeps the disk counters of the entire run, because they are an upper bound on the group's own I/O.
    """
    numbers = sorted({part.group for part in found.result.parts})
    if len(numbers) < 2 or groups_ran_at_once(found.result):
        yield ReportingGroup(found, found)
        return
    begins = dict.fromkeys(numbers, found.line)
    for part, line in reversed(list(zip(found.result.parts, found.part_lines, strict=False))):
        begins[part.group] = line
    for number in numbers:
        parts = tuple(part for part in found.result.parts if part.group == number)
        later = [line for line in begins.values() if line > begins[number]]
        totals = {number: found.result.groups[number]} if number in found.result.groups else {}
        yield ReportingGroup(
            replace(
                found,
                result=replace(found.result, parts=parts, groups=totals),
                line=begins[number],
                last_line=min(later) - 1 if later else found.last_line,
                made=_made(found.made, parts),
                part_lines=(),
            ),
            found,
        )


def _made(made: SourceCommand | None, parts: tuple[PartOutcome, ...]) -> SourceCommand | None:
    """Return the command with only the jobs of the group, or with all jobs if no job name matches.

    Returns None if the command is unknown.
    """
    if made is None:
        return None
    names = {part.name for part in parts}
    jobs = tuple(job for job in made.jobs if job.name in names)
    return replace(made, jobs=jobs) if jobs else made
