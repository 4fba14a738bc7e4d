"""Prepare HTML for the search for commands: only the text of code elements is left, without tags and entities.

Each piece of code stays on its line, but not at its column, so lint cannot change the text in place.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_PRE = re.compile(r"<(pre)\b[^<>]*>", re.IGNORECASE)
_CODE = re.compile(r"<(code|samp|kbd|tt)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>[ \t]*(?P<end>\n?)", re.IGNORECASE)
_CONTINUED = re.compile(  # by a backslash, or because the next line begins with an option
    r"[ \t]{0,9}+\\[ \t]{0,9}+<br\s{0,9}/?>[ \t]{0,40}+(?!\n)|(?<=\S)[ \t]{0,9}+<br\s{0,9}/?>[ \t]{0,40}+(?=--?[a-z])",
    re.IGNORECASE,
)
_SUFFIXES = (".html", ".htm", ".xhtml")
_TEXT_WITH_HTML = (".md", ".markdown", ".mdx")
_STARTS = re.compile(
    r"\A\s{0,400}+<(?:!doctype html|html|head|body|article|section|main|div|p|h[1-6]|pre|ul|ol|table)\b", re.I
)


@dataclass(frozen=True)
class HtmlBlock:
    """The text of a `<pre>` element and its first line.

    `is_on_one_line`: True if `<br>` ends its lines, so that they are one line of the source.
    """

    text: str
    line: int
    is_on_one_line: bool


def has_html_code(name: str, text: str) -> bool:
    """True if the text is HTML, or Markdown with `<pre>` elements."""
    is_html = name.lower().endswith(_SUFFIXES) or _STARTS.match(text) is not None
    return is_html or (name.lower().endswith(_TEXT_WITH_HTML) and any(_elements(text, _PRE)))


def html_blocks(text: str) -> Iterator[HtmlBlock]:
    for start, end in _elements(text, _PRE):
        is_on_one_line = _ends_lines(text[start:end])
        yield HtmlBlock(_plain(text[start:end], "\n"), text.count("\n", 0, start) + 1, is_on_one_line)


def commands_of_html(name: str, text: str) -> str:
    """Return the text with only its code, each piece on its line. In Markdown, the text outside of `<pre>` stays."""
    if not name.lower().endswith(_TEXT_WITH_HTML):
        return _pieces(text, _PRE, lambda between: _pieces(between, _CODE, _line_breaks))
    return _pieces(text, _PRE, str)


def _pieces(text: str, opening: re.Pattern[str], outside: Callable[[str], str]) -> str:
    parts, place = [], 0
    for start, end in _elements(text, opening):
        parts += [outside(text[place:start]), ";", _plain(text[start:end]), ";"]
        place = end
    return "".join([*parts, outside(text[place:])])


def _elements(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of the content of each element. Elements without an end are left out."""
    lowered, place = text.lower(), 0
    closed: dict[str, int] = {}
    while (found := opening.search(text, place)) is not None:
        start, tag = found.end(), f"</{found[1].lower()}"
        if closed.get(tag, 0) >= 0 and closed.get(tag, 0) < start:
            closed[tag] = lowered.find(tag, start)
        place = max(start, closed[tag])
        if closed[tag] >= 0:
            yield start, closed[tag]


def _line_breaks(text: str) -> str:
    return "\n" * text.count("\n")


def _ends_lines(code: str) -> bool:
    """True if `<br>` ends a line of the element that is not a line of the source."""
    return any(not each["end"] for each in _BREAK.finditer(code))


def _plain(code: str, end_of_line: str = " ; ") -> str:
    """Return the text of an element.

    `end_of_line`: what replaces a `<br>` that does not end a line of the source. By default, the commands of all of
    these lines stay on the line of the source.
    """
    if _ends_lines(code):
        code = _CONTINUED.sub(" ", code) if end_of_line != "\n" else code
        code = _BREAK.sub(lambda found: found["end"] or end_of_line, code)
    return html.unescape(_TAG.sub(lambda tag: _line_breaks(tag[0]), _BREAK.sub("\n", code)))
