"""Split a fio run's result into the run's groups of jobs.

With `stonewall` or `new_group`, fio reports groups of jobs. Groups usually run one after the other, and each has its
own rate. 243,000 and 26,100 IOPS are two results, and the mean over the whole run describes neither. If fio's start
times show that the groups ran at the same time, they stay together, because the disks had to deliver the sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.merge import groups_ran_at_once
from poolproof.load.outcome import PartOutcome


@dataclass(frozen=True)
class ReportingGroup:
    """One group of a run, and the result of the whole run. `found` is `whole` if the run is not split."""

    found: FoundResult
    whole: FoundResult


def groups_of(found: FoundResult) -> Iterator[ReportingGroup]:
    """Yield each group of a run as a separate result, in the order of the groups' numbers.

    Every group keeps the disks' counts for the whole run. They are an upper bound on the group's own I/O.
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
    """Return the command with only the group's jobs, or with all jobs if no name matches."""
    if made is None:
        return None
    names = {part.name for part in parts}
    jobs = tuple(job for job in made.jobs if job.name in names)
    return replace(made, jobs=jobs) if jobs else made
