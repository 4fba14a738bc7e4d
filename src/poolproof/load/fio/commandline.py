"""Parse fio command lines such as `fio --name=a --rw=read --name=b …`.

An option starts with one or two dashes, and its value follows after `=` or a space. Option names may be shortened to an
unambiguous prefix (getopt_long_only). Options before the first `--name`, or after `--name=global`, apply to all later
jobs. Any other `--name` starts a job. Source: `parse_cmd_line` in fio's init.c.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.load.fio import option_names
from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobfile import MOST_PROBLEMS, JobDraft, Problem, misread_number, unknown_option
from poolproof.load.fio.option_values import RW_WORDS, is_external

_PROGRAM = re.compile(
    r"^(?:\S*/|[A-Za-z]:\\.*\\)?fio(?:[-_.]?v?\d[\w.-]*)?(?:\.exe|:[\w.-]+)?$"
)  # fio:3.36 is an image
_OTHER_NAME = re.compile(rf"{_PROGRAM.pattern}|^(?:\S*/)?fio[-_][\w-]{{1,40}}$")
_TYPICAL = frozenset({"rw", "readwrite", "bs", "filename", "directory", "size", "ioengine", "iodepth", "runtime"})
_NAMES = option_names.ALL_NAMES | option_names.PROGRAM_OPTIONS
_WRITES = frozenset(RW_WORDS) - {"read", "randread"}
_SWITCHES = option_names.JOB_SWITCHES | option_names.PROGRAM_SWITCHES
_JOINED = re.compile(r"^(?P<number>\d++[a-z]*+)(?P<rest>--(?P<name>[a-z][\w-]*).*)$", re.IGNORECASE)
_JOINED_OPTION = re.compile(r"(?<=[\w/.])--(?P<name>[a-z][\w-]{1,40})=")
_OPERATORS = frozenset(["|", "||", "&", "&&", ";", ">", ">>", "<", "<<", ">&", "(", ")", "2>", "2>&1"])
_WINDOWS_CALL = re.compile(
    r"(?:(?<=\s)|^)(?:[A-Za-z]:\\[^\s>]{0,120}>)?(?:(?:\.|[A-Za-z]:)\\(?:[\w.()-]{1,60}\\){0,9})?fio(?:\.exe)?(?=\s)"
)
WINDOWS_PATH = re.compile(r"(?<=[=\s\":][A-Za-z])\\:[\\/][^\s\"';|&<>()]*|(?<=[=\s\":])\\\\[.?\w][^\s\"';|&<>()]*")
r"""Matches the rest of a Windows path after its drive letter, such as `\:\t.dat`, or a device such as
`\\.\PhysicalDrive1`. Windows shells leave the backslashes as they are."""
_QUOTED_OR_PATH = re.compile(rf"(?P<quoted>'[^'\n]*')|{WINDOWS_PATH.pattern}")
# ^ of cmd.exe, ` of PowerShell, and a backslash whose line end was lost when the text was copied
_CONTINUED = re.compile(r"\\[ \t]*\r?\n|(?<=\s)[\^`](?=\s)|\\[ \t]+(?=--?[a-z])")
_SUBSTITUTION = re.compile(r"(?<![^\s=])'[^'\n]*'|(?P<shell>\$\(\(?(?![^()]*\bfio\s)[^()\n]{0,80}\)\)?)")
"""Matches a command substitution, and words in single quotes, in which a shell substitutes nothing."""

SUBSTITUTED = "$substituted"
_SUBSTITUTED = re.compile(r"\$substituted(\d{1,4})(?!\d)")
_DASHES = ("\u2013", "\u2014")
_JOINED_DASHES = "".join(_DASHES)
_MISSPELT = 0.7
_EXITS = frozenset({"help", "version", "cmdhelp", "enghelp", "cpuclock-test", "crctest", "memcpytest", "server"})
_NAMES_OF_PODS = ("-n", "--namespace", "-c", "--container", "--name", "--hostname")  # kubectl -n fio, but sudo -n fio
_NUMBER = re.compile(r"^-\d")
_MOST_WORDS = 100
"""How many words after a word are examined to find out whether that word runs fio."""

_WITH_VARIABLES = re.compile(r"(?:[\w./:=,@%+ -]|\$\w++|\$\{\w++(?:\[[@*]\])?\})++")
_IS_VARIABLE = re.compile(r"\$(?:\w+|\{\w+(?:\[[@*]\])?\})$").match
JOB_FILE = re.compile(r"\.(?:fio|job|ini)$")
JOB_FILE_NAME = re.compile(r"\.(?:fio|job|ini|cfg|conf|txt)$")


@dataclass(frozen=True)
class Given:
    """A command-line option: its canonical name, its value, and the indexes of its first and last word."""

    name: str
    value: str
    first: int
    last: int


@dataclass(frozen=True)
class Command:
    """A parsed fio command.

    `files`: the job files named on the command line.
    `program`: the options for fio itself, as (canonical name, value) pairs.
    `line`, `last_line`: the command's first and last line number (1-based).
    `text`: the command on a single line.
    `given`: all options, in the order of the command line.
    `shared`: the options that apply to all jobs, and to the jobs of the first job file (init.c, def_thread).
    """

    jobs: Jobs
    files: tuple[str, ...] = ()
    program: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    line: int = 1
    last_line: int = 1
    text: str = ""
    given: tuple[Given, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """True if the command makes fio do I/O, because it defines jobs or names job files."""
        return bool(self.jobs or self.files)


def read_command(text: str, line: int = 1) -> Command | None:
    """Return the fio command in a shell command, which may span several lines, or None if it does not run fio.

    Anything before fio (a prompt, `sudo`, variables) or after its arguments (`|`, `>`, `;`) is ignored. The fio command
    may also be quoted inside another command. If the quotes are unbalanced, the input is split at whitespace.
    """
    words, substituted = _words(text)
    arguments = _fio_arguments(words)
    if arguments is None:
        inner = [word for word in words if " " in word and "fio " in word and word != text]
        return next(filter(None, (read_command(word, line) for word in inner)), None)
    written = " ".join(["fio", *map(quoted, arguments)])
    values = dict(enumerate(substituted))
    written = _SUBSTITUTED.sub(lambda match: values.get(int(match[1]), match[0]), written)
    return read_arguments(arguments, line, text=written)


def quoted(word: str) -> str:
    """Return the word quoted for a shell. Variables keep their meaning, because they are not in single quotes."""
    return f'"{word}"' if _WITH_VARIABLES.fullmatch(word) and "$" in word else shlex.quote(word)


def read_arguments(
    arguments: Sequence[str], line: int = 1, *, text: str = "", lines: Sequence[int] | None = None
) -> Command:
    """Parse fio's arguments, without the program name. Invalid arguments are listed in the command's `problems`.

    `lines`: the line number of each argument. By default, all arguments are on `line`.
    """
    lines = lines or [line] * len(arguments)
    files: list[str] = []
    program: list[tuple[str, str]] = []
    problems: list[Problem] = []
    given = tuple(_options(arguments, lines, files, problems))
    shared = current = JobDraft("global", line)
    drafts: list[tuple[JobDraft, JobDraft]] = []
    for option in given:
        number = lines[option.first]
        if option.name in option_names.PROGRAM_OPTIONS:
            program.append((option.name, option.value))
        elif option.name == "name" and option.value.startswith("global"):
            shared = current = shared.copied(number)
        elif option.name == "name":
            current = JobDraft(option.value, number)
            drafts.append((current, shared))
        else:
            if option.name == "kb_base":  # on a command line, kb_base affects only the options after it
                current.early |= current.options.keys()
            joined = _joined_to(option)
            current.put(option.name, joined["number"] if joined else option.value, number)
    jobs = tuple(draft.job(shared) for draft, shared in drafts)
    if any(name == "readonly" for name, _ in program) and any(job.rw in _WRITES for job in jobs):
        problems.append(Problem(line, "--readonly refuses jobs that write, so fio stops", fix="remove --readonly"))
    problems += _misread_values(given, lines)
    return Command(
        jobs,
        tuple(files),
        tuple(program),
        tuple(problems),
        line,
        max(lines, default=line),
        text or shlex.join(arguments),
        given,
        shared.options,
    )


def _misread_values(given: Sequence[Given], lines: Sequence[int]) -> Iterator[Problem]:
    """Yield a problem for each misread number, and for each missing space, as in `--numjobs=1--group_reporting`."""
    for option in given:
        if problem := misread_number(option.name, option.value, lines[option.first]):
            yield problem
        if found := _joined_to(option):
            yield Problem(
                lines[option.first],
                f"fio reads {option.name}={option.value} as {option.name}={found['number']} and ignores the rest",
                fix=f"put a space before {found['rest']}",
                runs=True,
            )
        elif joined := _joined_option_in(option.value):
            yield Problem(
                lines[option.first],
                f"fio reads `{joined}` as part of the value of {option.name}",
                fix=f"put a space before {joined}",
                runs=True,
            )


def _joined_option_in(value: str) -> str | None:
    """Return the first option in a value that lacks the space before it, as in `/mnt/f--rw=read`, or None."""
    found = (each for each in _JOINED_OPTION.finditer(value) if option_names.resolve(each["name"], _NAMES) is not None)
    return next((each[0] for each in found), None)


def _joined_to(option: Given) -> re.Match[str] | None:
    found = _JOINED.match(option.value)
    return found if found is not None and option_names.resolve(found["name"], _NAMES) is not None else None


def place_of_fio(words: Sequence[str]) -> int | None:
    """Return the index of the word that runs fio, or None if no `fio` is followed by an option or a job file.

    If several words match, the last one runs fio, as in `kubectl exec fio -- fio --name=a` and `docker run --name fio
    --rm fio --name=a`. A `fio` that is the value of an option (`--name fio`) does not count.
    """
    programs = [at for at in range(len(words)) if _is_program(words, at)]
    programs = [at for at in programs if not (words[max(0, at - 1)] in _NAMES_OF_PODS and words[at - 2] != "sudo")]
    places = [at for at in programs if _is_call(_after(words, at))]
    return next((at for at in reversed(places) if at == places[0] or not takes_next(words[at - 1])), None)


def _is_program(words: Sequence[str], at: int) -> bool:
    """True if the word names fio, perhaps by a longer name (`fio_custom`), if `name` and two typical options follow."""
    word = words[at]
    if word.startswith("-") or not _OTHER_NAME.match(word):
        return False
    if _PROGRAM.match(word) is not None:
        return True
    names = {each.lstrip("-").partition("=")[0] for each in _after(words, at) if each.startswith("-")}
    return "name" in names and len(names & _TYPICAL) > 1


def _after(words: Sequence[str], at: int) -> Sequence[str]:
    """Return the words after the word at `at`. Without a limit, the time would grow with the square of their number."""
    return words[at + 1 : at + 1 + _MOST_WORDS]


def takes_next(word: str) -> bool:
    """True if the word is a fio option that takes the next word as its value."""
    if word in ("-", "--") or not word.startswith("-") or "=" in word:
        return False
    name = option_names.resolve(word.lstrip("-"), _NAMES)
    return name is not None and name not in _SWITCHES


def _options(
    arguments: Sequence[str], lines: Sequence[int], files: list[str], problems: list[Problem]
) -> Iterator[Given]:
    """Yield the options in order. Job files are added to `files`, and invalid options to `problems`."""
    at, is_own_engine = 0, False
    while at < len(arguments):
        first, word = at, arguments[at]
        at += 1
        if word == "--":  # for getopt, the end of the options
            continue
        if not word.startswith("-") or word == "-" or _NUMBER.match(word):
            if word.startswith(_DASHES):
                dash = f"{word} begins with a typographic dash: fio takes it for the name of a job file"
                problems.append(Problem(lines[first], dash, fix=f"type two hyphens: --{word.lstrip(_JOINED_DASHES)}"))
            else:
                files.append(word)
            continue
        written, equals, value = word.lstrip("-").partition("=")
        name = option_names.resolve(written, _NAMES)
        if name is None and not word.startswith("--") and not is_own_engine:
            letters = _short_options(word[1:])
            if letters is not None:
                problems.append(_misread(word, letters, lines[first]))
                yield from (Given(each, given, first, first) for each, given in letters)
                continue
        if name is None and len(problems) < MOST_PROBLEMS:
            problems.append(unknown_option(written, lines[first], _NAMES))
        name = name or written
        if equals or name in _SWITCHES or name not in _NAMES:
            yield Given(name, value, first, first)
        elif at < len(arguments):
            value = arguments[at]
            yield Given(name, value, first, at)
            at += 1
        else:
            problems.append(Problem(lines[first], f"the option {name!r} needs a value"))
        # the options of such an engine are known from here on (init.c, parse_cmd_line)
        is_own_engine = is_own_engine or (name == "ioengine" and is_external(value))


def _short_options(text: str) -> tuple[tuple[str, str], ...] | None:
    """Parse single-dash options as fio does if no long option matches (getopt_long_only).

    Each letter is a switch, or an option that takes the rest of the word as its value. Returns None if a letter is not
    an option, or if it would make fio exit without running the job.
    """
    found = []
    for at, letter in enumerate(text):
        name, takes_value = option_names.SHORT_OPTIONS.get(letter, ("", False))
        if not name or name in _EXITS:
            return None
        found.append((name, text[at + 1 :] if takes_value else ""))
        if takes_value:
            break
    return tuple(found) or None


def without_windows_path(text: str) -> str:
    """Replace each Windows path such as `C:\\fio\\fio.exe`, including any prompt before it, with `fio`.

    Otherwise, the backslashes would be parsed as shell escapes. The path is padded, so that positions do not change,
    and always ends with `.exe`, because fio's default engine differs on Windows.
    """

    def padded(found: re.Match[str]) -> str:
        return ("fio.exe" if len(found[0]) >= len("fio.exe") else "fio").rjust(len(found[0]))

    return _WINDOWS_CALL.sub(padded, text) if "fio" in text else text


def _misread(word: str, letters: Sequence[tuple[str, str]], line: int) -> Problem:
    name = word.lstrip("-").partition("=")[0]
    meant = option_names.nearest(name, _NAMES, _MISSPELT)
    read = " ".join(f"--{each}={value}" if value else f"--{each}" for each, value in letters)
    without = f"; {meant} stays at its default" if meant else ""
    fix = f"write --{meant}{word[1 + len(name) :]}" if meant else f"write what you mean: {read}"
    return Problem(line, f"fio reads `{word}` as {read}{without}", fix=fix, runs=True)


def _words(text: str) -> tuple[list[str], list[str]]:
    """Return a command's words, and the substitutions such as `$(nproc)`, whose values the text does not show.

    The first of them is replaced by `$substituted0` in the words, and so on.
    """
    joined = _WINDOWS_CALL.sub("fio", _CONTINUED.sub(" ", text))
    joined = _QUOTED_OR_PATH.sub(lambda match: match["quoted"] or match[0].replace("\\", "\\\\"), joined)
    substituted = [match["shell"] for match in _SUBSTITUTION.finditer(joined) if match["shell"]]
    numbers = itertools.count()
    joined = _SUBSTITUTION.sub(lambda each: f"{SUBSTITUTED}{next(numbers)}" if each["shell"] else each[0], joined)
    splitter = shlex.shlex(joined, posix=True, punctuation_chars="|&;<>()")
    splitter.whitespace_split = True
    splitter.commenters = ""
    try:
        return list(splitter), substituted
    except ValueError:
        return joined.split(), substituted


def _fio_arguments(words: Sequence[str]) -> list[str] | None:
    for at, word in enumerate(words):
        if not _PROGRAM.match(word.lstrip("$#%>`'\"(")):
            continue
        end = next((end for end in range(at + 1, len(words)) if words[end] in _OPERATORS), len(words))
        arguments = [part for part in words[at + 1 : end] if part != "\\"]
        if end < len(words) and words[end].startswith(">") and arguments and arguments[-1] in ("1", "2"):
            arguments.pop()  # the file descriptor of `2>`
        if _is_call(arguments):
            return [part.rstrip("`") for part in _without_prose(arguments)]
    return None


def _without_prose(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments without the words after the last option, apart from its value, job files and variables."""
    options = [at for at, word in enumerate(arguments) if word.startswith(("-", *_DASHES))]
    if not options:
        return arguments
    end = options[-1] + (2 if takes_next(arguments[options[-1]]) else 1)
    return [*arguments[:end], *(word for word in arguments[end:] if JOB_FILE_NAME.search(word) or _IS_VARIABLE(word))]


def _is_call(words: Sequence[str]) -> bool:
    if len(words) == 1 and JOB_FILE.search(words[0]):
        return True
    names = (word.lstrip(f"-{_JOINED_DASHES}").partition("=")[0] for word in words if word.startswith(("-", *_DASHES)))
    return any(name in option_names.ALIASES or option_names.resolve(name, _NAMES) is not None for name in names)
