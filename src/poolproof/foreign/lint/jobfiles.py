"""Parse a job file into a `FioCall`, recording the position of each option in the text."""

import re
from collections.abc import Iterator
from dataclasses import replace

from poolproof.foreign.lint.model import FioCall, JobEnvironment, JobSection, WrittenOption
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.option_names import ALL_NAMES, canonical

_SECTION = re.compile(r"^\s*\[(?P<name>[^\n]*)\]")
_PROMPT = re.compile(r"^\s*\[[^\]\n]*\]\$\s|^\s*\[[^\]\n]*[@~/ ][^\]\n]*\]#\s")  # [root@host ~]# fio …
_UNCLOSED = re.compile(r"^\s*\[[^\s\[\]]+\s*$")  # a test in a shell script has spaces, so it does not match
_INCLUDE = re.compile(r"^\s*include\s+\S+\s*$")
_OPTION = re.compile(r"^\s*+(?P<text>[^#;\n]+)")
_SETTING = re.compile(r"^\s*(?P<name>[a-z][\w-]*)\s*(?:=.*)?$")
_TEMPLATE = re.compile(r"\{#.{0,2000}?#\}|^[ \t]*\{%.{0,200}?%\}[ \t]*$", re.DOTALL | re.MULTILINE)  # of Jinja
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})|\{\{[^{}]*\}\}|@\w+@|%\w+%")
"""Matches a line that another program replaces with any options before fio reads the file."""

_MORE_WITH_RW = 3
INCLUDE = "include"
"""The unknown word that stands for the options of an included file that does not exist here."""

_SHARED = frozenset(
    {
        "arguments", "atomic", "block", "brick", "cgroup", "comm", "conf", "cont", "description", "dir", "directory",
        "dummy", "filename", "gid", "hostname", "https", "initiator", "interface", "listen", "load", "mem", "name",
        "nice", "offset", "pool", "port", "prep", "prio", "profile", "program", "protocol", "rate", "size", "stats",
        "sync", "thread", "threads", "timeout", "ttl", "uid", "uri", "verb", "verify", "volume",
    }
)  # fmt: skip
"""Options of fio whose names other file formats use too."""


def without_control_lines(text: str) -> str:
    """Replace the comments of a template, and lines such as `{% if … %}`, with spaces. The positions do not change."""
    return _TEMPLATE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text) if "{" in text else text


def is_job_file(text: str) -> bool:
    """True if the text begins with a section header or an `include` line.

    The header may lack its `]`. Blank lines and comments are ignored. A shell prompt (`[root@host ~]# fio …`) does not
    count as a header.
    """
    for line in _TEMPLATE.sub("", text).split("\n"):
        if line.strip() and line.lstrip()[0] not in "#;":
            is_prompt = _PROMPT.match(line) is not None
            return not is_prompt and any(form.match(line) for form in (_SECTION, _UNCLOSED, _INCLUDE))
    return False


def has_fio_options(text: str) -> bool:
    """True if the text is a job file with at least one option that only fio has.

    Other file formats have sections too, with settings such as `name` and `port`.
    """
    return is_job_file(text) and not _options_in(text) <= _SHARED and not is_of_another_program(text)


def is_of_another_program(text: str) -> bool:
    """True if most settings in the text do not exist in fio, as in another benchmark's configuration.

    A job file of an engine that is not part of fio sets `ioengine`. The configuration of a program that plots fio's
    results may set `rw`, next to many settings of its own.
    """
    settings = (_SETTING.match(line) for line in text.split("\n"))
    names = {found["name"] for found in settings if found is not None}
    known = names & ALL_NAMES
    least = max(2, len(known)) * (1 if names.isdisjoint(("rw", "readwrite")) else _MORE_WITH_RW)
    return len(names - known) > least and "ioengine" not in names


def sets_fio_option(text: str) -> bool:
    """True if a line of the text sets a fio option, even outside a section, because an included file may have none."""
    return bool(_options_in(text))


def _options_in(text: str) -> frozenset[str]:
    settings = (_SETTING.match(line) for line in text.split("\n"))
    return frozenset(found["name"] for found in settings if found is not None) & ALL_NAMES


def sets_only_fio_options(text: str) -> bool:
    """True if the text sets a fio option, and every line does so or is empty, a comment, a header or an `include`.

    Another file may contain a line that looks like a fio option, such as `name=`, next to passwords.
    """
    lines = [line for line in text.split("\n") if line.strip() and line.lstrip()[0] not in "#;"]
    others = [line for line in lines if not (_SECTION.match(line) or _INCLUDE.match(line))]
    settings = [_SETTING.match(line) for line in others]
    return sets_fio_option(text) and all(found is not None and found["name"] in ALL_NAMES for found in settings)


def unit_of(text: str, surroundings: JobEnvironment, *, first_line: int = 1, start: int = 0) -> FioCall:
    """Parse a job file that may be part of a larger text.

    `first_line`, `start`: the line and the character at which the job file begins in that text.
    """
    text = without_control_lines(text)
    read = read_job_file(
        text,
        environment=surroundings.environment,
        machine=surroundings.machine,
        include=surroundings.include,
        defaults=surroundings.defaults,
        first_line=first_line,
    )
    only = surroundings.only
    jobs = tuple(job for job in read.jobs if not only or job.name in only)
    found = _sections(text, start)
    sections = tuple(section for section in found if section.is_shared or not only or section.name in only)
    # There are fewer sections than jobs if an included file has sections.
    is_complete = sum(not section.is_shared for section in sections) == len(jobs)
    placed = sections if is_complete else None
    unknown = {(each.line, each.option) for each in read.problems if each.option and _VARIABLE.fullmatch(each.option)}
    absent = {(each.line, INCLUDE) for each in read.problems if each.is_absent}
    return FioCall(
        "job file",
        first_line,
        jobs,
        tuple(each for each in read.problems if (each.line, each.option) not in unknown),
        sections=placed,
        unknown_words=tuple(sorted((line, word or "") for line, word in unknown | absent)),
        defaults=read.shared,
    )


def on_line(unit: FioCall, line: int) -> FioCall:
    """Return the job file as if all of it were on one line."""
    jobs = tuple(replace(job, line=line, lines=dict.fromkeys(job.lines, line)) for job in unit.jobs)
    return replace(unit, jobs=jobs, problems=tuple(replace(each, line=line) for each in unit.problems))


def inherited(surroundings: JobEnvironment, call: FioCall) -> JobEnvironment:
    """Return the inputs of a job file that a command runs."""
    return replace(surroundings, defaults=call.defaults, only=call.only)


def _sections(text: str, start: int) -> Iterator[JobSection]:
    """Yield the sections of a job file in order. `start`: an offset that is added to all positions in the sections."""
    name: str | None = None
    settings: list[WrittenOption] = []
    insert_at = place = 0
    for line in text.split("\n"):
        after = min(place + len(line) + 1, len(text))
        opened, option = _SECTION.match(line), _OPTION.match(line)
        if opened is not None:
            if name is not None:
                yield JobSection(name, name.startswith("global"), tuple(settings), start + insert_at)
            name, settings, insert_at = opened["name"], [], after
        elif name is not None and option is not None and not _INCLUDE.match(line):
            given = option["text"].partition("=")[0].strip()
            begin = start + place + option.start("text")
            end = begin + len(option["text"].rstrip())
            settings.append(WrittenOption(canonical(given), given, begin, end))
            insert_at = after
        place += len(line) + 1
    if name is not None:
        yield JobSection(name, name.startswith("global"), tuple(settings), start + insert_at)
