"""lint's data types: findings, fio calls, the positions of options in a text, and the devices that jobs write to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import Problem
from poolproof.rules.model import Effect

Severity = Literal["error", "warning", "note"]
Form = Literal["job file", "command"]
RunsIn = Literal["", "container", "machine"]

SEVERITIES: Mapping[Effect, Severity] = {
    "fails": "error",
    "refutes": "error",
    "suspects": "warning",
    "leaves-unproven": "note",
    "notes": "note",
}
"""The severity that lint reports for each effect of a finding.

`error`: the job fails, or its result is certainly wrong.
`warning`: the result is probably misleading.
`note`: the result is still valid.
"""


@dataclass(frozen=True)
class Diagnostic:
    """A finding and its location. Lines are numbered from 1.

    `source`: the file name as given, `-` for standard input, or `command line`.
    """

    source: str
    line: int
    rule: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class WrittenOption:
    """An option as written in the text, from character `start` to character `end`.

    `name`: fio's primary name for the option.
    `given`: the name as written, including any dashes.
    """

    name: str
    given: str
    start: int
    end: int


@dataclass(frozen=True)
class JobSection:
    """The options of one job, or the [global] options that several jobs share.

    `insert_at`: the position at which to insert new options.
    """

    name: str
    is_shared: bool
    settings: tuple[WrittenOption, ...]
    insert_at: int


@dataclass(frozen=True)
class FioCall:
    """The jobs of one fio call, from a job file or a command.

    `files`: the job files that the command names.
    `sections`: the job sections, in text order, or None if the text cannot be changed in place, for example because a
    command is quoted inside another command. Apart from shared ([global]) sections, they correspond one-to-one to
    `jobs`.
    `unknown_words`: (line, argument) for each argument with an unknown variable, which can expand to any option.
    `read_only`: True if fio was called with `--readonly` and therefore refuses jobs that write, or runs nothing.
    `only_parses`: True if fio was called with `--parse-only` or `--showcmd`, and therefore runs nothing.
    `defaults`: the options of a command that also apply to the first of the `files`, or the options of a job file that
    would apply to further sections.
    `only`: the names of the sections to which `--section` limits the job files. Empty if all sections run.
    `runs_in`: whether fio runs in a container on this machine, on another machine, or neither (an empty string).
    `ends_after`: the time after which the script ends fio (`timeout 60 fio …`), as written (`60`, `5m`, `$LIMIT`).
    Empty if nothing ends it.
    `is_expanded`: True if a shell or another program replaces variables in the job file before fio reads it.
    `is_own_build`: True if the command runs a fio outside of the usual directories, which may have options of its own.
    `called_at`: the line on which the script calls the function that contains the call with these arguments, or 0.
    `runs_at`: the line on which fio runs: that of the command that runs a job file written by an earlier command of the
    script, or that of the call of the function.
    """

    form: Form
    line: int
    jobs: Jobs
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    sections: tuple[JobSection, ...] | None = None
    unknown_words: tuple[tuple[int, str], ...] = ()
    read_only: bool = False
    only_parses: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    only: frozenset[str] = frozenset()
    runs_in: RunsIn = ""
    ends_after: str = ""
    is_expanded: bool = False
    is_own_build: bool = False
    called_at: int = 0
    runs_at: int = 0


@dataclass(frozen=True)
class LoopIteration:
    """A script's fio calls for one combination of its loop variables' values. `values` is keyed by variable name.

    `starts_over`: True if the script would take other branches than in the previous combination. The two then exclude
    each other.
    """

    values: Mapping[str, str]
    units: tuple[FioCall, ...]
    starts_over: bool = False


@dataclass(frozen=True)
class JobEnvironment:
    """The inputs of a job file: environment variables, facts about the machine, and files to include.

    `include`: returns the contents of the named file, or None if it cannot be read. It raises FileNotFoundError if the
    file does not exist, which is the default.
    `defaults`, `only`: as in the `FioCall` that runs the job file.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, int] = field(default_factory=dict)
    include: Callable[[str], str | None] | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    only: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WrittenDevice:
    """A path to which a job writes, as seen from a host.

    `exists`: False if nothing exists at the path.
    `is_block`: True for a block device.
    `found`: the contents or use of the device, worded as the end of a sentence (`is mounted at /`), or an empty string
    if nothing was found.
    `host`: the host, as messages name it.
    """

    exists: bool
    is_block: bool = False
    found: str = ""
    host: str = "this machine"
