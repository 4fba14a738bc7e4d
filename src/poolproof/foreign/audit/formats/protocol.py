"""The interface of the parsers for other benchmark programs' output, with their result type and shared functions.

A parser yields every result in its format, and never guesses. Values that the input does not show are None. Options
that it does not show are listed in `missing`.
"""

import functools
import importlib
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.foreign.audit import formats
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.model import Extent, LoadPart
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome

MIB = float(1024**2)
_COMMAND = re.compile(
    r"(?:^|[\s/\\`\"'(])(?P<program>sysbench|elbencho|iozone3?|ioping|diskspd|rados|tiotest|bonnie\+\+|hdparm|dd)(?:\.exe)?"
    r"\s{1,9}(?:[^\s=]{1,30}=|[\w./]{0,40}\s{0,9}[-\\])"
)
_PREPARES = re.compile(r"\bsysbench\b.*\s(?:prepare|cleanup)\b")
_OPTION = re.compile(r"^\s*+(?:--?[A-Za-z]|[a-z]+=\S|[/\"'$]|run\b|bench\b|fileio\b)")
_LONG_OPTION = re.compile(r"^\s*+--[a-z][a-z-]{2,30}(?:[= ]|$)")
_LONGEST_COMMAND = 2000


@dataclass(frozen=True)
class ForeignResult:
    """A result of a program other than fio, or of a script that runs fio.

    `program`: the program's usual name.
    `line`, `last_line`: the first and last line with values, numbered from 1.
    `outcome`: the values.
    `parts`: the known properties of the jobs, if any. They have the same names as the parts of `outcome`.
    `command`, `command_line`: the command and its line number, if the input contains a command.
    `size_bytes`: the size of the test files, if the program prints it.
    `missing`: the facts that the format does not show.
    `just_written`: a sentence about an earlier command in the input that wrote the file being read.
    `same_file_read`: the mean latency in nanoseconds of random reads of the same file in another result of the same
    script, and a clause that says so; 0 if unknown.
    `measures_memory`: if the value is the speed of memory by definition, the reason for this. Otherwise, an empty
    string.
    `without_flush`: if other values show that the syncs did not flush the drive's cache, a clause that says why.
    `is_on_device`: True if the program reads a block device rather than files.
    `stopped_by`: the reason why the run ended before its time limit, or an empty string if it did not.
    `assumed`: the options of the jobs that the format does not show, and whose values the parser assumed.
    `shows_block`: False if the block size is unknown.
    """

    program: str
    line: int
    last_line: int
    outcome: Outcome
    parts: tuple[LoadPart, ...] = ()
    command: str = ""
    command_line: int | None = None
    size_bytes: int | None = None
    missing: tuple[str, ...] = ()
    just_written: str = ""
    same_file_read: tuple[float, str] = (0.0, "")
    measures_memory: str = ""
    without_flush: str = ""
    is_on_device: bool = False
    stopped_by: str = ""
    assumed: frozenset[str] = frozenset()
    shows_block: bool = True

    @property
    def generator(self) -> str:
        """The load generator: fio if a script ran fio, otherwise the program itself."""
        is_fio = bool(self.parts) and all(isinstance(part.source, Job) for part in self.parts)
        return DEFAULT_GENERATOR if is_fio else self.program


@dataclass(frozen=True)
class FormatReader:
    """A parser for one output format.

    `seen`: published examples of the format.
    `find`: yields the results in line order.
    `marks`: lower-case words, at least one of which occurs in every result, in upper or lower case. Input without any
    of them is not searched. If `marks` is empty, all input is searched.
    """

    program: str
    seen: tuple[str, ...]
    find: Callable[[Sequence[Line]], Iterator[ForeignResult]]
    marks: tuple[str, ...] = ()


@functools.cache
def all_readers() -> tuple[FormatReader, ...]:
    """Return all parsers, sorted by module name."""
    names = sorted(found.name for found in pkgutil.iter_modules(formats.__path__))
    modules = (importlib.import_module(f"{formats.__name__}.{name}") for name in names)
    return tuple(module.READER for module in modules if hasattr(module, "READER"))


def find_foreign(text: str, taken: Sequence[tuple[int, int]] = ()) -> tuple[ForeignResult, ...]:
    """Return the results of programs other than fio, in line order.

    Lines in the `taken` ranges (inclusive) are ignored.
    """
    inside = {number for first, last in taken for number in range(first, last + 1)}
    numbered = _joined([line for line in plain_lines(text) if line[0] not in inside])
    lower = "\n".join(line for _, line in numbered).lower()
    readers = [reader for reader in all_readers() if not reader.marks or any(mark in lower for mark in reader.marks)]
    found = [result for reader in readers for result in _results(reader, numbered)]
    return tuple(sorted(found, key=lambda result: (result.line, result.last_line)))


def _results(reader: FormatReader, numbered: Sequence[Line]) -> list[ForeignResult]:
    """Return the reader's results. Several commands that are followed by as many results are assigned in order."""
    found = sorted(reader.find(numbered), key=lambda result: result.line)
    moved = _commands_next_to_results(reader.program, numbered, [result.line for result in found])
    return list(reader.find(moved)) if moved else found


def _commands_next_to_results(program: str, numbered: Sequence[Line], results: Sequence[int]) -> list[Line] | None:
    """Return the lines, with each of several consecutive commands moved to its own result, or None if none are moved.

    `results`: the first lines of the results.
    """
    if len(results) < 2:
        return None
    name = program.lower().partition(" ")[0]
    commands = [line for line in numbered if (match := _COMMAND.search(line[1])) and match["program"].lower() == name]
    commands = [line for line in commands if not _PREPARES.search(line[1])]
    starts = sorted(
        [*((line[0], line) for line in commands), *((number, None) for number in results)], key=itemgetter(0)
    )
    moves: dict[int, Line] = {}
    block: list[Line] = []
    for is_result, group in itertools.groupby(starts, key=lambda start: start[1] is None):
        members = list(group)
        if not is_result:
            block = [line for _, line in members if line is not None]
        elif len(block) == len(members) > 1:
            moves |= {number: line for (number, _), line in zip(members, block, strict=True)}
    if not moves:
        return None
    moved = {number for number, _ in moves.values()}
    kept = [line for line in numbered if line[0] not in moved]
    return [each for line in kept for each in ((moves[line[0]], line) if line[0] in moves else (line,))]


def _joined(numbered: Sequence[Line]) -> list[Line]:
    r"""Return the lines, with each command that is spread over several lines on its first line.

    A line that ends with `\` (or `^` on Windows) continues a command only if an option follows, because Markdown uses
    `\` for line breaks.
    """
    found: list[Line] = []
    is_command = False
    for number, line in numbered:
        before = found[-1][1].rstrip() if is_command else ""
        bare = before.rstrip("\\^")
        if is_command and (_LONG_OPTION if bare == before else _OPTION).match(line):
            found[-1] = (found[-1][0], f"{bare.rstrip()} {line.strip()}")
        else:
            found.append((number, line))
            is_command = len(line) <= _LONGEST_COMMAND and _COMMAND.search(line) is not None
    return found


def outcome_of(program: str, name: str, moved: Mapping[str, Direction]) -> Outcome:
    """Return an `Outcome` for a single job. `moved`: its values, keyed by direction (`read`, `write` or `mixed`)."""
    part = PartOutcome(name, read=moved.get("read"), write=moved.get("write"), mixed=moved.get("mixed"))
    return Outcome(program, (part,))


def values(
    *,
    iops: float | None = None,
    bandwidth_bytes: float | None = None,
    io_bytes: int | None = None,
    seconds: float | None = None,
    mean_ns: float | None = None,
) -> Direction:
    """Return a `Direction` with these values."""
    return Direction(
        iops=iops,
        bandwidth_bytes=bandwidth_bytes,
        io_bytes=io_bytes,
        runtime_ms=None if seconds is None else max(1, round(1000 * seconds)),
        lat=None if mean_ns is None else Latency(mean_ns=mean_ns),
    )


def file_of(size_bytes: int | None) -> tuple[Extent, ...]:
    """Return a program's test files as one extent that all its threads share, or no extent if the size is unknown."""
    return () if size_bytes is None else (Extent("test files", 0.0, float(size_bytes)),)


def fio_part(name: str, **options: str) -> LoadPart:
    """Return the properties of a fio job that a benchmark script runs with these options."""
    return part_of(Job(name, options))


def dd_of_zeros(name: str, block_bytes: int, *, averages_runs: bool) -> LoadPart:
    """Return the properties of `dd if=/dev/zero conv=fdatasync` with this block size. `name`: the result's name."""
    return LoadPart(
        name,
        writes=True,
        block_bytes=block_bytes,
        max_block_bytes=block_bytes,
        is_synchronous=True,
        syncs=True,
        syncs_at_end=True,
        zero_buffers=True,
        averages_runs=averages_runs,
    )
