"""Match each result in a text with the command or job file that produced it.

A command is usually above its result. But some texts list all commands first and then all results in the same order,
and others show each result before its command. A match is marked as assumed if several different commands fit, if the
command is below the result, or if the command fits except for the name of its job.

A command fits a result if nothing in the result contradicts it. The check covers names, directions, numjobs clones, the
job options that fio printed, block sizes (bytes divided by I/Os) and run times (limited by `runtime`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.load import part_of
from poolproof.load.fio.merged_sections import apart
from poolproof.load.fio.source_commands import SourceCommand
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Outcome, PartOutcome

Format = Literal["json", "terse", "text", "progress", "sentence"]

_LINE = attrgetter("line")
_MOST_BETWEEN = 8  # lines between two commands of a list
_MOST_BELOW = 40  # lines between a result and a command below it
_IDENTIFYING = frozenset({"filename", "directory", "size", "runtime"})
_FEWEST_IOPS = 20  # with lower IOPS, rounding to an integer is too coarse
_FEWEST_IN_THOUSANDS = 10_000
_ROUNDING = 0.03
_SHORT_LAST = 0.1  # the last block of a file may be short
_LONGER = 1.5  # when time is up, a slow disk still has to finish the I/O in flight
_DRAIN_MS = 10_000


@dataclass(frozen=True)
class FoundResult:
    """A result found in a text.

    `made`: the command, job file or printed options that produced the result.
    `line`, `last_line`: the first and last line number (1-based).
    `is_cut_off`: True if the end of the result, with its values, is missing.
    `is_assumed`: True if another command in the text could also have produced the result, if the command is below it,
    or if the name of the command's job differs.
    `part_lines`: the first line of each part, in order, or empty if unknown.
    `repeats`: the first and last lines of the same result in other formats.
    """

    result: Outcome
    line: int
    last_line: int
    format: Format
    made: SourceCommand | None = None
    is_cut_off: bool = False
    is_assumed: bool = False
    part_lines: tuple[int, ...] = ()
    repeats: tuple[tuple[int, int], ...] = ()

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first and last lines of the result, in all of its formats."""
        return ((self.line, self.last_line), *self.repeats)


def pair(results: Sequence[FoundResult], commands: Sequence[SourceCommand]) -> tuple[FoundResult, ...]:
    """Return each result with the command or job file that produced it, or else with the jobs that fio printed.

    The results and the commands must be in line order.
    """
    results_first = _are_results_first(results, [command for command in commands if not command.source])
    paired = []
    for at, result in enumerate(results):
        above = None if results_first else _above(at, results, commands)
        made, is_assumed = above or _below(result, results, commands, results_first=results_first)
        if made is None and (renamed := _above_with_another_name(at, results, commands)) is not None:
            made, is_assumed = renamed, True
        made = made or result.made
        outcome = apart(_with_directions(result.result, made.jobs), made.jobs) if made else result.result
        paired.append(replace(result, result=outcome, made=made, is_assumed=is_assumed))
    return tuple(paired)


def _are_results_first(results: Sequence[FoundResult], commands: Sequence[SourceCommand]) -> bool:
    if not results or not commands or commands[0].line <= results[0].last_line:
        return False
    ends = [*(result.line for result in results[1:]), float("inf")]
    return all(
        any(result.last_line < command.line < end and _fits(result, command) for command in commands)
        for result, end in zip(results, ends, strict=True)
    )


def _above(
    at: int, results: Sequence[FoundResult], commands: Sequence[SourceCommand]
) -> tuple[SourceCommand, bool] | None:
    """Return the nearest fitting command above the result, and True if the match is assumed. None if none fits."""
    result = results[at]
    last = bisect_right(commands, result.line, key=_LINE) - 1
    nearest = next((command for command in commands[last::-1] if _fits(result, command)), None) if last >= 0 else None
    if nearest is None:
        return None
    # the commands next to it, up to the nearest result in each direction
    below = bisect_left(results, nearest.line, key=_LINE)
    before = results[below - 1].line if below else float("-inf")
    after = results[below].line if below < len(results) else 0
    block = commands[bisect_right(commands, before, key=_LINE) : bisect_right(commands, after, key=_LINE)]
    block = [command for command in block if bool(command.source) == bool(nearest.source)]
    if all(_same_jobs(command, nearest) for command in block if _fits(result, command)):
        return nearest, False
    return _at_same_position(result, results, commands, block) or nearest, True


def _above_with_another_name(
    at: int, results: Sequence[FoundResult], commands: Sequence[SourceCommand]
) -> SourceCommand | None:
    """Return the command directly above a result if it differs only in its job name, otherwise None.

    People often change the job names in commands that they post. The returned job has the name shown in the result.
    """
    result = results[at]
    names = {part.name for part in result.result.parts}
    nearest = next((command for command in reversed(commands) if command.line < result.line), None)
    before = results[at - 1].last_line if at else 0
    if nearest is None or len(nearest.jobs) != 1 or len(names) != 1 or nearest.line <= before:
        return None
    if "" in names or result.line - nearest.line > _MOST_BELOW or (result.made and result.made.origin != "header"):
        return None
    renamed = replace(nearest, jobs=(replace(nearest.jobs[0], name=names.pop()),))
    return renamed if _fits(result, renamed) else None


def _same_jobs(command: SourceCommand, other: SourceCommand) -> bool:
    mine, others = ([(job.name, job.options) for job in each.jobs] for each in (command, other))
    return mine == others


def _at_same_position(
    result: FoundResult,
    results: Sequence[FoundResult],
    commands: Sequence[SourceCommand],
    block: Sequence[SourceCommand],
) -> SourceCommand | None:
    """Return the nth command of a block of commands if the result is the nth one below the block.

    Return None if the numbers of results and commands differ, if any command does not fit the result at the same
    position, or if other text separates the commands, which are then not a list.
    """
    if any(after.line - _last_line(before) > _MOST_BETWEEN for before, after in pairwise(block)):
        return None
    end = min((command.line for command in commands if command.line > block[-1].line), default=float("inf"))
    below = [each for each in results if block[-1].line <= each.line < end]
    if len(below) != len(block) or not all(map(_fits, below, block)):
        return None
    return next((command for each, command in zip(below, block, strict=True) if each is result), None)


def _last_line(command: SourceCommand) -> int:
    return command.line + command.text.count("\n")


def _below(
    result: FoundResult, results: Sequence[FoundResult], commands: Sequence[SourceCommand], *, results_first: bool
) -> tuple[SourceCommand | None, bool]:
    """Return the fitting command between this result and the next, and True if the match is assumed.

    The command is None if none fits.
    """
    if result.made is not None and result.made.origin == "printed options":
        return None, False
    following = bisect_right(results, result.line, key=_LINE)
    end = results[following].line if following < len(results) else float("inf")
    last = min(end, result.last_line + _MOST_BELOW)
    below = commands[bisect_right(commands, result.last_line, key=_LINE) : bisect_right(commands, last, key=_LINE)]
    made = next((command for command in below if _fits(result, command) and _is_complete(result, command)), None)
    if made is None or (end != float("inf") and not results_first):
        return None, False
    return made, True


def _is_complete(result: FoundResult, command: SourceCommand) -> bool:
    """True if the result has both directions of each mixed job, and no more bytes than the command's jobs move.

    People rarely cut off a result that is followed by another command, so an incomplete result contradicts the match.
    """
    parts, load = result.result.parts, command.load
    if _has_variables(command.jobs) or not all(part.name and not part.name.startswith("group ") for part in parts):
        return True
    mixed = {each.name for each in load.parts if each.is_mixed}
    if any(part.name in mixed and len(part.directions) == 1 and not part.mixed for part in parts):
        return False
    sizes = [each.size_bytes for each in load.parts if each.size_bytes is not None]
    stops = not any(each.time_based or each.verifies or each.io_size_bytes for each in load.parts)
    if not stops or len(sizes) != len(load.parts) or any("loops" in job.options for job in command.jobs):
        return True
    moved = sum(direction.io_bytes or 0 for part in parts for direction in part.directions.values())
    return moved <= _LONGER * load.clones * max(sizes)


def _fits(result: FoundResult, command: SourceCommand) -> bool:
    jobs, parts = command.jobs, result.result.parts
    by_name = {job.name: job for job in jobs}
    named = [part for part in parts if part.name and not part.name.startswith("group ")]
    if not all(part.name in by_name for part in named):
        return False
    load = command.load
    if not all(_has_clones(load, jobs, part.clones) for part in named):
        return False
    if not _fits_directions(result.result, load, jobs):
        return False
    for part in parts:
        candidates = _sections_of(part, load)
        if not (_has_variables(jobs) or _fits_blocks(part, candidates)) or not _fits_time(part, candidates):
            return False
    printed = result.made.jobs if result.made else ()
    is_header = result.made is not None and result.made.origin == "header"
    return all(_same_job(job, by_name[job.name], is_header=is_header) for job in printed if job.name in by_name)


def _sections_of(part: PartOutcome, load: Load) -> list[LoadPart]:
    """Return the sections whose results this part may include: all of them if its own section has fewer clones."""
    own = [each for each in load.parts if each.name == part.name]
    return own if own and part.clones <= sum(each.clones for each in own) else list(load.parts)


def _has_clones(load: Load, jobs: Sequence[Job], clones: int) -> bool:
    """True if the jobs can explain the number of clones: it is 1, that of one job, or that of all jobs.

    If `numjobs` is a variable, any number is possible.
    """
    counts = (1, load.clones, *(part.clones for part in load.parts))
    return clones in counts or any("$" in (job.text("numjobs") or "") for job in jobs)


def _has_variables(jobs: Sequence[Job]) -> bool:
    return any("$" in value for job in jobs for value in job.options.values())


def _fits_directions(result: Outcome, load: Load, jobs: Sequence[Job]) -> bool:
    if any("$" in (job.text("rw") or "") for job in jobs):
        return True
    reads = any(part.read is not None for part in result.parts)
    writes = any(part.write is not None or part.sync is not None for part in result.parts)
    may_read = load.reads or any(part.verifies for part in load.parts)
    return (may_read or not reads) and (load.writes or not writes)


def _fits_blocks(part: PartOutcome, candidates: Sequence[LoadPart]) -> bool:
    smallest = min(each.block_bytes for each in candidates) * (1 - _SHORT_LAST)
    largest = max(each.max_block_bytes for each in candidates)
    for direction in (part.read, part.write):
        if direction is None or (direction.iops or 0) < _FEWEST_IOPS or not direction.bandwidth_bytes:
            continue
        iops = direction.iops or _FEWEST_IOPS
        block, error = direction.bandwidth_bytes / iops, _ROUNDING + 1 / iops  # fio truncates IOPS
        carry = 1000 / iops if iops >= _FEWEST_IN_THOUSANDS and iops % 1000 == 0 else 0.0  # fio prints 19.0k for 19.99k
        if block * (1 + error) < smallest or block * (1 - error) / (1 + carry) > largest:
            return False
    return True


def _fits_time(part: PartOutcome, candidates: Sequence[LoadPart]) -> bool:
    limits_s = [each.runtime_s for each in candidates if each.runtime_s is not None]
    longest_ms = max((each.runtime_ms or 0 for each in (part.read, part.write) if each), default=0)
    is_limited = bool(limits_s) and len(limits_s) == len(candidates)
    return not is_limited or longest_ms <= 1000 * _LONGER * max(limits_s) + _DRAIN_MS


def _same_job(printed: Job, given: Job, *, is_header: bool) -> bool:
    if _has_variables([given]):
        return True
    if any(printed.options.get(name, value) != value for name, value in given.options.items() if name in _IDENTIFYING):
        return False
    part, other = part_of(printed), part_of(given)
    # A text may quote only some of the clones if each clone reports separately.
    same_clones = part.clones == other.clones or (is_header and part.clones < other.clones)
    if "numjobs" in printed.options and not same_clones:
        return False
    # The engine that fio uses by default depends on the system: windowsaio, posixaio, psync, sync.
    same_engine = "ioengine" not in given.options or printed.engine == given.engine
    same_block = "bs" not in printed.options or part.block_bytes == other.block_bytes
    return printed.rw == given.rw and same_engine and part.depth == other.depth and same_block


def _with_directions(result: Outcome, jobs: Jobs) -> Outcome:
    """Move values to the direction implied by the jobs, if the output names no direction or the wrong one.

    For example, a single latency line does not name a direction. With `unified_rw_reporting=1`, a terse line has the
    combined total in the fields for reads.
    """
    if not jobs or _has_variables(jobs):
        return result
    return replace(result, parts=tuple(_moved(part, jobs) for part in result.parts))


def _moved(part: PartOutcome, jobs: Jobs) -> PartOutcome:
    named = [job for job in jobs if job.name == part.name] or jobs
    unified = [(job.text("unified_rw_reporting") or "0").strip() in ("1", "mixed") for job in named]
    directions = list(part.directions)
    if directions == ["read"] and all(unified):
        return replace(part, read=None, mixed=part.read)
    if directions != ["mixed"] or any(unified) or any(part_of(job).verifies for job in named):
        return part
    if all(part_of(job).reads and not part_of(job).writes for job in named):
        return replace(part, read=part.mixed, mixed=None)
    if all(job.rw in ("write", "randwrite") for job in named):
        return replace(part, write=part.mixed, mixed=None)
    return part
