"""The functions of a script, and the arguments with which the script calls them.

A function that runs fio with its arguments (`run() { fio --rw=$1 --bs=$2; }`) makes a different fio call each time it
is called (`run read 1m`, `run randread 4k`).
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile

from poolproof.foreign.lint.shell.shell_words import Script

_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)(?:function[ \t]+)?(?P<name>[\w-]{1,60})[ \t]*(?:\(\))?\s{0,9}\{", re.MULTILINE
)
_ARGUMENT = re.compile(r"\$\{?[1-9@*]")
_MAY_BE_SPLIT = re.compile(r"\$[@*({\w]")
_SHIFT = re.compile(r"(?:^|[;&\s])shift(?:[ \t]+(?P<number>\d))?[ \t]*(?=[;&\n]|$)", re.MULTILINE)
_BEFORE = frozenset({"do", "then", "else", "if", "!", "time", "{"})
_MOST_FUNCTIONS = 64
_MOST_CALLS = 32
_LONGEST = 4000


@dataclass(frozen=True)
class ShellFunction:
    """A function of a script, with its text from `start` to `end`, and its first and last line."""

    name: str
    start: int
    end: int
    line: int
    last_line: int


@dataclass(frozen=True)
class FunctionCall:
    """A call of a shell function.

    `arguments`: the arguments, keyed by the variables that contain them: `1` to `9`, and `@`, which contains all
    arguments that are left after the last `shift`. `@` is missing if one of these contains a space.
    """

    function: ShellFunction
    line: int
    arguments: Mapping[str, str]


def functions_in(text: str) -> Iterator[ShellFunction]:
    for found in itertools.islice(_FUNCTION.finditer(text), _MOST_FUNCTIONS):
        start, end = found.start("name"), _end(text, found.end(), found["indent"])
        line = text.count("\n", 0, start) + 1
        yield ShellFunction(found["name"], start, end, line, line + text.count("\n", start, end))


def _end(text: str, start: int, indent: str) -> int:
    """Return the end of the body of the function whose brace ends at this position.

    `indent`: the white space before the function, and before the brace that closes it.
    """
    line = text.find("\n", start, start + _LONGEST)
    if line >= 0 and text[start:line].rstrip().endswith("}"):
        return line
    closed = f"\n{indent}}}"
    end = text.find(closed, start, start + _LONGEST)
    if end < 0 and indent:
        closed = "\n}"
        end = text.find(closed, start, start + _LONGEST)
    return end + len(closed) if end >= 0 else min(len(text), start + _LONGEST)


def calls_of(function: ShellFunction, text: str, script: Script) -> tuple[FunctionCall, ...]:
    """Return the calls of a function, one for each different list of arguments.

    Empty if the function does not use its arguments, if lint cannot tell which argument is which, or if there are more
    than 32 such calls.
    """
    body = text[function.start : function.end]
    shifts = list(_SHIFT.finditer(body))
    is_mixed = bool(shifts) and re.search(r"\$\{?[1-9]", body[shifts[-1].end() :]) is not None
    if is_mixed or not _ARGUMENT.search(body):
        return ()
    shifted = sum(int(each["number"] or 1) for each in shifts)
    found: dict[tuple[str, ...], FunctionCall] = {}
    for command in script.commands:
        words = list(dropwhile(lambda word: word.text in _BEFORE, command))
        if not words or words[0].text != function.name or function.line <= words[0].line <= function.last_line:
            continue
        given = tuple(word.text for word in words[1:])
        arguments = {str(number): word for number, word in enumerate(given[:9], 1)}
        if not any(map(_MAY_BE_SPLIT.match, given)):
            arguments |= {str(number): "" for number in range(len(given) + 1, 10)}
        if not any(" " in word for word in given[shifted:]):
            arguments["@"] = " ".join(given[shifted:])
        found.setdefault(given, FunctionCall(function, words[0].line, arguments))
    return tuple(found.values()) if len(found) <= _MOST_CALLS else ()
