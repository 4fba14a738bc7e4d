"""The calls of fio in a shell script as units, also those in the quotes of another command (ssh, docker, sh -c)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from poolproof.foreign.lint.jobfiles import Surroundings, holds_options
from poolproof.foreign.lint.jobfiles import unit_of as unit_of_job_file
from poolproof.foreign.lint.model import JobSection, Unit, WrittenOption
from poolproof.foreign.lint.shell_variables import known_variables
from poolproof.foreign.lint.shell_words import Script, ShellWord, read_script
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.commandline import Command, place_of_fio, read_arguments
from poolproof.load.fio.job_draft import ALL_NAMES, Problem
from poolproof.load.fio.option_names import PROGRAM_OPTIONS

_DEEPEST = 3
_WITHOUT_JOBS = frozenset({"profile", "server", "client", "cmdhelp", "enghelp", "help", "version", "remote-config"})
_NAMED_FIO = re.compile(r"\$\{?\w*fio\w*\}?", re.IGNORECASE)  # the program by a variable: $FIO, ${FIO_CMD}
_PRINTS = frozenset({"echo", "printf", "logger"})  # a command that is only told of
_SUBSTITUTED = re.compile(r"\$\(|`")  # read already, by the reader of words


def units_of(text: str, surroundings: Surroundings) -> tuple[Unit, ...]:
    """Every call of fio in the script that has jobs or job files, and every job file in its here-documents."""
    variables = known_variables(text)
    script = read_script(text, variables)
    units = [*_of_commands(script, variables, 0), *_of_documents(script, surroundings)]
    return tuple(sorted(units, key=lambda unit: unit.line))


def _of_documents(script: Script, surroundings: Surroundings) -> Iterator[Unit]:
    for document in script.documents:
        if holds_options(document.text):
            yield unit_of_job_file(document.text, surroundings, first_line=document.line, start=document.start)


def _of_commands(script: Script, variables: Mapping[str, str], depth: int) -> Iterator[Unit]:
    for words in script.commands:
        if words[0].text in _PRINTS:
            continue
        place = place_of_fio(["fio" if _NAMED_FIO.fullmatch(word.text) else word.text for word in words])
        if place is not None:
            unit = _unit(words[place + 1 :], words[place].line)
            if unit.jobs.jobs or unit.files or unit.problems or unit.unknown_words:
                yield unit
        elif depth < _DEEPEST:
            for word in words:
                yield from _of_quoted(word, variables, depth)


def _of_quoted(word: ShellWord, variables: Mapping[str, str], depth: int) -> Iterator[Unit]:
    """A command that is one word of another, as after `ssh host` or `sh -c`."""
    if "fio" not in word.text or " " not in word.text or _SUBSTITUTED.search(word.text):
        return
    if word.verbatim is not None:
        inner = read_script(word.text, variables, start=word.verbatim, line=word.line)
        yield from _of_commands(inner, variables, depth + 1)
        return
    for unit in _of_commands(read_script(word.text, variables, line=word.line), variables, depth + 1):
        yield Unit(unit.form, unit.line, unit.jobs, unit.problems, unit.files, None, unit.unknown_words)


def _unit(words: Sequence[ShellWord], line: int) -> Unit:
    unknown = tuple((word.line, word.text) for word in words if _is_unknown(word))
    known = [word for word in words if not _is_unknown(word)]
    command = read_arguments([word.text for word in known], line, lines=[word.line for word in known])
    problems = (*command.problems, *([] if unknown else _without_name(command)))
    sections = None if any(word.is_split for word in words) else _sections(command, known)
    return Unit("command", line, command.jobs, problems, command.files, sections, unknown)


def _without_name(command: Command) -> Iterator[Problem]:
    """Options of jobs, and no job: only `--name` starts one. A profile and a server have jobs of their own."""
    asked = {name for name, _value in command.program}
    options = [given.name for given in command.given if given.name in ALL_NAMES - {"name"}]
    misspelt = any("`name`" in problem.message for problem in command.problems)
    if options and not command.runs and not misspelt and not asked & _WITHOUT_JOBS:
        message = "there is no `--name`, and so no job: fio would print its help and run nothing"
        yield Problem(command.line, message, fix="give the job a name: fio --name=job …")


def _is_unknown(word: ShellWord) -> bool:
    """It may hold any option: `$OPTIONS`, `"$@"`, `--$name=1`."""
    return UNKNOWN.search(word.text.partition("=")[0]) is not None


def _sections(command: Command, words: Sequence[ShellWord]) -> tuple[JobSection, ...]:
    """The global options, then each job, in the order of the words."""
    sections: list[JobSection] = []
    name, settings = "global", list[WrittenOption]()
    insert_at = words[0].start if words else 0
    for given in command.given:
        first, last = words[given.first], words[given.last]
        if given.name == "name":
            sections.append(JobSection(name, name == "global", tuple(settings), insert_at))
            name, settings = given.value, []
        elif given.name not in PROGRAM_OPTIONS:
            settings.append(WrittenOption(given.name, first.text.partition("=")[0], first.start, last.end))
        insert_at = last.end
    sections.append(JobSection(name, name == "global", tuple(settings), insert_at))
    return tuple(sections)
