"""Lint's findings, and the fio calls in a text with the positions of their options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import Problem
from poolproof.rules.model import Effect

Severity = Literal["error", "warning", "note"]
Form = Literal["job file", "command"]

SEVERITIES: Mapping[Effect, Severity] = {"fails": "error", "refutes": "error", "suspects": "warning", "notes": "note"}
"""`error`: the job fails or its result is certainly wrong; `warning`: probably misleading; `note`: still valid."""


@dataclass(frozen=True)
class Diagnostic:
    """One finding and its line (from 1). `source` is the file name as given, or `-` for standard input."""

    source: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class WrittenOption:
    """An option as written in the text, from character `start` to `end`.

    `name` is fio's primary name for the option. `given` is the name as written; on a command line, with its dashes.
    """

    name: str
    given: str
    start: int
    end: int


@dataclass(frozen=True)
class JobSection:
    """The options of one job, or options shared by several jobs. New options are inserted at character `insert_at`."""

    name: str
    is_shared: bool
    settings: tuple[WrittenOption, ...]
    insert_at: int


@dataclass(frozen=True)
class Unit:
    """The jobs of one fio call: a job file or a command.

    `files`: the job files that a command names.
    `sections`: in the order of the text. Those that are not shared correspond to `jobs` one by one. None if the text
    cannot be changed in place (a command inside the quotes of another).
    `unknown_words`: (line, argument) for arguments with an unknown value, which may contain any option.
    """

    form: Form
    line: int
    jobs: Jobs
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    sections: tuple[JobSection, ...] | None = None
    unknown_words: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What a job file can refer to: environment variables, facts about the machine, and included files.

    `include` returns the text of an included file by name; None if it cannot be read.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, int] = field(default_factory=dict)
    include: Callable[[str], str | None] | None = None
