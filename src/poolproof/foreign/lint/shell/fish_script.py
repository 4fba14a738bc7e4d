"""Rewrite a fish script in the language of POSIX shells, line by line, so that lint can read its functions and loops.

Only what lint needs is rewritten: variables, functions with their arguments, loops and conditions. Commands stay on
their lines, but not at their columns, so lint cannot change the text in place.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

_SHEBANG = re.compile(r"#![^\n]*\bfish\b")
_INDENT = re.compile(r"[ \t]*")
_PARTS = re.compile(r"\"[^\"]*\"|'[^']*'|(?P<end>;)|[^\"';]+|.")
_SET = re.compile(r"set(?P<options>(?:[ \t]+-[a-zA-Z-]+)*)[ \t]+(?P<name>[A-Za-z_]\w*)(?:[ \t]+(?P<value>\S.*))?$")
_FUNCTION = re.compile(r"function[ \t]+(?P<name>[\w-]+)(?P<rest>.*)$")
_NAMED = re.compile(r"(?:-a|--argument-names?)(?:[ \t]+|=)(?P<names>(?:[A-Za-z_]\w*[ \t]*)+)")
_OPENS = {"for": ("; do", "done"), "while": ("; do", "done"), "if": ("; then", "fi"), "begin": ("", "}")}
_ARGUMENT = re.compile(r"\$argv\[(?P<number>[1-9])\]")
_ALL_ARGUMENTS = re.compile(r"\"?\$argv\b(?!\[)\"?")
_ELEMENT = re.compile(r"\$(?P<name>[A-Za-z_]\w*)\[(?P<number>\d{1,3})\]")
_SUBSTITUTION = re.compile(r"(?<![\w$\\])\((?=[a-z])")
_CONDITION = re.compile(r"^(?:and|or)[ \t]+")
_WHOLE = re.compile(r"(?<=\s)\$(\w+)(?=\s|$)")
_QUERIES = ("q", "e", "query", "erase")


def is_fish(name: str, text: str) -> bool:
    return name.endswith(".fish") or _SHEBANG.match(text) is not None


def as_posix(text: str) -> str:
    """Return the script in the language of POSIX shells, with the same lines."""
    blocks = _Blocks()
    return "\n".join(_line(line, blocks) for line in text.split("\n"))


@dataclass
class _Blocks:
    """The words that end the open blocks, innermost last, and the variables with several values so far."""

    ends: list[str] = field(default_factory=list)
    lists: set[str] = field(default_factory=set)


def _line(line: str, blocks: _Blocks) -> str:
    indent = _INDENT.match(line)
    before = indent[0] if indent else ""
    if line.strip().startswith("#"):
        return line
    return before + "; ".join(_statement(each, blocks) for each in _statements(line.strip()))


def _statements(line: str) -> Iterator[str]:
    """Split a line at the semicolons outside of quotes."""
    statement = ""
    for part in _PARTS.finditer(line):
        if part["end"]:
            yield statement.strip()
            statement = ""
        else:
            statement += part[0]
    yield statement.strip()


def _statement(text: str, blocks: _Blocks) -> str:
    ends = blocks.ends
    word = text.partition(" ")[0]
    if word == "end" and ends:
        return ends.pop() + _expanded(text.removeprefix("end"))
    if word == "else":
        rest = text.removeprefix("else").strip()
        return f"elif {_expanded(rest.removeprefix('if').strip())}; then" if rest.startswith("if") else "else"
    if found := _FUNCTION.match(text):
        ends.append("}")
        named = _NAMED.search(found["rest"])
        names = named["names"].split() if named else []
        local = "".join(f" {name}=${number};" for number, name in enumerate(names[:9], 1))
        return f"{found['name']}() {{{local}"
    if word == "switch":
        ends.append("esac")
        return f"case {_expanded(text.removeprefix('switch').strip())} in"
    if word == "case" and ends and ends[-1] == "esac":
        return f"{text.removeprefix('case').strip()})"
    if word in _OPENS:
        opened, end = _OPENS[word]
        ends.append(end)
        if word == "for":
            text = _WHOLE.sub(lambda each: f"${{{each[1]}[@]}}" if each[1] in blocks.lists else each[0], text)
        return ("{" if word == "begin" else _expanded(text)) + opened
    if found := _SET.match(text):
        assigned = _assignment(found["options"].split(), found["name"], found["value"] or "")
        if "=(" in assigned:
            blocks.lists.add(found["name"])
        return assigned
    return _expanded(_CONDITION.sub("", text))


def _assignment(options: list[str], name: str, value: str) -> str:
    letters = {each.lstrip("-") if each.startswith("--") else letter for each in options for letter in each[1:]}
    if not letters.isdisjoint(_QUERIES):
        return ":"
    value = _expanded(value)
    exported = "export " if "x" in letters or "export" in letters else ""
    if "a" in letters or "append" in letters:
        return f"{name}+=({value})"
    return f"{exported}{name}={value}" if len(list(_words(value))) < 2 else f"{name}=({value})"


def _words(value: str) -> Iterator[str]:
    try:
        yield from shlex.split(value, comments=True)
    except ValueError:
        yield from value.split()


def _expanded(text: str) -> str:
    text = _ARGUMENT.sub(lambda found: f"${found['number']}", text)
    text = _ALL_ARGUMENTS.sub('"$@"', text)
    text = _ELEMENT.sub(lambda found: f"${{{found['name']}[{int(found['number']) - 1}]}}", text)
    return _SUBSTITUTION.sub("$(", text)
