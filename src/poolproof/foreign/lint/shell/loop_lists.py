"""The lists of values over which the `for` loops of a script run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.shell.function_calls import functions_in
from poolproof.foreign.lint.shell.shell_words import Script
from poolproof.foreign.lint.shell.variable_keys import key_of_loop

_MOST_VALUES = 32
_ARRAY = re.compile(r"(?:^|[\s;])(?P<name>[A-Za-z_]\w*)=\((?P<values>[^()$`*?\n]*)\)", re.MULTILINE)
_ALL_OF = re.compile(r"\$\{(?P<indexes>!?)(?P<name>\w+)\[[@*]\]\}")
_BRACES = re.compile(r"\{(?P<first>\d{1,9})\.\.(?P<last>\d{1,9})(?:\.\.(?P<step>\d{1,9}))?\}")
_SEQ = re.compile(r"(?:\$\(|`)\s*seq(?P<numbers>(?:\s+\d{1,9}){1,3})\s*[)`]")
_NOT_LITERAL = re.compile(r"[$`*?{}\[\]]")
_LOOPS = re.compile(r"^[ \t]*(?:for|while|until)\b(?!.*\bdone\b)", re.MULTILINE)
_DONE = re.compile(r"^[ \t]*done\b")


@dataclass(frozen=True)
class LoopList:
    """A loop over `name`, with its values, and its first and last line."""

    name: str
    values: tuple[str, ...]
    line: int
    last_line: int


def loop_values(script: Script, text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the values of each loop variable, from loops over literal words, a range of numbers or an array.

    If several loops use a variable with different values, or if another function assigns it, each of the loops has its
    own key (`key_of_loop`). A loop is left out if it has more than 32 values, or if one of its values is not literal.
    """
    loops = loop_lists(script, text)
    lists: dict[str, set[tuple[str, ...]]] = {}
    for loop in loops:
        lists.setdefault(loop.name, set()).add(loop.values)
    is_shared = {loop: len(lists[loop.name]) == 1 and not _is_set_elsewhere(loop, text) for loop in loops}
    return {
        loop.name if is_shared[loop] else key_of_loop(loop.name, loop.line, loop.last_line): loop.values
        for loop in loops
        if 0 < len(loop.values) <= _MOST_VALUES and not any(_NOT_LITERAL.search(value) for value in loop.values)
    }


def _is_set_elsewhere(loop: LoopList, text: str) -> bool:
    """True if a function that does not contain the loop assigns its variable."""
    set_at = {_line(text, each.start(1)) for each in re.finditer(rf"^[ \t]*(?:local[ \t]+)?({loop.name})=", text, re.M)}
    spans = [range(each.line, each.last_line + 1) for each in functions_in(text)] if set_at else []
    return any(loop.line not in span and not set_at.isdisjoint(span) for span in spans)


def loop_lists(script: Script, text: str) -> tuple[LoopList, ...]:
    """Return the loops of a script over at least one word. Arrays of unknown values stay as they are."""
    lines = text.split("\n")
    functions = [(each.line, each.last_line) for each in functions_in(text)]
    loops = []
    for command in script.commands:
        words = [word.text for word in command]
        first = next((at for at, word in enumerate(words) if word not in ("do", "then", "else")), len(words))
        words, line = words[first:], command[0].line
        if len(words) < 4 or words[0] != "for" or words[2] != "in" or not words[1].isidentifier():
            continue
        values: list[str] = []
        for word in words[3:]:
            array = _ALL_OF.fullmatch(word)
            elements = _elements(array["name"], line, text, functions) if array else _numbers(word)
            if elements is None:
                values.append(word)
            else:
                values += map(str, range(len(elements))) if array and array["indexes"] else elements
        if values:
            loops.append(LoopList(words[1], tuple(values), line, _end_of_loop(lines, line)))
    return tuple(loops)


def _elements(name: str, line: int, text: str, functions: Sequence[tuple[int, int]]) -> tuple[str, ...] | None:
    """Return the elements of an array on a line, or None if they are unknown.

    If the script sets the array several times, those in the same function count, or else those outside of functions.
    """
    found = [(_line(text, each.start("name")), each) for each in _ARRAY.finditer(text) if each["name"] == name]
    around = next(((first, last) for first, last in functions if first <= line <= last), None)
    inside = [each for at, each in found if around is not None and around[0] <= at <= around[1]]
    outside = [each for at, each in found if not any(first <= at <= last for first, last in functions)]
    lists = {tuple(value.strip("'\"") for value in each["values"].split()) for each in inside or outside}
    return next(iter(lists)) if len(lists) == 1 else None


def _end_of_loop(lines: Sequence[str], start: int) -> int:
    depth = 0
    for number, line in enumerate(lines[start - 1 :], start):
        depth += int(_LOOPS.match(line) is not None) - int(_DONE.match(line) is not None)
        if depth <= 0:
            return number
    return len(lines)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _numbers(word: str) -> tuple[str, ...]:
    """Return the numbers to which `$(seq 1 4)` or `{1..4}` expands.

    Any other word is returned unchanged, and so is a descending range or one of more than 32 numbers.
    """
    if brace := _BRACES.fullmatch(word):
        first, last, step = int(brace["first"]), int(brace["last"]), int(brace["step"] or 1)
    elif sequence := _SEQ.fullmatch(word):
        given = [int(number) for number in sequence["numbers"].split()]
        first, last, step = given[0] if len(given) > 1 else 1, given[-1], given[1] if len(given) > 2 else 1
    else:
        return (word,)
    numbers = range(first, last + 1, max(1, step))
    return tuple(map(str, numbers)) if 0 < len(numbers) <= _MOST_VALUES else (word,)
