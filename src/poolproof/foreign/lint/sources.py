"""lint's input: files, standard input, or a fio command after `--`."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Literal

from poolproof.errors import UsageError
from poolproof.files.reading import open_named, read_text
from poolproof.foreign.lint import jobfiles
from poolproof.foreign.lint.calls import commands
from poolproof.foreign.lint.documents.html_code import commands_of_html, has_html_code, html_blocks
from poolproof.foreign.lint.documents.markdown_prose import (
    fenced_texts,
    indented_texts,
    is_markdown,
    unfenced_texts,
    without_quote_marks,
    without_quotes_in_prose,
)
from poolproof.foreign.lint.job_variables import job_variables
from poolproof.foreign.lint.loop_devices import cached_loops
from poolproof.foreign.lint.memory_volumes import memory_volumes
from poolproof.foreign.lint.model import FioCall, JobEnvironment, LoopIteration, RunsIn
from poolproof.foreign.lint.prepared_files import PreparedFile, prepared_files
from poolproof.foreign.lint.shell.fish_script import as_posix, is_fish
from poolproof.foreign.lint.shell.script_branches import without_dead_end
from poolproof.foreign.lint.shell.script_values import known_variables
from poolproof.hosts.base import Host

COMMAND = "command line"
"""The name that findings show in place of a file name for a command given after `--`."""

Kind = Literal["job file", "script"]
_JOB_FILE_NAMES = (".fio", ".job")
_PROGRAM = re.compile(r"^(?:\S*/)?fio(?:[-_.]?v?\d[\w.-]*)?$")
_USAGE = "poolproof lint job.fio, or poolproof lint -- fio --name=…"
_SPLIT_IT = "specify a job file or a script, or split it into several files"
_LONGEST_NAME = 4096
_LARGEST_BYTES = 512 * 1024  # this much text takes seconds; scripts and job files are much smaller
MOST_JOBS = 1000
"""The maximum number of jobs in a source. Rules compare each job with all others."""

_SECTION = re.compile(rb"(?:^|[\r\n])[ \t]*\[")
_KERNEL_FILES = ("/proc/", "/sys/")  # reading such a file can block or have side effects
_LIMIT_S = 20.0
_GETCONF_NAMES = ("_NPROCESSORS_ONLN", "PAGESIZE", "_PHYS_PAGES")
_MAX_CONTROL_SHARE = 0.05
_CODE_COMMENT = re.compile(r"^[ \t]*//[ \t].*$", re.MULTILINE)  # in Go, Rust and JavaScript
_CALLS_FIO = re.compile(r"[\"'`](?:sudo )?(?:/[\w/.-]{1,80}/)?fio[\"'` ]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffd]")  # control characters, and bytes that could not be decoded


@dataclass(frozen=True)
class Source:
    """A job file, a shell script or a command line.

    `name`: the name to show in findings.
    `read_only`: True for a job file that is run by a command with `--readonly`.
    """

    name: str
    text: str
    surroundings: JobEnvironment = field(default_factory=JobEnvironment)
    read_only: bool = False

    @property
    def kind(self) -> Kind:
        """Decide whether the text is a job file or a script.

        A text that begins with a section header or an `include` line is a job file, unless it calls fio and sets no fio
        option, like a systemd unit, or is the configuration of another program. A text whose file name ends in `.fio`
        or `.job` is also a job file, unless it calls fio.
        """
        is_unit = "fio " in self.text and not jobfiles.sets_fio_option(self.text)
        is_other = is_unit or jobfiles.is_of_another_program(self.text)
        is_named = self.name.endswith(_JOB_FILE_NAMES) and "fio " not in self.text
        if is_named or (jobfiles.is_job_file(self.text) and not is_other):
            return "job file"
        return "script"

    @property
    def is_text(self) -> bool:
        """True if the text has no NUL bytes, few control characters and few bytes that are invalid in UTF-8."""
        controls = len(_CONTROL.findall(self.text))
        return "\0" not in self.text and controls <= _MAX_CONTROL_SHARE * len(self.text) + 2

    @property
    def units(self) -> tuple[FioCall, ...]:
        if self.kind == "job file":
            unit = jobfiles.unit_of(self.text, self.surroundings)
            return (replace(unit, read_only=self.read_only),)
        return self._all_units(commands.units_of(self._commands, self.surroundings))

    @property
    def runs(self) -> tuple[LoopIteration, ...]:
        """Return the script's fio calls for each combination of its loop variables' values.

        A job file has only one combination.
        """
        if self.kind == "job file":
            return (LoopIteration({}, self.units),)
        runs = commands.runs_in(self._commands, self.surroundings)
        return tuple(replace(run, units=self._all_units(run.units)) for run in runs)

    def _all_units(self, units: Sequence[FioCall]) -> tuple[FioCall, ...]:
        """Return the fio calls together with the job files in the fences of Markdown, in the order of their lines."""
        fenced = [
            jobfiles.unit_of(each.text, self.surroundings, first_line=each.line, start=each.start)
            for each in (fenced_texts(self.text) if "```" in self.text or "~~~" in self.text else ())
            if jobfiles.has_fio_options(each.text)
        ]
        fenced += [
            jobfiles.on_line(unit, each.line) if each.is_on_one_line else unit
            for each in (html_blocks(self.text) if has_html_code(self.name, self.text) else ())
            if jobfiles.has_fio_options(each.text)
            for unit in [jobfiles.unit_of(each.text, self.surroundings, first_line=each.line)]
        ]
        read = {each.line or unit.line for unit in units if unit.form == "job file" for each in unit.jobs}
        fenced += [
            replace(jobfiles.unit_of(each.text, self.surroundings, first_line=each.line), sections=None)
            for each in indented_texts(self.text)
            if jobfiles.has_fio_options(each.text)
            and read.isdisjoint(range(each.line, each.line + each.text.count("\n") + 1))
        ]
        read |= {line for unit in fenced for line in _lines_of(unit)}
        fenced += [
            replace(jobfiles.unit_of(each.text, self.surroundings, first_line=each.line), sections=None)
            for each in (unfenced_texts(self.text) if is_markdown(self.name) or "<details" in self.text else ())
            if jobfiles.has_fio_options(each.text)
            and read.isdisjoint(range(each.line, each.line + each.text.count("\n") + 1))
        ]
        found = sorted([*units, *fenced], key=lambda unit: unit.runs_at or unit.line)
        if self._is_rewritten:
            found = [replace(unit, sections=None) for unit in found]
        return tuple(map(self._placed, found))

    @property
    def _is_rewritten(self) -> bool:
        """True if the commands are not at their positions in the text."""
        return has_html_code(self.name, self.text) or is_fish(self.name, self.text)

    def _placed(self, unit: FioCall) -> FioCall:
        """Return the call with `runs_in` set. Commands in a playbook, a manifest or a Dockerfile run elsewhere."""
        name = Path(self.name).name.lower()
        elsewhere: RunsIn = "machine" if name.endswith((".yml", ".yaml")) else ""
        elsewhere = "container" if "dockerfile" in name or "containerfile" in name else elsewhere
        return replace(unit, runs_in=unit.runs_in or elsewhere)

    @property
    def prepared(self) -> tuple[PreparedFile, ...]:
        """Return the files and devices that a script prepares with commands other than fio, in order.

        Empty for a job file, which has no such commands.
        """
        if self.kind == "job file":
            return ()
        text = self._commands
        known = known_variables(text)
        return (*memory_volumes(text), *prepared_files(text, known), *cached_loops(text, known))

    @property
    def _commands(self) -> str:
        """The text as a shell would read its commands."""
        if is_fish(self.name, self.text):
            return as_posix(self.text)
        text = commands_of_html(self.name, self.text) if self._is_rewritten else self.text
        code = _CODE_COMMENT.sub(lambda found: " " * len(found[0]), text) if "//" in text else text
        text = code if _CALLS_FIO.search(code) else text  # a comment may show the only command
        text = without_quotes_in_prose(text) if is_markdown(self.name, self.text) else text
        return without_dead_end(without_quote_marks(text))


def read_sources(
    words: Sequence[str], environment: Mapping[str, str], keywords: Mapping[str, int]
) -> tuple[Source, ...]:
    """Read the named files (`-` is standard input), or parse a command and read the job files that it names.

    `keywords`: the values of `$ncpus`, `$pagesize` and `$mb_memory` on the machine that would run the jobs.

    Raises a UsageError if no file or command is given, or a file cannot be read, is too large or has too many sections.
    """
    if not words:
        raise UsageError("no file or command to lint", _USAGE)
    if len(words) == 1 and Path(words[0]).name == "fio" and not Path(words[0]).is_file():
        raise UsageError(f"the command `{words[0]}` has no options, so it does not define a job", _USAGE)
    here = _surroundings(Path(), environment, keywords)

    def named(name: str) -> Source:
        if name == "-":
            return Source("-", _decoded(sys.stdin.buffer, "standard input"), here)
        path = Path(name)
        return Source(name, _text(path), _surroundings(path.parent, environment, keywords))

    if not _is_command(words):
        return tuple(map(named, words))
    text = words[0] if len(words) == 1 else shlex.join(words)
    command = Source(COMMAND, text + "\n", here)
    found = [command]
    for unit in command.units:
        for name in unit.files:
            job_file = named(name)
            is_first = name == unit.files[0]  # fio forgets the options of the command line after the first file
            inputs = jobfiles.inherited(job_file.surroundings, unit if is_first else replace(unit, defaults={}))
            found.append(replace(job_file, surroundings=inputs, read_only=unit.read_only))
    return tuple(found)


def fio_keywords(host: Host) -> Mapping[str, int]:
    """Return the values of fio's `$ncpus`, `$pagesize` and `$mb_memory`, or an empty dict if the host reports none.

    Raises a CommandError if the host does not answer in time.
    """
    script = "; ".join(f"getconf {name}" for name in _GETCONF_NAMES)
    printed = host.run(["sh", "-c", script], timeout_s=_LIMIT_S, check=False).stdout.split()
    if len(printed) != len(_GETCONF_NAMES) or not all(word.isdecimal() for word in printed):
        return {}
    processors, page, pages = (int(word) for word in printed)
    return {"ncpus": processors, "pagesize": page, "mb_memory": pages * page // 1024**2}


def _lines_of(unit: FioCall) -> Iterator[int]:
    yield from (line for each in unit.jobs for line in (each.line or unit.line, *each.lines.values()))


def _is_command(words: Sequence[str]) -> bool:
    program, *rest = [*words[0].split(), *words[1:]] or [""]  # the whole command may be quoted
    calls_fio = _PROGRAM.match(program) is not None and bool(rest) and not Path(words[0]).is_file()
    return calls_fio or any(word.startswith("-") and word != "-" for word in words)


def _text(path: Path) -> str:
    try:
        with open_named(path) as file:
            return _decoded(file, str(path))
    except OSError as error:
        hint = "specify a job file or a script, or write -- fio --name=…"
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint) from None


def _decoded(file: BinaryIO, name: str) -> str:
    """Return the content of a text file with any system's line endings.

    Raises a UsageError if the file is too large or has too many sections.
    """
    data = file.read(_LARGEST_BYTES + 1)
    if len(data) > _LARGEST_BYTES:
        raise UsageError(f"{name} is larger than 512 KiB, the limit for lint", _SPLIT_IT)
    if len(_SECTION.findall(data)) > MOST_JOBS:
        raise UsageError(f"{name} has more than {MOST_JOBS:,} sections, the limit for lint", _SPLIT_IT)
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace").read()


def _surroundings(folder: Path, environment: Mapping[str, str], keywords: Mapping[str, int]) -> JobEnvironment:
    """Return the inputs of a job file in `folder`: environment variables, machine facts, and a function for `include`.

    Included files are looked up first in the working directory, as in fio, and then in `folder`. The job file may come
    from a stranger, and findings quote lines of included files. For this reason, a file is included only if it is a
    regular file that contains nothing but fio options, which excludes password files, devices and FIFOs.
    """

    def include(name: str) -> str | None:
        paths = (Path(name), folder / name)
        if len(name) < _LONGEST_NAME and not any(map(os.path.lexists, paths)):
            raise FileNotFoundError
        for path in paths:
            try:
                real = os.path.realpath(path)
                if real.startswith(_KERNEL_FILES):
                    continue
                text = read_text(Path(real), limit_bytes=_LARGEST_BYTES)
            except (OSError, ValueError):
                continue
            return text if jobfiles.sets_only_fio_options(text) else None
        return None

    return JobEnvironment(job_variables(environment), keywords, include)
