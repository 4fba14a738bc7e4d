"""Turn the words of one fio command into a `FioCall`."""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.model import FioCall, JobSection, WrittenOption
from poolproof.foreign.lint.shell.shell_words import ShellWord
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.commandline import JOB_FILE, Command, read_arguments, takes_next
from poolproof.load.fio.job import Job
from poolproof.load.fio.jobfile import Problem
from poolproof.load.fio.option_names import ALL_NAMES, PROGRAM_OPTIONS

_PRINTS_HELP = frozenset({"cmdhelp", "enghelp", "help", "version"})
_NEEDS_NO_JOB = frozenset({"profile", "server", "client", "remote-config"}) | _PRINTS_HELP
_COMMENT_MARKS = ("//", "*")  # at the beginning of a continuation line in a C comment
_RUNS_NOTHING = frozenset({"parse-only", "showcmd"})

_MOST_MISTAKES = 2
_FEWEST_WORDS = 4
_ELLIPSIS = re.compile(r"\.{2,}|…|\[\.{2,}\]")


def read_fio_call(words: Sequence[ShellWord], line: int) -> FioCall:
    """Return the call of fio with these arguments. `line`: the line of the word `fio`."""
    end = next((at for at, word in enumerate(words) if word.text.startswith(":::")), None)  # syntax of GNU parallel
    words = _without_optional([word for word in words[:end] if word.text not in _COMMENT_MARKS])
    before = [None, *words]
    is_unknown = [
        _is_unknown(word) and not JOB_FILE.search(word.text) and not (last and takes_next(last.text))
        for last, word in zip(before, words, strict=False)
    ]
    known = [word for word, is_any in zip(words, is_unknown, strict=True) if not is_any]
    unknown = tuple((word.line, word.text) for word, is_any in zip(words, is_unknown, strict=True) if is_any)
    command = read_arguments([word.text for word in known], line, lines=[word.line for word in known])
    if _is_of_another_program(command) or _is_prose(command):
        return FioCall("command", line, jobs=())
    problems = (*command.problems, *([] if unknown else _missing_name(command)))
    given = {name for name, _value in command.program}
    only_parses = not given.isdisjoint(_RUNS_NOTHING)
    return FioCall(
        "command",
        line,
        jobs=command.jobs or tuple(_of_profile(command)),
        problems=problems,
        files=() if given & _PRINTS_HELP else command.files,
        sections=None if any(word.is_split for word in words) else _sections(command, known),
        unknown_words=unknown,
        read_only=only_parses or "readonly" in given,
        only_parses=only_parses,
        defaults=command.shared,
        only=frozenset(value for name, value in command.program if name == "section"),
        runs_in="machine" if "client" in given else "",
    )


def _is_of_another_program(command: Command) -> bool:
    """True if fio has so few of the options that they must be those of a program or script with the same name.

    For example, `generate-benchmark-summary fio --targets=/tmp --samples=1 --clients=a`. A typing error affects only
    one or two options, and nearly all fio commands set `--name`.
    """
    if command.jobs or any(given.name == "name" for given in command.given):
        return False
    unknown = [problem for problem in command.problems if problem.option]
    return len(unknown) > _MOST_MISTAKES or sum(not problem.is_certain for problem in unknown) >= _MOST_MISTAKES


def _is_prose(command: Command) -> bool:
    """True for a sentence about fio, such as "run fio against a disk, you need to set --iodepth=1"."""
    words = [name for name in command.files if name.isalpha()]
    return not command.jobs and len(words) >= _FEWEST_WORDS and len(words) == len(command.files)


def _without_optional(words: Sequence[ShellWord]) -> list[ShellWord]:
    """Return the words without those in brackets, as in a description of the usage (`[--debug=io]`)."""
    found, is_optional = [], False
    for word in words:
        is_optional = is_optional or word.text.startswith("[-")
        if not is_optional:
            found.append(word)
        is_optional = is_optional and not word.text.endswith("]")
    return found


def _is_unknown(word: ShellWord) -> bool:
    """True if the word stands for any options: `$OPTIONS`, `"$@"`, `--$name=1`, and `...` in documentation."""
    return _ELLIPSIS.fullmatch(word.text) is not None or UNKNOWN.search(word.text.partition("=")[0]) is not None


def _of_profile(command: Command) -> Iterator[Job]:
    """Yield the jobs of `--profile=act` that write (profiles/act.c, act_add_rw)."""
    devices = [given.value for given in command.given if given.name == "device-names"]
    for device in devices[-1].split(",") if devices and ("profile", "act") in command.program else ():
        options = {"rw": "randwrite", "bs": "128k", "direct": "1", "ioengine": "sync", "filename": device}
        yield Job(f"act-write-{device}", {**options, "time_based": "1", "runtime": "24h"}, command.line)


def _missing_name(command: Command) -> Iterator[Problem]:
    """Yield a problem if a command has job options but no job. Options such as `--profile` make a job unnecessary."""
    program_options = {name for name, _value in command.program}
    options = [given.name for given in command.given if given.name in ALL_NAMES - {"name"}]
    misspelt = any(problem.meant == "name" for problem in command.problems)
    if options and not command.runs and not misspelt and not program_options & _NEEDS_NO_JOB:
        message = "without `--name` there is no job: fio would print its help and run nothing"
        yield Problem(command.line, message, fix="give the job a name: fio --name=job …")


def _sections(command: Command, words: Sequence[ShellWord]) -> tuple[JobSection, ...]:
    """Return the sections of a command: the global options first, then one section per job."""
    sections: list[JobSection] = []
    name, settings = "global", list[WrittenOption]()
    insert_at = words[0].start if words else 0
    for given in command.given:
        first, last = words[given.first], words[given.last]
        if given.name == "name":
            sections.append(JobSection(name, name.startswith("global"), tuple(settings), insert_at))
            name, settings = given.value, []
        elif given.name not in PROGRAM_OPTIONS:
            settings.append(WrittenOption(given.name, first.text.partition("=")[0], first.start, last.end))
        insert_at = last.end
    sections.append(JobSection(name, name.startswith("global"), tuple(settings), insert_at))
    return tuple(sections)
