"""Findings of lint, and the fio calls that it reads, with their positions in the text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.load.fio.job import JobFile
from poolproof.load.fio.jobfile import Problem
from poolproof.rules.model import Effect

Severity = Literal["error", "warning", "note"]
Form = Literal["job file", "command"]

SEVERITIES: Mapping[Effect, Severity] = {"fails": "error", "refutes": "error", "suspects": "warning", "notes": "note"}
"""`error`: fails, or the result is certainly wrong; `warning`: probably misleading; `note`: good to know."""


@dataclass(frozen=True)
class Diagnostic:
    """One finding at its line (from 1). `source` is the file name as given; `-` for standard input."""

    source: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class WrittenOption:
    """An option as written in the text, from character `start` to `end`. `name` is fio's primary name for it.

    `given` is the name as written, with its dashes on a command line.
    """

    name: str
    given: str
    start: int
    end: int


@dataclass(frozen=True)
class JobSection:
    """A job, or options that several jobs share. New options are inserted at character `insert_at`."""

    name: str
    is_shared: bool
    settings: tuple[WrittenOption, ...]
    insert_at: int


@dataclass(frozen=True)
class Unit:
    """The jobs of one fio call: a job file or a command.

    `sections` are in the order of the text; those that are not shared correspond to `jobs` one by one. None if the
    text can't be changed in place (a command inside the quotes of another). `unknown_words` are arguments with their
    lines whose value is unknown here, so they may contain any option.
    """

    form: Form
    line: int
    jobs: JobFile
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    sections: tuple[JobSection, ...] | None = None
    unknown_words: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What a job file can refer to: environment variables, facts of the machine, and included files by name."""

    environment: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, int] = field(default_factory=dict)
    include: Callable[[str], str | None] | None = None
