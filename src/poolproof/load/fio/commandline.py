"""fio's command lines as jobs: `fio --name=a --rw=read --name=b …`, one dash or two, values after `=` or a blank.

Options before the first `--name` hold for all jobs, as do those of `--name=global`; a name starts a job
(`parse_cmd_line` in fio's init.c). Names may be cut to a prefix that fits one option only (getopt_long_only).
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.load.fio.aliases import ALIASES
from poolproof.load.fio.job import JobFile
from poolproof.load.fio.job_draft import ALL_NAMES, MOST_PROBLEMS, JobDraft, Problem, resolve, unknown
from poolproof.load.fio.option_names import JOB_SWITCHES, PROGRAM_OPTIONS, PROGRAM_SWITCHES

_PROGRAM = re.compile(r"^(?:\S*/)?fio(?:[-_.]?v?\d[\w.-]*)?(?:\.exe)?$")
_ALL = ALL_NAMES | PROGRAM_OPTIONS
_OPERATORS = frozenset(["|", "||", "&", "&&", ";", ">", ">>", "<", "<<", ">&", "(", ")", "2>", "2>&1"])
_NUMBER = re.compile(r"^-\d")


@dataclass(frozen=True)
class Given:
    """An option as it was given, by its first name, and the words that hold it: `first` to `last`, from 0."""

    name: str
    value: str
    first: int
    last: int


@dataclass(frozen=True)
class Command:
    """One call of fio. `files` are the job files it names, `program` its own options by their first names.

    `line` and `last_line` are where it stands, from 1; `text` is it on one line; `given` are all options in order.
    """

    jobs: JobFile
    files: tuple[str, ...] = ()
    program: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    line: int = 1
    last_line: int = 1
    text: str = ""
    given: tuple[Given, ...] = ()

    @property
    def runs(self) -> bool:
        """It asks fio to do I/O: it has jobs or job files."""
        return bool(self.jobs.jobs or self.files)


def read_command(text: str, line: int = 1) -> Command | None:
    """The command in a shell line, continuation lines joined; None when there is no call of fio in it.

    What stands before fio (a prompt, `sudo`, variables) and after the command (`|`, `>`, `;`) is left out; a command
    that another shell is given in quotes is found. A text with quotes that do not close is split at blanks.
    """
    every = _words(text)
    words = _fio_words(every)
    if words is None:
        inner = [word for word in every if " " in word and "fio " in word and word != text]
        return next(filter(None, (read_command(word, line) for word in inner)), None)
    return read_arguments(words, line, text=" ".join(["fio", *map(shlex.quote, words)]))


def read_arguments(
    arguments: Sequence[str], line: int = 1, *, text: str = "", lines: Sequence[int] | None = None
) -> Command:
    """The jobs in fio's arguments, without the program's name. Nothing is raised; see `problems`.

    `lines` has the line of each argument; without it, all stand on `line`.
    """
    reader = _Reader(line)
    given = []
    for each in _options(arguments, reader, lines or [line] * len(arguments)):
        reader.option(each.name, each.value)
        given.append(each)
    jobs = JobFile(tuple(draft.job(shared) for draft, shared in reader.drafts))
    return Command(
        jobs,
        tuple(reader.files),
        tuple(reader.program),
        tuple(reader.problems),
        line,
        max(lines, default=line) if lines else line,
        text or shlex.join(arguments),
        tuple(given),
    )


def place_of_fio(words: Sequence[str]) -> int | None:
    """Which word of a simple command calls fio; None where none does, or where no option or job file follows it."""
    for place, word in enumerate(words):
        if _PROGRAM.match(word) and _is_call(words[place + 1 :]):
            return place
    return None


class _Reader:
    """Keeps the job whose options are being read."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.shared = JobDraft("global", line)
        self.drafts: list[tuple[JobDraft, JobDraft]] = []
        self.files: list[str] = []
        self.program: list[tuple[str, str]] = []
        self.problems: list[Problem] = []
        self._current = self.shared

    def option(self, name: str, value: str) -> None:
        """An option of the program or of the current job, or the start of a job."""
        if name in PROGRAM_OPTIONS:
            self.program.append((name, value))
        elif name == "name":
            self._start(value)
        else:
            self._current.put_in_order(name, value, self.line)

    def unknown(self, name: str) -> None:
        """Tell of an option that fio does not know."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(unknown(name, self.line, _ALL))

    def _start(self, name: str) -> None:
        if name == "global":
            self.shared = self.shared.copied(self.line)
            self._current = self.shared
            return
        self._current = JobDraft(name, self.line)
        self.drafts.append((self._current, self.shared))


def _options(arguments: Sequence[str], reader: _Reader, lines: Sequence[int]) -> Iterator[Given]:
    """The options in order; job files and problems go to the reader, whose `line` is that of the option at hand."""
    waiting: Given | None = None
    for place, word in enumerate(arguments):
        if waiting is not None:
            yield Given(waiting.name, word, waiting.first, place)
            waiting = None
            continue
        reader.line = lines[place]
        if not word.startswith("-") or word == "-" or _NUMBER.match(word):
            reader.files.append(word)
            continue
        given, equals, value = word.lstrip("-").partition("=")
        name = resolve(given, _ALL)
        if name is None:
            reader.unknown(given)
            name = given
        if equals or name in JOB_SWITCHES or name in PROGRAM_SWITCHES or name not in _ALL:
            yield Given(name, value, place, place)
        else:
            waiting = Given(name, "", place, place)
    if waiting is not None:
        reader.problems.append(Problem(reader.line, f"the option {waiting.name!r} lacks its value"))


def _words(text: str) -> list[str]:
    """The words of a shell line, operators apart."""
    joined = re.sub(r"\\[ \t]*\r?\n", " ", text)
    splitter = shlex.shlex(joined, posix=True, punctuation_chars="|&;<>()")
    splitter.whitespace_split = True
    splitter.commenters = ""
    try:
        return list(splitter)
    except ValueError:
        return joined.split()


def _fio_words(words: Sequence[str]) -> list[str] | None:
    """What follows the first word that is fio, up to the end of its command; None where no option or file follows."""
    for place, word in enumerate(words):
        if not _PROGRAM.match(word.lstrip("$#%>`'\"(")):
            continue
        ending = next((end for end in range(place + 1, len(words)) if words[end] in _OPERATORS), len(words))
        own = [part for part in words[place + 1 : ending] if part != "\\"]
        if ending < len(words) and words[ending].startswith(">") and own and own[-1] in ("1", "2"):
            own.pop()
        if _is_call(own):
            return [part.rstrip("`") for part in own]
    return None


def _is_call(words: Sequence[str]) -> bool:
    """These can be the arguments of fio."""
    return any(_is_known_option(word) for word in words) or _is_job_file_call(words)


def _is_known_option(word: str) -> bool:
    name = word.lstrip("-").partition("=")[0]
    return word.startswith("-") and (name in _ALL or name in ALIASES or resolve(name, _ALL) is not None)


def _is_job_file_call(words: Sequence[str]) -> bool:
    return len(words) == 1 and re.search(r"\.(?:fio|job|ini)$", words[0]) is not None
