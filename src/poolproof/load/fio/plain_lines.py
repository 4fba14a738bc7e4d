"""Any text as plain lines that keep the number of the line they came from: HTML, quotations, terminal captures.

Tags and entities, BBCode, `>` of quoted mail and Markdown, colours of a terminal and its carriage returns are taken
away, and so are margins; a `<br>` or the end of a block starts a new line of the same number, as does a figure inside
a sentence; curly quotes are straight ones.
"""

import html
import re
from functools import lru_cache

from poolproof.load.fio.margins import without_margins
from poolproof.load.fio.marked_up import figures_apart, tags_of, unescaped, without_tags
from poolproof.load.fio.text_lines import without_cut_number
from poolproof.load.fio.wrapped import unwrapped

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_IS_HTML = re.compile(
    r"<(?:html|body|pre|code|p|div|br|span|table|td|li)\b[^>]*>|&(?:lt|gt|amp|quot|nbsp|#\d+);", re.IGNORECASE
)
_BLOCK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|pre|h\d|blockquote|code)>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:html|head|body|title|meta|link|script|style|pre|code|span|div|p|br|a|b|i|u|em|strong|small|font|tt|kbd|samp|table|"
    r"thead|tbody|td|th|tr|ul|ol|li|dl|dt|dd|h[1-6]|hr|img|section|article|main|nav|header|footer|blockquote|details|summary|"
    r"button|svg|path|time|figure|label|input)\b[^<>]*>",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"^(?:\s?>\s?)+(?=[^>]|$)")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "\xa0": " "})


@lru_cache(maxsize=1)  # results, commands, tables and iostat are looked for in the same text
def plain_lines(text: str) -> tuple[tuple[int, str], ...]:
    """(line number from 1, plain line) pairs, in order. Where the text ends within a line, a number that may have lost
    digits there is left out.
    """
    found = without_margins(_without_marks(text))
    if found and not text.endswith("\n"):
        found[-1] = (found[-1][0], without_cut_number(found[-1][1]))
    return tuple((number, part) for number, line in unwrapped(found) for part in figures_apart(line))


def _without_marks(text: str) -> list[tuple[int, str]]:
    """Without the marks of HTML, BBCode, terminals and quotations."""
    is_html, tags = _IS_HTML.search(text) is not None, tags_of(text)
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.translate(_CURLY).split("\n"), start=1):
        bare = unescaped(_ESCAPES.sub("", line.rstrip("\r")))
        for part in _parts(without_tags(bare, tags) if tags else bare, is_html):
            found.append((number, _QUOTE.sub("", part)))
    return found


def _parts(line: str, is_html: bool) -> list[str]:
    if is_html:
        line = html.unescape(_TAG.sub("", _BLOCK.sub("\r", line))).replace("\xa0", " ")
    return line.split("\r")
