"""What makes results in any text: calls of fio, also those in shell scripts and prose, and job files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from poolproof.load.fio.commandline import Command, read_command
from poolproof.load.fio.job import JobFile
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.option_names import ALL_NAMES
from poolproof.load.fio.plain_lines import plain_lines

Origin = Literal["command", "job file", "printed options", "header"]
Lines = Sequence[tuple[int, str]]

_FIO_WORD = re.compile(r"\bfio\b|fio[-_.]?\d")
_OPTION_OR_FILE = re.compile(r"\s-{1,2}[a-zA-Z]|\.(?:fio|job|ini)\b")
_INLINE = re.compile(r"`([^`]*\bfio[^`]*)`")
_DASHES = re.compile(r"(?<=\s)[—–−]{1,2}(?=[a-z])")  # what forums make of `--`
_SECTION = re.compile(r"^\s*\[[^\[\]]+\]\s*(?:[;#].*)?$")
_SETTING = re.compile(r"^\s*([a-z][\w-]*)\s*(?:=.*)?$")
_TELLING = frozenset({"rw", "readwrite", "ioengine", "bs", "blocksize", "filename", "directory", "size", "iodepth"})
_JOB_FILE_NAME = re.compile(r"\.(?:fio|job|ini|cfg|conf|txt)$")
_WRAPPED = re.compile(r"^\s*--[a-z]")
_MOST_CONTINUED = 60
_LONGEST_COMMAND = 20_000


@dataclass(frozen=True)
class SourceCommand:
    """What made a result: its jobs, the source they were read from and its line.

    `header` knows direction, block size, engine and depth only; `printed options` lack switches without a value.
    """

    jobs: JobFile
    origin: Origin
    line: int
    text: str = ""


def find_commands(text: str) -> tuple[Command, ...]:
    """Every call of fio in the text that has jobs or job files, in order; also those in shell scripts and prose."""
    return tuple(_commands(plain_lines(text)))


def makers_in(numbered: Lines) -> list[SourceCommand]:
    """Commands with jobs, and job files, in order of lines."""
    commands = [
        SourceCommand(command.jobs, "command", command.line, command.text)
        for command in _commands(numbered)
        if command.jobs.jobs
    ]
    return sorted([*commands, *_job_files(numbered)], key=lambda made: made.line)


def _commands(numbered: Lines) -> Iterator[Command]:
    place = 0
    while place < len(numbered):
        number, last = numbered[place][0], place
        while last + 1 < len(numbered) and last - place < _MOST_CONTINUED and _goes_on(numbered, place, last):
            last += 1
        joined = _DASHES.sub("--", "\n".join(text for _, text in numbered[place : last + 1]))
        if len(joined) <= _LONGEST_COMMAND and _FIO_WORD.search(joined) and _OPTION_OR_FILE.search(joined):
            for command in _commands_in(joined, number):
                yield replace(command, last_line=numbered[last][0])
        place = last + 1


def _goes_on(numbered: Lines, first: int, last: int) -> bool:
    """A backslash ends the line, or a command of fio was wrapped and the next line starts with an option."""
    if numbered[last][1].rstrip().endswith("\\"):
        return True
    return _FIO_WORD.search(numbered[first][1]) is not None and _WRAPPED.match(numbered[last + 1][1]) is not None


def _commands_in(text: str, line: int) -> Iterator[Command]:
    """Commands of one logical line: in backquotes, or the whole line."""
    inline = [command for span in _INLINE.findall(text) if (command := read_command(span, line)) is not None]
    whole = [] if inline else [read_command(text, line)]
    for command in (*inline, *whole):
        if command is not None and (command.jobs.jobs or _names_job_files(command)):
            yield command


def _names_job_files(command: Command) -> bool:
    return bool(command.files) and all(_JOB_FILE_NAME.search(name) for name in command.files)


def _job_files(numbered: Lines) -> Iterator[SourceCommand]:
    place = 0
    while place < len(numbered):
        last, is_job_file = _settings_end(numbered, place)
        if not is_job_file:
            place = last
            continue
        text = "\n".join(line for _, line in numbered[place:last])
        read = read_job_file(text, first_line=numbered[place][0])
        if read.jobs.jobs:
            yield SourceCommand(read.jobs, "job file", numbered[place][0], text)
        place = last


def _settings_end(numbered: Lines, place: int) -> tuple[int, bool]:
    """Where the sections that start at `place` end, at least one line on, and whether they are fio's."""
    if not _SECTION.match(numbered[place][1]):
        return place + 1, False
    settings: set[str] = set()
    last = place + 1
    for index in range(place, len(numbered)):
        line = numbered[index][1]
        setting = _SETTING.match(line)
        if setting is not None and setting[1] in ALL_NAMES:
            settings.add(setting[1])
        elif line.strip() and not _SECTION.match(line) and line.lstrip()[0] not in "#;":
            break
        if line.strip():
            last = index + 1
    return last, len(settings) >= 2 and bool(settings & _TELLING)
