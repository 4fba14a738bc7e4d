"""A job file as a unit: its jobs, and where each option stands in its text."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from poolproof.foreign.lint.model import JobSection, Unit, WrittenOption
from poolproof.load.fio.aliases import canonical
from poolproof.load.fio.job_draft import ALL_NAMES
from poolproof.load.fio.jobfile import read_job_file

_SECTION = re.compile(r"^\s*\[(?P<name>[^\n]*)\]")
_UNCLOSED = re.compile(r"^\s*\[[^\s\[\]]+\s*$")  # no test of a shell: that has blanks
_INCLUDE = re.compile(r"^\s*include\s+\S+\s*$")
_OPTION = re.compile(r"^\s*(?P<text>[^#;\n]*[^#;\s])")
_SETTING = re.compile(r"^\s*(?P<name>[a-z][\w-]*)\s*(?:=.*)?$")


@dataclass(frozen=True)
class Surroundings:
    """What a job file can draw upon: the environment, facts of the machine, other files by their names."""

    environment: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, int] = field(default_factory=dict)
    include: Callable[[str], str | None] | None = None


def is_job_file(text: str) -> bool:
    """The first line that says something opens a section, if only with half its brackets, or includes a file."""
    for line in text.splitlines():
        if line.strip() and line.lstrip()[0] not in "#;":
            return any(form.match(line) for form in (_SECTION, _UNCLOSED, _INCLUDE))
    return False


def holds_options(text: str) -> bool:
    """A job file, and in it an option that fio knows: other files have sections as well."""
    settings = (_SETTING.match(line) for line in text.splitlines())
    return is_job_file(text) and any(found is not None and found["name"] in ALL_NAMES for found in settings)


def unit_of(text: str, surroundings: Surroundings, *, first_line: int = 1, start: int = 0) -> Unit:
    """The job file that begins at character `start` of a larger text, on its line `first_line`."""
    read = read_job_file(
        text,
        environment=surroundings.environment,
        machine=surroundings.machine,
        include=surroundings.include,
        first_line=first_line,
    )
    sections = tuple(_sections(text, start))
    own = [section for section in sections if not section.is_shared]
    return Unit(
        "job file",
        first_line,
        read.jobs,
        read.problems,
        sections=sections if len(own) == len(read.jobs.jobs) else None,
    )


def _sections(text: str, start: int) -> Iterator[JobSection]:
    """Sections in order. Where an included file opens sections of its own, there are fewer here than jobs."""
    name: str | None = None
    settings: list[WrittenOption] = []
    insert_at = place = 0
    for line in text.split("\n"):
        after = min(place + len(line) + 1, len(text))
        opened, option = _SECTION.match(line), _OPTION.match(line)
        if opened is not None:
            if name is not None:
                yield JobSection(name, name == "global", tuple(settings), start + insert_at)
            name, settings, insert_at = opened["name"], [], after
        elif name is not None and option is not None and not _INCLUDE.match(line):
            given = option["text"].partition("=")[0].strip()
            begin = start + place + option.start("text")
            settings.append(WrittenOption(canonical(given), given, begin, start + place + option.end("text")))
            insert_at = after
        place += len(line) + 1
    if name is not None:
        yield JobSection(name, name == "global", tuple(settings), start + insert_at)
