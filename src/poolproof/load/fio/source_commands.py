"""Find fio commands and job files in any text, including shell scripts, lists of arguments and prose.

Kubernetes YAML files and Python scripts list the arguments: `["fio", "--rw=read"]`, or one `- --rw=read` per line.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from poolproof.load.fio.commandline import JOB_FILE_NAME, Command, read_command
from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.load import load_of
from poolproof.load.fio.option_names import ALL_NAMES
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.model import Load

Origin = Literal["command", "job file", "printed options", "header"]

_FIO_WORD = re.compile(r"\bfio\b|fio[-_.]?\d")
_OPTION_OR_FILE = re.compile(r"\s-{1,2}[a-zA-Z]|\.(?:fio|job|ini)\b")
_INLINE = re.compile(r"`([^`]*\bfio[^`]*)`")
_DASHES = re.compile(r"(?<=\s)[—–−]{1,2}(?=[a-z])")  # forums turn `--` into these
_SECTION = re.compile(r"^\s*\[[^\[\]]+\]\s*(?:[;#].*)?$")
_SETTING = re.compile(r"^\s*([a-z][\w-]*)\s*(?:=.*)?$")
_QUOTED_LIST = re.compile(r"""(?<![\w.])(?:\[\s*+)?(["'])fio\1\s*(?:,\s*f?(["'])[^"'\n]{0,500}\2\s*){1,60}""")
_QUOTED_ITEM = re.compile(r"""f?(["'])([^"'\n]{0,500})\1""")
_LIST_ITEM = re.compile(r"""^\s*-\s+(["']?)(?P<word>fio|--?[a-z][^"'\n]{0,500}|[\w./-]{1,200})\1\s*,?$""")
_TYPICAL = frozenset({"rw", "readwrite", "ioengine", "bs", "blocksize", "filename", "directory", "size", "iodepth"})
_WRAPPED = re.compile(r"^\s*(?:(?:--|[—–−]{1,2})[a-z]|-[a-z][a-z_]{2,30}=)")
_CUT_DASHES = re.compile(r"(?<=\s)(--?)[ \t]{0,9}\n\s{0,9}(?=[a-z])")  # mail programs wrap a line after `--`
_SENTENCE = re.compile(
    r"(?<![\w/.-])fio:?\s{1,4}((?:[a-z_]{2,30}=[^\s,;=]{1,100}\s{0,4},\s{0,20}){2,30}[a-z_]{2,30}=[^\s,;=]{1,100})"
)
_LONGEST_SENTENCE = 1000
_MOST_CONTINUED, _MOST_LIST_LINES, _FEWEST_ITEMS = 60, 30, 3
_LONGEST_COMMAND = 20_000


@dataclass(frozen=True)
class SourceCommand:
    """A command or job file that may have produced a result, with its jobs and its position in the text.

    `origin`: the place where the jobs were found. Jobs from a `header` have only a direction, block size, engine and
    depth. Jobs from `printed options` lack switches without a value, because fio does not print them.
    `source`: the other file that contains the job, or an empty string if it is in the text of the result. The lines of
    another file count as lines above the text, so `line` is at most 0.
    """

    jobs: Jobs
    origin: Origin
    line: int
    text: str = ""
    source: str = ""

    @cached_property
    def load(self) -> Load:
        """The load that the jobs generate. It is cached, because a load with many clones is slow to compute."""
        return load_of(self.jobs)


def find_commands(text: str) -> tuple[Command, ...]:
    """Return all fio commands that define jobs or name job files, in order of appearance."""
    return tuple(_commands(plain_lines(text)))


def source_commands(numbered: Sequence[Line]) -> list[SourceCommand]:
    """Return the job files and the commands that define jobs, in line order."""
    commands = [
        SourceCommand(command.jobs, "command", command.line, command.text)
        for command in _commands(numbered)
        if command.jobs
    ]
    return sorted([*commands, *_job_files(numbered)], key=lambda command: command.line)


def lone_job_file(source: str, text: str) -> SourceCommand | None:
    """Return the job file if the text consists of one, with comments at most, otherwise None. `source`: its name."""
    lines = plain_lines(text)
    first = next(
        (at for at, (_, line) in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#;"), len(lines)
    )
    numbered = lines[first:]
    if not numbered or "[" not in numbered[0][1]:
        return None
    end, is_job_file = _end_of_sections(numbered, 0)
    if not is_job_file or any(line.strip() and line.lstrip()[0] not in "#;" for _, line in numbered[end:]):
        return None
    quoted = "\n".join(line for _, line in numbered[:end])
    jobs = read_job_file(quoted).jobs
    return SourceCommand(jobs, "job file", 1 - end, quoted, source) if jobs else None


def _commands(numbered: Sequence[Line]) -> Iterator[Command]:
    if not any("fio" in line or "--rw=" in line for _, line in numbered):
        return
    numbered = tuple(_without_lists(numbered))
    at = 0
    while at < len(numbered):
        number, last = numbered[at][0], at
        if "fio" not in numbered[at][1] and not numbered[at][1].rstrip().endswith("\\"):
            at += 1  # such a line is not joined with the next one
            continue
        while last + 1 < len(numbered) and last - at < _MOST_CONTINUED and _continues(numbered, at, last):
            last += 1
        joined = "\n".join(text for _, text in numbered[at : last + 1])
        joined = _DASHES.sub("--", _CUT_DASHES.sub(r"\1", joined))
        if len(joined) <= _LONGEST_COMMAND and _FIO_WORD.search(joined) and _OPTION_OR_FILE.search(joined):
            inline = [read_command(span, number) for span in _INLINE.findall(joined)]
            for command in inline if any(inline) else [read_command(joined, number)]:
                if command is not None and (command.jobs or _names_job_files(command)):
                    yield replace(command, last_line=numbered[last][0])
        at = last + 1


def _without_lists(numbered: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines, with each list of fio arguments replaced by one command on the line where the list starts."""
    at = 0
    while at < len(numbered):
        number, line = numbered[at]
        words, end = _items(numbered, at) if "-" in line else ([], at)
        if not words and "fio" in line and '"fio"' in line.replace("'", '"'):
            block = "\n".join(text for _, text in numbered[at : at + _MOST_LIST_LINES])
            if found := _QUOTED_LIST.search(block):
                words = [item[2] for item in _QUOTED_ITEM.finditer(found[0])]
                end = at + block.count("\n", 0, found.end()) + 1
        if not words and "fio" in line and "," in line:
            words, end = _sentence(numbered, at)
        if words:
            yield number, shlex.join(words)
        else:
            yield number, line
        at = max(end, at + 1)


def _sentence(numbered: Sequence[Line], at: int) -> tuple[list[str], int]:
    """Parse fio's options in a sentence, `fio rw=read, bs=4k, size=1g`, that may continue on the next lines.

    Return the words of the command and the index of the line after it. No words are returned if any name is not an
    option of fio, or if the options do not include `rw`.
    """
    text, end = numbered[at][1], at + 1
    while text.rstrip().endswith(",") and end < min(len(numbered), at + _MOST_LIST_LINES):
        text, end = f"{text} {numbered[end][1].strip()}", end + 1
    match = _SENTENCE.search(text) if len(text) <= _LONGEST_SENTENCE else None
    options = [option.strip().rstrip(".") for option in match[1].split(",")] if match else []
    names = [option.partition("=")[0] for option in options]
    if not {"rw", "readwrite"} & set(names) or not set(names) <= ALL_NAMES:
        return [], at
    if "iodepth" not in names:  # the author may state it next to each result
        options.append("iodepth=${iodepth}")
    return ["fio", "--name=fio", *(f"--{option}" for option in options)], end


def _items(numbered: Sequence[Line], at: int) -> tuple[list[str], int]:
    """Parse a list with one argument per line. Return its words and the index of the line after it.

    No words are returned if the list has no `--rw=`, or if it starts with neither `fio` nor an option.
    """
    words: list[str] = []
    end = at
    while end < len(numbered) and end - at <= _MOST_CONTINUED and (match := _LIST_ITEM.match(numbered[end][1])):
        words.append(match["word"].strip())
        end += 1
    if len(words) < _FEWEST_ITEMS or not any(word.startswith("--rw=") for word in words):
        return [], at
    return (words if words[0] == "fio" else ["fio", *words]) if words[0] == "fio" or words[0].startswith(
        "--"
    ) else [], end


def _continues(numbered: Sequence[Line], first: int, last: int) -> bool:
    if numbered[last][1].rstrip().endswith("\\"):
        return True
    is_wrapped = _WRAPPED.match(numbered[last + 1][1]) or _CUT_DASHES.search(
        f"{numbered[last][1]}\n{numbered[last + 1][1]}"
    )
    return _FIO_WORD.search(numbered[first][1]) is not None and is_wrapped is not None


def _names_job_files(command: Command) -> bool:
    return bool(command.files) and all(JOB_FILE_NAME.search(name) for name in command.files)


def _job_files(numbered: Sequence[Line]) -> Iterator[SourceCommand]:
    at = 0
    while at < len(numbered):
        if "[" not in numbered[at][1]:
            at += 1
            continue
        first, (at, is_job_file) = at, _end_of_sections(numbered, at)
        if is_job_file:
            text = "\n".join(line for _, line in numbered[first:at])
            jobs = read_job_file(text, first_line=numbered[first][0]).jobs
            if jobs:
                yield SourceCommand(jobs, "job file", numbered[first][0], text)


def _end_of_sections(numbered: Sequence[Line], first: int) -> tuple[int, bool]:
    """Return the end of the sections that start at `first`, and True if they form a fio job file."""
    end = first + 1
    if not _SECTION.match(numbered[first][1]):
        return end, False
    settings: set[str] = set()
    for at in range(first, len(numbered)):
        line = numbered[at][1]
        setting = _SETTING.match(line)
        if setting is not None and setting[1] in ALL_NAMES:
            settings.add(setting[1])
        elif line.strip() and not _SECTION.match(line) and line.lstrip()[0] not in "#;":
            break
        if line.strip():
            end = at + 1
    return end, len(settings) >= 2 and bool(settings & _TYPICAL)
