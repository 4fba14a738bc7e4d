"""The variables of a shell script whose value is plain: given once, as a literal."""

import re
from collections.abc import Iterator, Mapping
from itertools import dropwhile

from poolproof.foreign.lint.shell_words import Script, read_script

_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=(?P<value>.*)$", re.DOTALL)
_DECLARING = ("export", "local", "readonly", "declare", "typeset")
_SETTING = ("read", "for", "select", "mapfile", "getopts", "unset", "printf")
_ROUNDS = 3
_KEYWORDS = ("do", "then", "else", "elif", "if", "while", "until", "{", "!", "time")


def known_variables(text: str) -> Mapping[str, str]:
    """The variables to which the whole script gives one literal value only."""
    known: dict[str, str] = {}
    for _ in range(_ROUNDS):
        values: dict[str, set[str | None]] = {}
        for name, value in _assigned(read_script(text, known)):
            values.setdefault(name, set()).add(value)
        found = {name: value for name, (value, *more) in values.items() if value is not None and not more}
        if found == known:
            break
        known = found
    return known


def _assigned(script: Script) -> Iterator[tuple[str, str | None]]:
    """(name, value), the value None where it can't be known."""
    for command in script.commands:
        words = list(dropwhile(_KEYWORDS.__contains__, (word.text for word in command)))
        if not words:
            continue
        if words[0] in _SETTING:
            yield from ((word, None) for word in words[1:] if word.isidentifier())
            continue
        leading = words[1:] if words[0] in _DECLARING else words
        for word in leading:
            found = _ASSIGNMENT.match(word)
            if found is None:
                if words[0] in _DECLARING:
                    continue
                break
            is_literal = not found["more"] and "$" not in found["value"] and "`" not in found["value"]
            yield found["name"], found["value"] if is_literal and not found["value"].startswith("(") else None
