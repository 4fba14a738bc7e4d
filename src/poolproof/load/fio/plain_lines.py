"""Convert any text to plain lines that keep their line numbers: HTML, quotations, terminal captures.

HTML tags and entities, BBCode, the `>` of quoted mail and Markdown, terminal colours and carriage returns are removed.
A `<br>` or the end of a block starts a new line with the same number, and so does a result inside a sentence. Curly
quotes become straight ones.

Margins are what other programs print before each line: time stamps, container names, line numbers, comment signs. A
margin is removed only from successive lines with the same kind of margin, and only if fio's own words follow it.

Lines of fio's output and fio commands may be broken at the width of a window. Two lines are joined if the first is an
incomplete line of fio and both together are complete. The width at which this happened identifies broken commands,
which have no recognizable end.
"""

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from poolproof.load.fio import text_lines
from poolproof.load.fio.text_lines import without_cut_number

Line = tuple[int, str]

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
_MARGIN = re.compile(
    r"(?P<stamp>\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?=\s|$))"
    r"|(?P<journal>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?:(?=\s|$))"
    r"|(?P<number>\s{0,7}\d{1,6}(?:\s?[:.)|])?(?=\s|$))"
    r"|(?P<container>\w[\w./-]* +\|(?=\s|$))"
    r"|(?P<speaker>[\w.@-]{1,30}>(?=\s|$))"
    r"|(?P<sign>\s{0,3}(?:#+|//|[*|;-])(?=\s|$)|\+)"
)
_DIGITS = re.compile(r"\d+")
_FIO_RESULT = re.compile(
    r"\s*(?:(?:read|write|trim|mixed)\s*:\s*(?:IOPS|io)=|(?:READ|WRITE|TRIM|MIXED): (?:bw|io)="
    r"|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=|bw\s*\(\s*[kKMG]i?B\s*/s\): min=|Run status group \d"
    r'|"fio version"|[2-5];fio-|\S.*: \((?:groupid|g)=\s*\d+)'
)
_FEWEST_NUMBERED = 2
_INCOMPLETE = re.compile(
    r"^\s*(?:.*: \(g=\s*\d+\): rw=(?!.*iodepth=\d)|(?:read|write|trim|mixed)\s*: IOPS=(?!.*msec\))"
    r"|(?:READ|WRITE|TRIM|MIXED): bw=(?!.*msec)|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=(?!.*stdev=)"
    r"|bw\s*\(\s*[kKMG]i?B\s*/s\s*\): min=(?!.*stdev=))"
)
_COMMAND = re.compile(r"\bfio(?:\.exe)?\s.*-\w")
_MIN_WIDTH = 40
_BBCODE = "b|i|u|s|code|icode|color|size|font|quote|spoiler|ispoiler|plain|tt|pre|url|list|indent|left|center"
_CLOSING = re.compile(rf"\[/({_BBCODE})\]", re.IGNORECASE)
_BLOCK_TAGS = frozenset({"code", "quote", "spoiler", "pre", "list"})
_RESULTS = re.compile(
    r"\b(?:read|write|trim)\s?: IOPS=[^\s`]{1,20},? BW=[^\s`]{1,20} {0,2}(?:\([^()`]{0,40}\) {0,2}){1,2}"
    r"|\b(?:read|write|trim)\s?: {0,2}io=[^,`]{1,20}, {0,2}bw=[^,`]{1,20}, {0,2}iops=[^,`]{1,20}, {0,2}"
    r"runt= {0,12}\d{1,15} ?msec"
)
_SUMS = re.compile(r"\b(?:READ|WRITE): (?:bw|io)=[^`]{1,200}?msec")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|~~")
_ESCAPED = re.compile(r': IOPS=|: io=|;fio-\d|\\"fio version\\"')


@lru_cache(maxsize=1)  # the same text is searched for results, commands, tables and iostat
def plain_lines(text: str) -> tuple[tuple[int, str], ...]:
    """Return (line number from 1, plain line) pairs in order. If the text ends in the middle of a line, a last number
    that may have lost digits is omitted.
    """
    found = _without_margins(_without_marks(text))
    if found and not text.endswith("\n"):
        found[-1] = (found[-1][0], without_cut_number(found[-1][1]))
    return tuple((number, part) for number, line in _unwrapped(found) for part in _split_results(line))


def _without_marks(text: str) -> list[tuple[int, str]]:
    """Return the lines without HTML, BBCode, terminal escapes and the `>` of quotations."""
    is_html, tags = _IS_HTML.search(text) is not None, _bbcode_tags(text)
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.translate(_CURLY).split("\n"), start=1):
        bare = _unescaped(_ESCAPES.sub("", line.rstrip("\r")))
        for part in _parts(_without_tags(bare, tags) if tags else bare, is_html):
            found.append((number, _QUOTE.sub("", part)))
    return found


def _parts(line: str, is_html: bool) -> list[str]:
    if is_html:
        line = html.unescape(_TAG.sub("", _BLOCK.sub("\r", line))).replace("\xa0", " ")
    return line.split("\r")


def _bbcode_tags(text: str) -> re.Pattern[str] | None:
    """Return a pattern for the BBCode tags that the text closes somewhere; None if there are none."""
    names = {name.lower() for name in _CLOSING.findall(text)}
    return re.compile(rf"\[/?({'|'.join(sorted(names))})(?:=[^\]\n]*)?\]", re.IGNORECASE) if names else None


def _without_tags(line: str, tags: re.Pattern[str]) -> str:
    """Return the line without these tags; a block tag becomes a carriage return, which starts a new line."""
    return tags.sub(lambda match: "\r" if match[1].lower() in _BLOCK_TAGS else "", line)


def _unescaped(line: str) -> str:
    """Unescape text in a JSON string, as in automation logs; its lines are separated by carriage returns."""
    if "\\n" not in line or not _ESCAPED.search(line):
        return line
    return line.replace("\\r", "").replace("\\n", "\r").replace("\\t", "    ").replace('\\"', '"')


def _split_results(line: str) -> Iterator[str]:
    """Yield the line, then each result that was inside it."""
    if "IOPS=" not in line and "iops=" not in line and ": bw=" not in line and ": io=" not in line:
        yield line
        return
    plain = _EMPHASIS.sub("", line)
    kind = _RESULTS if _RESULTS.search(plain) else _SUMS
    found = [match[0] for match in kind.finditer(plain)]
    if not any(plain[: match.start()].strip() for match in kind.finditer(plain)):
        yield plain
        return
    yield kind.sub("", plain)
    yield from (f"  {each}" for each in found)


def _without_margins(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without their margins."""
    return [line for block in _margin_blocks(lines) for line in _remove_margin(block)]


def _margin_blocks(lines: Sequence[Line]) -> Iterator[list[tuple[Line, re.Match[str] | None]]]:
    """Yield runs of successive lines that have the same kind of margin, or none."""
    block: list[tuple[Line, re.Match[str] | None]] = []
    for line in lines:
        match = _MARGIN.match(line[1])
        if block and not _same_margin(block[-1][1], match):
            yield block
            block = []
        block.append((line, match))
    if block:
        yield block


def _same_margin(before: re.Match[str] | None, match: re.Match[str] | None) -> bool:
    """True if both margins are of one kind: numbers increase by one, names and signs stay the same."""
    if before is None or match is None:
        return before is match
    kind = match.lastgroup
    if kind != before.lastgroup or kind == "number":
        return kind == before.lastgroup and _number(match) == _number(before) + 1
    return kind in ("stamp", "journal") or match[0].strip() == before[0].strip()


def _number(match: re.Match[str]) -> int:
    digits = _DIGITS.search(match[0])
    return int(digits[0]) if digits else 0


def _remove_margin(block: Sequence[tuple[Line, re.Match[str] | None]]) -> list[Line]:
    kind = block[0][1].lastgroup if block[0][1] else None
    if kind is None or (kind == "number" and len(block) < _FEWEST_NUMBERED):
        return [line for line, _ in block]
    bare = [(number, text[match.end() :] if match else text) for (number, text), match in block]
    return bare if any(_FIO_RESULT.match(text) for _, text in bare) else [line for line, _ in block]


def _unwrapped(numbered: Sequence[Line]) -> list[Line]:
    """Return the lines, with broken lines joined under the number of the first part."""
    widths: set[int] = set()
    whole = _join_results(numbered, widths)
    return _join_commands(whole, widths) if widths else whole


def _join_results(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Join lines with results; `widths` collects the lengths of their first parts."""
    found: list[Line] = []
    place = 0
    while place < len(numbered):
        number, line = numbered[place]
        joined = _join(line, numbered[place + 1][1]) if place + 1 < len(numbered) and _INCOMPLETE.match(line) else None
        if joined is not None:
            widths.add(len(line))
            place += 1
        found.append((number, joined or line))
        place += 1
    return found


def _join(line: str, rest: str) -> str | None:
    """Return both parts as one line if fio prints such a line; otherwise None."""
    return next((one for one in (line + rest, f"{line} {rest}") if _is_whole(one)), None)


def _is_whole(line: str) -> bool:
    if _INCOMPLETE.match(line):
        return False
    kinds = (
        text_lines.header,
        text_lines.rate,
        text_lines.group,
        text_lines.latency,
        lambda one: text_lines.sampled_rate(one, None),
    )
    return any(kind(line) is not None for kind in kinds)


def _join_commands(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Join fio commands whose lines are as wide as the window. A command ends at its first shorter line."""
    found: list[Line] = []
    goes_on = False
    for number, line in numbered:
        is_full = len(line) in widths and len(line) >= _MIN_WIDTH
        if goes_on and line.strip():
            found[-1] = (found[-1][0], found[-1][1] + line)
            goes_on = is_full
        else:
            found.append((number, line))
            goes_on = is_full and _COMMAND.search(line) is not None
    return found
