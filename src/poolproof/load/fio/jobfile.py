"""fio's job files as values, with the line of every option.

Source: `parse_jobs_ini` in fio's init.c; measured with `fio --debug=parse` of fio 3.33: a value ends at `#` or `;`, no
quoting helps; a blank after `=` belongs to the value; `[global]` holds for all sections below it; section options go
over global ones; `include FILE` reads another file in place; `${NAME}` is the environment's, `$ncpus`, `$pagesize` and
`$mb_memory` the machine's, and a value with one of these is arithmetic. Within a section fio reads `kb_base` first,
wherever it stands (its priority in options.c); the globals it has read before.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from poolproof.load.fio.aliases import canonical
from poolproof.load.fio.arithmetic import evaluate
from poolproof.load.fio.job import JobFile
from poolproof.load.fio.job_draft import ALL_NAMES, MOST_PROBLEMS, JobDraft, Problem, unknown

_SECTION = re.compile(r"^\s*\[(?P<name>[^\n]*)\]")
_INCLUDE = re.compile(r"^\s*include\s+(?P<path>\S+)\s*$")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(ncpus|pagesize|mb_memory)")
_COMMENT = re.compile(r"[#;]")
_DEEPEST_INCLUDE = 8
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class ReadJobFile:
    """The jobs of a file, and what fio would refuse in it, in the order of the lines."""

    jobs: JobFile
    problems: tuple[Problem, ...] = ()


def read_job_file(
    text: str,
    *,
    environment: Mapping[str, str] | None = None,
    machine: Mapping[str, int] | None = None,
    include: Callable[[str], str | None] | None = None,
    first_line: int = 1,
) -> ReadJobFile:
    """Read a job file. Nothing is raised: what fio would refuse is among the problems.

    A variable that `environment` lacks stays as it is written; `machine` gives `ncpus`, `pagesize` and `mb_memory`;
    `include` gives the text of another file, or None. Lines of an included file count as the line that includes it.
    """
    reader = _Reader(environment or {}, machine or {}, include)
    reader.read(text, first_line)
    jobs = tuple(draft.job(shared) for draft, shared in reader.drafts)
    return ReadJobFile(JobFile(jobs), tuple(reader.problems))


class _Reader:
    """Keeps the section that is being read."""

    def __init__(
        self, environment: Mapping[str, str], machine: Mapping[str, int], include: Callable[[str], str | None] | None
    ) -> None:
        self.drafts: list[tuple[JobDraft, JobDraft]] = []
        self.problems: list[Problem] = []
        self._environment = environment
        self._machine = machine
        self._include = include
        self._shared = JobDraft("global", 0)
        self._section: JobDraft | None = None

    def read(self, text: str, first_line: int, depth: int = 0) -> None:
        """Every line of a file; those of an included file (`depth` above 0) all count as `first_line`."""
        for offset, line in enumerate(text.split("\n")):
            self._line(line, first_line if depth else first_line + offset, depth)

    def _line(self, line: str, number: int, depth: int) -> None:
        if not line.strip() or line.lstrip()[0] in "#;":
            return
        section = _SECTION.match(line)
        if section is not None:
            self._open(section["name"], number)
            return
        included = _INCLUDE.match(line)
        if included is not None:
            self._read_included(included["path"], number, depth)
            return
        self._option(_COMMENT.split(line, maxsplit=1)[0].strip(), number)

    def _open(self, name: str, number: int) -> None:
        if name == "global":
            self._shared = self._shared.copied(number)
            self._section = self._shared
            return
        self._section = JobDraft(name, number)
        self.drafts.append((self._section, self._shared))

    def _option(self, text: str, number: int) -> None:
        if not text:
            return
        if text.startswith("["):
            self._tell(Problem(number, f"{text[:_LONGEST_SHOWN]!r} opens no section: it lacks its `]`"))
            return
        if self._section is None:
            self._tell(Problem(number, f"{text[:_LONGEST_SHOWN]!r} stands above the first [section]"))
            return
        name, equals, value = text.partition("=")
        name = name.strip()
        if name not in ALL_NAMES and len(self.problems) < MOST_PROBLEMS:
            self._tell(unknown(name, number))
        self._section.put(canonical(name), self._substituted(value) if equals else "", number)

    def _tell(self, problem: Problem) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def _read_included(self, path: str, number: int, depth: int) -> None:
        text = self._include(path) if self._include is not None and depth < _DEEPEST_INCLUDE else None
        if text is None:
            self._tell(Problem(number, f"the file {path!r} that is included here cannot be read"))
        else:
            self.read(text, number, depth + 1)

    def _substituted(self, value: str) -> str:
        """The value with variables and machine facts filled in, as far as they are known."""
        value = _VARIABLE.sub(lambda match: self._environment.get(match[1], match[0]), value)
        wanted = _KEYWORD.findall(value)
        if not wanted or any(word not in self._machine for word in wanted):
            return value
        return _calculated(_KEYWORD.sub(lambda match: str(self._machine[match[1]]), value))


def _calculated(text: str) -> str:
    """The whole number that the arithmetic gives; the text itself where it is none."""
    try:
        return str(int(evaluate(f"({text})", lambda _: 1)))
    except (ValueError, OverflowError):
        return text
