"""Figures of fio inside sentences, strings, and marks of Markdown and BBCode: each on a line of its own."""

import re
from collections.abc import Iterator

_BBCODE = "b|i|u|s|code|icode|color|size|font|quote|spoiler|ispoiler|plain|tt|pre|url|list|indent|left|center"
_CLOSING = re.compile(rf"\[/({_BBCODE})\]", re.IGNORECASE)
_BLOCKS = frozenset({"code", "quote", "spoiler", "pre", "list"})
_FIGURES = re.compile(
    r"\b(?:read|write|trim)\s?: IOPS=[^\s`]{1,20},? BW=[^\s`]{1,20} {0,2}(?:\([^()`]{0,40}\) {0,2}){1,2}"
    r"|\b(?:read|write|trim)\s?: {0,2}io=[^,`]{1,20}, {0,2}bw=[^,`]{1,20}, {0,2}iops=[^,`]{1,20}, {0,2}"
    r"runt= {0,12}\d{1,15} ?msec"
)
_SUMS = re.compile(r"\b(?:READ|WRITE): (?:bw|io)=[^`]{1,200}?msec")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|~~")
_ESCAPED = re.compile(r': IOPS=|: io=|;fio-\d|\\"fio version\\"')


def tags_of(text: str) -> re.Pattern[str] | None:
    """The BBCode that the text closes somewhere; None where there is none."""
    names = {name.lower() for name in _CLOSING.findall(text)}
    return re.compile(rf"\[/?({'|'.join(sorted(names))})(?:=[^\]\n]*)?\]", re.IGNORECASE) if names else None


def without_tags(line: str, tags: re.Pattern[str]) -> str:
    """Without them; a tag of a block starts a new line, as a carriage return."""
    return tags.sub(lambda match: "\r" if match[1].lower() in _BLOCKS else "", line)


def unescaped(line: str) -> str:
    """A text inside a JSON string, as logs of automation have it, with its lines apart by carriage returns."""
    if "\\n" not in line or not _ESCAPED.search(line):
        return line
    return line.replace("\\r", "").replace("\\n", "\r").replace("\\t", "    ").replace('\\"', '"')


def figures_apart(line: str) -> Iterator[str]:
    """The line, and after it each figure that stood inside it."""
    if "IOPS=" not in line and "iops=" not in line and ": bw=" not in line and ": io=" not in line:
        yield line
        return
    plain = _EMPHASIS.sub("", line)
    kind = _FIGURES if _FIGURES.search(plain) else _SUMS
    found = [match[0] for match in kind.finditer(plain)]
    if not any(plain[: match.start()].strip() for match in kind.finditer(plain)):
        yield plain
        return
    yield kind.sub("", plain)
    yield from (f"  {each}" for each in found)
