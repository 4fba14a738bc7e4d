"""Data types of lint: its findings, the fio calls in a text, the options' positions, and the devices that jobs write
to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import Problem
from poolproof.rules.model import Effect

Severity = Literal["error", "warning", "note"]
Form = Literal["job file", "command"]

SEVERITIES: Mapping[Effect, Severity] = {
    "fails": "error",
    "refutes": "error",
    "suspects": "warning",
    "leaves-unproven": "note",
    "notes": "note",
}
"""The severity of each effect that a finding can have.

`error`: the job fails, or its result is certainly wrong. `warning`: the result is probably misleading. `note`: the
result is still valid.
"""


@dataclass(frozen=True)
class Diagnostic:
    """A finding and its line (from 1). `source` is the file name as given, `-` or `command line`."""

    source: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class WrittenOption:
    """An option as written in the text, from character `start` to character `end`.

    `name` is fio's primary name for the option. `given` is the name as written, including the dashes of a command line.
    """

    name: str
    given: str
    start: int
    end: int


@dataclass(frozen=True)
class JobSection:
    """The options of one job, or the options that several jobs share. New options are inserted at `insert_at`."""

    name: str
    is_shared: bool
    settings: tuple[WrittenOption, ...]
    insert_at: int


@dataclass(frozen=True)
class FioCall:
    """The jobs of one fio call, from a job file or a command.

    `files`: the job files that a command names.
    `sections`: the job sections, in text order. The sections that are not shared belong to the jobs in `jobs`, in the
    same order. `sections` is None if the text cannot be changed in place, for example because a command is quoted
    inside another command.
    `unknown_words`: (line, argument) for each argument that contains an unknown variable and may therefore be any
    option.
    `read_only`: fio was called with `--readonly`, so it refuses jobs that write.
    """

    form: Form
    line: int
    jobs: Jobs
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    sections: tuple[JobSection, ...] | None = None
    unknown_words: tuple[tuple[int, str], ...] = ()
    read_only: bool = False


@dataclass(frozen=True)
class LoopIteration:
    """The fio calls of a script for one combination of loop values, and the value of each loop variable."""

    values: Mapping[str, str]
    units: tuple[FioCall, ...]


@dataclass(frozen=True)
class JobEnvironment:
    """What a job file can refer to: environment variables, facts about the machine, and files to include.

    `include` returns the text of the named file, or None if it cannot be read.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, int] = field(default_factory=dict)
    include: Callable[[str], str | None] | None = None


@dataclass(frozen=True)
class WrittenDevice:
    """A path that a job writes to, as seen from a host.

    `exists` is False if there is nothing at the path. `is_block` is True for a block device. `found` says what is on
    the device, as the end of a sentence (`is mounted at /`). It is empty if nothing was found.
    """

    exists: bool
    is_block: bool = False
    found: str = ""
