"""Variables that a script sets several times, one after the other: `jobs=1; fio …; jobs=16; fio …`.

Between two of these assignments, the value is certain. Lint looks it up by the name of the variable and the line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.shell.function_calls import functions_in
from poolproof.foreign.lint.shell.variable_keys import key_at

_ASSIGNMENT = re.compile(
    r"^[ \t]{0,40}(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{0,40})="
    r"(?:\"(?P<double>[^\"$`\\\n]*)\"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s;|&$`\\\"'()<>*?{}\[\]]*))"
    r"[ \t]{0,40}(?=;|#|$)",
    re.MULTILINE,
)
_CHANGE = (
    r"(?<![\w$.-]){name}(?:\[[^\]\n]{{0,40}}\])?(?:[-+*/]?=|\+\+|--)"
    r"|\b(?:for|select|read|unset|local|declare|typeset|readonly|getopts|mapfile|readarray|let|printf)\b[^\n;]{{0,200}}?"
    r"(?<![\w$]){name}\b|\(\([^)\n]{{0,80}}\b{name}\b|\$\{{{name}:="
)
_OPENS = re.compile(r"(?:^|[;&|]|\b(?:do|then|else)\b)[ \t]*(?:for|while|until|if|case|select)\b")
_CLOSES = re.compile(r"(?:^|[;\s])(?:done|fi|esac)\b")
_NOT_CODE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?:^|\s)#.*")
_GOES_ON = re.compile(r"(?:\\|&&|\|\|)\s*\Z")
_OTHER_LANGUAGE = re.compile(
    r"^[ \t]*(?:def|import|from|class|func|package|use|fn)[ \t]|^[\w./%-]{1,60}:[^=\n]*\n\t", re.MULTILINE
)
_MOST_NAMES = 64
_MOST_CHANGES = 64


@dataclass(frozen=True)
class _NestedLines:
    """The lines of a script. `depths`: how many loops and conditionals are open before each line."""

    texts: Sequence[str]
    depths: Sequence[int]
    in_functions: frozenset[int]

    def outermost(self, line: int) -> int:
        """Return the line at which the outermost loop or conditional around this line begins, or the line itself."""
        while line > 1 and self.depths[line - 1] > 0:
            line -= 1
        return line


def straight_values(text: str) -> Mapping[str, str]:
    """Return the values of variables that the script sets several times, keyed by `key_at`.

    Only lines that use the variable are listed. They are outside of functions, and no loop or conditional around them
    changes the variable.
    """
    if _OTHER_LANGUAGE.search(text):
        return {}
    given: dict[str, list[re.Match[str]]] = {}
    for found in _ASSIGNMENT.finditer(text):
        given.setdefault(found["name"], []).append(found)
    several = [name for name, each in given.items() if len({_value(found) for found in each}) > 1]
    if not several or (lines := _lines_of(text)) is None:
        return {}
    values: dict[str, str] = {}
    for name in several[:_MOST_NAMES]:
        values |= dict(_of_variable(name, given[name], text, lines))
    return values


def _of_variable(
    name: str, given: Sequence[re.Match[str]], text: str, lines: _NestedLines
) -> Iterator[tuple[str, str]]:
    changes = sorted({_line(text, each.start()) for each in re.finditer(_CHANGE.format(name=name), text)})
    assigned = {_line(text, each.start("name")): _value(each) for each in given}
    if len(changes) > _MOST_CHANGES or not lines.in_functions.isdisjoint(changes):
        return
    uses = re.compile(rf"\$(?:{name}\b|\{{{name}\}})")
    for line, following in zip(changes, [*changes[1:], len(lines.texts) + 1], strict=True):
        is_certain = (
            line in assigned and lines.depths[line - 1] == 0 and not _GOES_ON.search(lines.texts[max(0, line - 2)])
        )
        end = lines.outermost(following) if following <= len(lines.texts) else following
        for at in range(line + 1, end) if is_certain else ():
            if at not in lines.in_functions and uses.search(lines.texts[at - 1]):
                yield key_at(name, at), assigned[line]


def _lines_of(text: str) -> _NestedLines | None:
    """Return the lines with their depths, or None if the loops and conditionals do not end."""
    texts, depths, depth = text.split("\n"), [], 0
    for line in texts:
        depths.append(depth)
        code = _NOT_CODE.sub("", line)
        depth += len(_OPENS.findall(code)) - len(_CLOSES.findall(code))
        if depth < 0:
            return None
    inside = frozenset(at for each in functions_in(text) for at in range(each.line, each.last_line + 1))
    return _NestedLines(texts, depths, inside) if depth == 0 else None


def _value(found: re.Match[str]) -> str:
    return next(each for each in found.group("double", "single", "plain") if each is not None)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
