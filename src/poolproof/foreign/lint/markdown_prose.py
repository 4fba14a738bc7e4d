"""Prepare Markdown and mail for the search for commands.

Apostrophes in prose (`Don't do this`) are not shell quotes, and the `>` before a quoted line is not a redirection.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)")
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)[^`\n]*\n(?P<text>(?:(?![ \t]*(?P=fence)).*\n){1,400})[ \t]*(?P=fence)", re.MULTILINE
)
_QUOTATION = re.compile(r"(?:^>(?:[ >].*)?\n){2,}", re.MULTILINE)
_MARKS = re.compile(r"^[> ]+", re.MULTILINE)
_QUOTES = str.maketrans("'\"", "  ")


@dataclass(frozen=True)
class FencedText:
    """The text between two fences. `start`, `line`: its position."""

    text: str
    start: int
    line: int


def fenced_texts(text: str) -> Iterator[FencedText]:
    for found in _FENCED.finditer(text):
        yield FencedText(found["text"], found.start("text"), text.count("\n", 0, found.start("text")) + 1)


def is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown", ".mdx", ".rst"))


def without_quote_marks(text: str) -> str:
    """Replace the `>` before each line of a quotation of several lines with spaces. The positions do not change."""
    return _QUOTATION.sub(lambda lines: _MARKS.sub(lambda marks: " " * len(marks[0]), lines[0]), text)


def without_quotes_in_prose(text: str) -> str:
    """Return the text without its fences, and without quotes outside of code. The positions of the rest stay the same.

    If the text has no fences, lines that are indented by four spaces (two in reStructuredText) or a tab count as code.
    """
    lines = text.split("\n")
    is_restructured = any(line.endswith("::") or line.lstrip().startswith(".. code") for line in lines)
    indented = () if any(map(_FENCE.match, lines)) else ("  " if is_restructured else "    ", "\t")
    found, is_code = [], False
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
            found.append(" " * len(line))
        else:
            found.append(line if is_code or line.startswith(indented) else line.translate(_QUOTES))
    return "\n".join(found)
