"""Lists of arguments in a program, such as `subprocess.run(["fio", "--rw=read"])` or `spawn("fio", "--rw=read")`.

A list consists of strings with commas between them. Python's f-strings, `"--size=" + size` and variables between the
strings become unknown values (`${size}`).
"""

import re
from collections.abc import Iterator

from poolproof.foreign.lint.yaml_lists import YamlItem

_STRING = re.compile(
    r"(?P<prefix>\b[fFrRbBuU]{1,2})?(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)')"
)
_COMMENT = re.compile(r"(?:(?<=\s)#|//)[^\n]*")
_VALUE = r"[\w.$@&*]{1,60}(?:\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\])?"
_BETWEEN = re.compile(
    rf"^\s*(?:[+.%]\s*(?P<added>{_VALUE})\s*)?(?:,|\)?\)\s*\.args?\()(?P<others>(?:\s*{_VALUE}\s*\)?\s*,){{0,20}})"
    r"\s*[\w.!]{0,40}[\[(&]{0,3}\s*"
)
_PLACEHOLDER = re.compile(r"\{(?P<name>\w{1,60})[^{}]*\}|%[-\d.]*[sdvi]\b")
_ENDS_CALL = re.compile(r"^[^(]*\)$")  # the argument of a function such as Sprintf
_LONGEST_GAP = 400


def code_lists_in(text: str) -> Iterator[tuple[YamlItem, ...]]:
    """Yield the items of each list of at least two strings."""
    items: list[YamlItem] = []
    end, line, counted = 0, 1, 0
    for found in _STRING.finditer(text):
        gap = _COMMENT.sub("", text[end : found.start()]) if found.start() - end <= _LONGEST_GAP else ""
        between = _BETWEEN.fullmatch(gap) if items else None
        if items and between is None:
            if len(items) > 1:
                yield tuple(items)
            items = []
        if between is not None:
            if added := between["added"]:
                items[-1] = YamlItem(f"{items[-1].text}{_unknown(added)}", items[-1].line)
            others = (each.strip() for each in between["others"].split(","))
            items += (YamlItem(_unknown(each), line) for each in others if each and not _ENDS_CALL.search(each))
        line, counted = line + text.count("\n", counted, found.start()), found.start()
        items.append(YamlItem(_text(found), line))
        end = found.end()
    if len(items) > 1:
        yield tuple(items)


def _text(found: re.Match[str]) -> str:
    text = found["double"] if found["double"] is not None else found["single"]
    text = re.sub(r"\\([\"'\\])", r"\1", text)
    is_formatted = "f" in (found["prefix"] or "").lower() or "%" in text
    return _PLACEHOLDER.sub(lambda each: _unknown(each["name"] or "value"), text) if is_formatted else text


def _unknown(name: str) -> str:
    return f"${{{re.sub(r'[^0-9A-Za-z_]', '_', name.lstrip('$@&*'))}}}"
