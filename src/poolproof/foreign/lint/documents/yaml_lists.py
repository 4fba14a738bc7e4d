"""Commands and arguments in YAML and Dockerfiles.

They occur in the containers of a Kubernetes manifest, in the services of a compose file, in `argv` of an Ansible task,
in `runcmd` of cloud-init, and in CMD and ENTRYPOINT.

A list is written on one line (`args: ["--name=a", "--rw=read"]`) or with one item per line. Job files in literal
scalars (`job.fio: |`) are found too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LIST = re.compile(
    r"^[ ]*(?:- )?(?:(?:command|cmd|args|argv|entrypoint):|CMD|ENTRYPOINT)[ ]*"
    r"(?:(?P<inline>\[[^\[\]]*\])|\n(?P<items>(?:[ ]*(?:#.*)?\n)*(?P<indent>[ ]*)- .*(?:\n|\Z)"
    r"(?:(?:[ ]*(?:#.*)?\n)*(?P=indent)- .*(?:\n|\Z))*))"
    r"|^[ ]*- (?P<nested>\[[^\[\]]*\])[ ]*$"
    r"|^(?P<outer>[ ]*)- (?P<lines>- .*(?:\n|\Z)(?:(?P=outer)  - .*(?:\n|\Z))+)",
    re.MULTILINE,
)
"""Matches the list of a known key, and a list in a list (`- [fio, --name=a]`, or `- - fio` and further items)."""

_SCALAR = re.compile(
    r"^(?P<indent>[ ]*)(?:- )?(?:command|args):[ ]*(?:[>|][-+]?[ ]*\n(?P<lines>(?:(?P=indent)[ ]+\S.*(?:\n|\Z))+)"
    r"|(?P<quote>[\"'])(?P<quoted>--?[^\"'\n]*)(?P=quote)[ ]*$|(?P<plain>--?[a-z].*)$)",
    re.MULTILINE,
)
"""Matches the arguments of a program that another key names, written as one string (`command: --name=a --rw=read`)."""

_ITEM = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<plain>[^\s,\[\]\"'\\][^,\[\]\n]*)")
_LINE = re.compile(r"^[ ]*- (?P<value>.*)$", re.MULTILINE)
_BLOCK = re.compile(
    r"^(?P<indent>[ ]*)[\w.-]+:[ ]*\|[-+]?[ ]*\n(?P<lines>(?:(?:(?P=indent)[ ]+\S.*|[ ]*)(?:\n|\Z))+)", re.MULTILINE
)
_QUOTED = re.compile(
    r"^[ ]*[\w.-]+:[ ]*(?P<quote>['\"])[ ]*\n(?P<lines>(?:[ ]+[^\s'\"#][^\n]*\n|[ ]*\n)+)[ ]*(?P=quote)[ ]*$",
    re.MULTILINE,
)
"""Matches a scalar in quotes that begins and ends on lines of their own. Only its blank lines are line breaks."""


@dataclass(frozen=True)
class YamlItem:
    """An item of a list or a scalar, without its quotes, and its first line in the text."""

    text: str
    line: int


def lists_in(text: str) -> Iterator[tuple[YamlItem, ...]]:
    line, place = 1, 0
    for found in _LIST.finditer(text):
        items = []
        for value, at in _items(found):
            line, place = line + text.count("\n", place, at), at
            items.append(YamlItem(value, line))
        yield tuple(items)


def without_lists(text: str) -> str:
    """Replace each list with spaces. The positions of the rest do not change."""
    return _LIST.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def arguments_in(text: str) -> Iterator[YamlItem]:
    """Yield the strings that consist of the arguments of a program."""
    line, place = 1, 0
    for found in _SCALAR.finditer(text):
        group = next(each for each in ("lines", "quoted", "plain") if found[each] is not None)
        line, place = line + text.count("\n", place, found.start(group)), found.start(group)
        if found[group].lstrip().startswith("-"):
            yield YamlItem(found[group], line)


def blocks_in(text: str) -> Iterator[YamlItem]:
    line, place = 1, 0
    for found in _BLOCK.finditer(text):
        line, place = line + text.count("\n", place, found.start("lines")), found.start("lines")
        yield YamlItem(found["lines"], line)
    for found in _QUOTED.finditer(text):
        yield YamlItem(_folded(found["lines"]), text.count("\n", 0, found.start("lines")) + 1)


def _folded(lines: str) -> str:
    """Join the lines between two blank lines, as YAML does, in the place of the first of them."""
    kept: list[str] = []
    for before, line in zip(["", *lines.split("\n")], lines.split("\n"), strict=False):
        if before.strip() and line.strip():
            first = max(at for at, each in enumerate(kept) if each.strip())
            kept[first] += f" {line.strip()}"
            line = ""
        kept.append(line)
    return "\n".join(kept)


def _items(found: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield the text of each item, and its position."""
    inline = "inline" if found["inline"] is not None else "nested"
    if found[inline] is not None:
        start = found.start(inline)
        yield from ((_unquoted(item), start + item.start()) for item in _ITEM.finditer(found[inline]))
        return
    items = "items" if found["items"] is not None else "lines"
    for line in _LINE.finditer(found[items]):
        quoted = _ITEM.match(line["value"])
        is_plain = quoted is None or quoted["plain"] is not None
        value = line["value"].strip() if quoted is None or is_plain else _unquoted(quoted)
        yield value, found.start(items) + line.start()


def _unquoted(item: re.Match[str]) -> str:
    if item["double"] is not None:
        return re.sub(r"\\(.)", r"\1", item["double"])
    return (item["single"] if item["single"] is not None else item["plain"]).strip()
