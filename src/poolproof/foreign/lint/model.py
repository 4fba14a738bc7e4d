"""What lint says, and what it reads: calls of fio where they stand in a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from poolproof.load.fio.job import JobFile
from poolproof.load.fio.job_draft import Problem
from poolproof.rules.model import Effect

Severity = Literal["error", "warning", "note"]
Form = Literal["job file", "command"]

SEVERITIES: Mapping[Effect, Severity] = {"fails": "error", "refutes": "error", "suspects": "warning", "notes": "note"}
"""`error`: the run fails or its figure is false for certain; `warning`: a trap applies; `note`: good to know."""


@dataclass(frozen=True)
class Diagnostic:
    """One finding at its place. `source` is a file as it was named, `-` for standard input; `line` counts from 1."""

    source: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class WrittenOption:
    """An option as it stands in the text: characters `start` to `end`, `name` is fio's first one.

    `given` is the name as written, with its dashes on a command line.
    """

    name: str
    given: str
    start: int
    end: int


@dataclass(frozen=True)
class JobSection:
    """A job, or what several jobs share. A new option goes to the character `insert_at`."""

    name: str
    is_shared: bool
    settings: tuple[WrittenOption, ...]
    insert_at: int


@dataclass(frozen=True)
class Unit:
    """The jobs of one call of fio: a job file, or a command.

    `sections` are in the order of the text, those that are not shared belong to `jobs` one by one; None where the text
    can't be changed in place (a command inside another one's quotes). `unknown_words` are arguments that can't be
    known here and may hold any option, with their lines.
    """

    form: Form
    line: int
    jobs: JobFile
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    sections: tuple[JobSection, ...] | None = None
    unknown_words: tuple[tuple[int, str], ...] = ()
