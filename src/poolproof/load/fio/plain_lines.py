"""Convert HTML, quotations, terminal captures and other text to numbered plain lines.

HTML tags, BBCode, the `>` of quotations, terminal colours and carriage returns are removed. HTML entities are decoded,
and curly quotes become straight quotes. A `<br>`, the end of an HTML block, or a result within a sentence starts a new
line with the same line number. In the cells of a Markdown table, a `<br>` becomes a comma. If most lines end with
`| |`, these marks are removed.

A margin is a prefix that another program adds to each line: a timestamp, a container name, a line number, a comment
sign. Successive lines with the same kind of margin form a block. Margins are removed from a block only if one of its
lines is fio output.

Long lines may have been wrapped at the width of a window. Two lines of fio output are joined if the first is incomplete
and both together are complete. It is impossible to tell whether a command is complete, so it is joined only if it is
wrapped at the same width as the output.
"""

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from poolproof.load.fio import text_lines
from poolproof.load.fio.string_literals import without_literals

Line = tuple[int, str]

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\^\[\[[A-D]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
_IS_HTML = re.compile(
    r"<(?:html|body|pre|code|p|div|br|span|table|td|li|blockquote)\b[^>]*>|&(?:lt|gt|amp|quot|nbsp|#\d+);",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|pre|h\d|blockquote|code)>", re.IGNORECASE)
_BREAK = re.compile(r" {0,4}<br ?/?> {0,4}", re.IGNORECASE)
_ROW = re.compile(r"^\s{0,3}\|[^|]*\|.*\|\s*$")
_FIO_LINES = re.compile(r"<br\s*/?>\s*(?:[sc]?lat|bw|cpu|iops)\b[^=|]{0,20}[(:]", re.IGNORECASE)
_EMPTY_CELLS = "| |", "|"  # at the end of the lines of a gist that was saved as a table
_CELL_END = re.compile(
    r"</t[dh]>\s{0,9}<t[dh]\b[^<>]{0,200}>(?!\s{0,9}<(?:pre|code|div|table|figure))", re.IGNORECASE
)  # not the gutter of a listing
_TAG = re.compile(
    r"</?(?:html|head|body|title|meta|link|script|style|pre|code|span|div|p|br|a|b|i|u|em|strong|small|font|tt|kbd|samp|table|"
    r"thead|tbody|td|th|tr|ul|ol|li|dl|dt|dd|h[1-6]|hr|img|section|article|main|nav|header|footer|blockquote|details|summary|"
    r"button|svg|path|time|figure|label|input)\b[^<>]*>",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"^(?:\s?>\s?)+(?=[^>]|$)")
_CURLY = {"“": '"', "”": '"', "„": '"', "\xa0": " "}
_STAMP = r"\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARNING|WARN|ERROR)"
_MARGIN = re.compile(
    rf"^(?:(?P<tagged>(?:{_STAMP}\s*)?(?:(?:-\s)?{_LEVEL}\s*[|:-]?\s*)?"
    r"(?:\[(?:stdout|stderr|[A-Za-z][\w.-]{0,30}/[\w./:@-]{1,80})\]:?"
    rf"(?: {_STAMP})?|(?:stdout|stderr) [FP])(?=\s|$))"
    r"|(?P<journal>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./-]+(?:\[\d+\])?:(?=\s|$)"
    r"|\d{4}-\d\d-\d\dT[\d:.,]{8,15}(?:Z|[+-]\d\d:?\d\d)? \S+ [\w./-]+\[\d+\]:(?=\s|$))"
    rf"|(?P<stamp>{_STAMP}:?(?: \d\d[OE]\+?|(?: - [\w.-]{{1,40}}){{0,3}}(?: -)? {_LEVEL}(?:\s?[|:-])?)?(?=\s|$))"
    r"|(?P<elapsed>#\d{1,4} \d{1,6}\.\d{1,3}(?=\s|$)|\[\s{0,5}\d{1,7}\.\d{3,6}\](?=\s|$))"  # of Docker builds, of Linux
    r"|(?P<number>\s{0,7}\d{1,6}(?:\s?[:.)|])?(?=\s|$))"
    r"|(?P<container>\w[\w./-]* +\|(?=\s|$))"
    r"|(?P<pod>[a-z0-9][a-z0-9.-]{0,60}-[bcdfghjklmnpqrstvwxz2456789]{5} [a-z0-9][a-z0-9-]{0,60}(?=\s|$))"
    r"|(?P<speaker>[\w.@-]{1,30}>(?=\s|$))"
    r"|(?P<host>\d{1,3}(?:\.\d{1,3}){3}:(?=\s|$))"
    r"|(?P<sign>\s{0,3}(?:#+|//|[*|;-])(?=\s|$)|\+))"
)
_FIO_RESULT = re.compile(
    r"^\s*+(?:(?:read|write|trim|mixed)\s*:\s*(?:IOPS|io)=|(?:READ|WRITE|TRIM|MIXED): (?:bw|io)="
    r"|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=|bw\s*\(\s*[kKMG]i?B\s*/s\): min=|Run status group \d"
    r'|"fio version"|[2-5];fio-|\S.*: \((?:groupid|g)=\s*\d+'
    r"|IOPS \(Read/Write\)|Random Read/Write IOPS:|Block Size\s*\||JobName:|\d{1,18} \S+ [(\uff08].*/s$|Timing \w+ "
    r"|BUFFERED READS:|OPERATION\s+RESULT TYPE|.*-Sequential Output-|(?:SEQ|RND|Sequential|Random) .*MB/s"
    r"|Children see throughput|[kK]B\s+reclen\s|\"?(?:Re-)?[Ww]riter [Rr]eport\"?\s*$|Operations performed:"
    r"|(?:reads|writes)/s:)"
)
_FEWEST_NUMBERED = 2
_FEWEST_ENDS = 3
_INCOMPLETE = re.compile(
    r"^\s*+(?:.*: \(g=\s*\d+\): rw=(?!.*iodepth=\d)|(?:read|write|trim|mixed)\s*: IOPS=(?!.*msec\))"
    r"|(?:READ|WRITE|TRIM|MIXED): (?:bw=(?!.*msec)|io=(?!.*maxt=\s{0,9}\d{1,15}msec))"
    r"|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=(?!.*stdev=)"
    r"|bw\s*\(\s*[kKMG]i?B\s*/s\s*\): min=(?!.*stdev=))"
)
_AT_THE_CUT = re.compile(
    r"(?<=fio-)[\w.-]*$|(?<=samples=)\d*$|(?<=iodepth=)\d*$|(?<=[Ii][Oo][Pp][Ss]=)[\d.]*[kMG]?$|(?<=/s\)=)\d*$"
)
_CUT_IN_IOPS = re.compile(
    r"^\s{0,99}(?:read|write|trim)\s{0,9}: (?:IOPS=|io=[^=]{1,30}, bw=[^=]{1,30}, iops=)[\d.]{0,12}[kMG]?$"
)
_VALUE_AT_THE_CUT = re.compile(r"(:\s{1,40}(?:\d\S{0,20}\s{1,40})?(?=\d{1,15}(?:\.\d?)?$)|\|\s{0,40})\d[\d.,]{0,15}$")
_MORE_DIGITS = re.compile(r"[\d,kMG]|\.\d")
_LISTS = re.compile(r"^\s*+(?:lat \([num]?sec\)\s*:|IO depths\s*:|submit\s*:|complete\s*:|iops\s*:).*,\s*$")
_COMMAND = re.compile(r"\bfio(?:\.exe)?\s.*-\w")
_OPTION = re.compile(r"--[a-z]|-[a-z][a-z_]{2,30}=")
_MIN_WIDTH = 40
_BBCODE = "b|i|u|s|code|icode|color|size|font|quote|spoiler|ispoiler|plain|tt|pre|url|list|indent|left|center"
_CLOSING = re.compile(rf"\[/({_BBCODE})\]", re.IGNORECASE)
_BLOCK_TAGS = frozenset({"code", "quote", "spoiler", "pre", "list"})
_RESULTS = re.compile(
    r"\b(?:read|write|trim)\s?: IOPS=[^\s`|]{1,20},? BW=[^\s`|]{1,20}(?: {0,2}\([^()`|]{0,40}\)){0,2}"
    r"|\b(?:read|write|trim)\s?: IOPS=\d[\d.]{0,12}[kM]?(?=[`\"'|;)]|[.,]?\s{0,9}$)"
    r"|\b(?:read|write|trim)\s?: {0,2}io=[^,`|]{1,20}, {0,2}bw=[^,`|\s]{1,20}"
    r"(?:, {0,2}iops=[^,`|\s]{1,20}(?:, {0,2}runt= {0,12}\d{1,15} ?msec)?)?"
)
_NAMED_RESULT = re.compile(r"^[\s>*-]{0,20}\w[^|:=`\"']{0,60}[ -](?:read|write)\s?: IOPS=\S{1,20} BW=\S{1,20}\s{0,9}$")
_SUMS = re.compile(
    r"\b(?:READ|WRITE): (?:bw|io)=[^`|]{1,200}?msec(?:, {0,2}maxt= {0,9}\d{1,15} ?msec)?"
    r"|\b(?:READ|WRITE): bw=[^\s`|,]{1,20}(?: {0,2}\([^()`|]{1,20}\))?"
)
_QUOTED_PRINTABLE = re.compile(
    r"(?:IOPS|iops|bw|BW|min|err|total|io|[ \t%])=3D|=C2=A0|^Content-Transfer-Encoding: quoted-printable",
    re.MULTILINE | re.IGNORECASE,
)
_MOST_TAKEN = 60  # any fio line wrapped at 76 characters takes fewer lines
_HEX = re.compile(r"(?:=[0-9A-F]{2})+")
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|~~")
_ESCAPED = re.compile(r': IOPS=|: io=|;fio-\d|\\"fio version\\"')
_BREAK_INSIDE = re.compile(r"""\\n(?!["'`]?[\s,+.;)\]}\\]{0,20}$)""")
_TERSE_START = re.compile(r"(?:^|[^\w;.-])[3-5];fio-\d[^\"'`\\]*$")
_TERSE_REST = re.compile(r"^(?=[^;%]{0,99}[;%])[\d.%=;-]{1,400}$|^(?:[\w.%=-]{0,40};){3,99}[\w.%=-]{0,40}$")


@lru_cache(maxsize=1)  # cached, because the same text is searched for results, commands, tables and iostat
def plain_lines(text: str) -> tuple[Line, ...]:
    """Return the plain lines in order, each with its line number (1-based).

    Input without a final newline may have been cut off. If it ends with fio's version, `samples=…` or `iodepth=…`, that
    value is removed, because it may have lost digits. The IOPS at the end of fio's own rate line are removed also
    before a final newline: in fio's output, more values always follow them.
    """
    bare = without_literals(_without_marks(_decoded(text)), _FIO_RESULT.match)
    found = [line for block in _margin_blocks(bare) for line in _remove_margin(block)]
    last = len(found) - (2 if text.endswith("\n") else 1)
    if last >= 0 and (last == len(found) - 1 or ("(groupid=" in text and _CUT_IN_IOPS.match(found[last][1]))):
        found[last] = (found[last][0], _without_cut_number(found[last][1]))
    widths: set[int] = set()
    found = _join_commands(_join_results(_join_terse(found), widths), widths)
    return tuple((number, part) for number, line in found for part in _split_results(line))


def _decoded(text: str) -> str:
    """Decode quoted-printable mail if it contains fio output in which `=3D` is an equals sign.

    Continued lines are joined. An empty line replaces each line that was joined, so that line numbers do not change.
    """
    if not _QUOTED_PRINTABLE.search(text):
        return text
    joined: list[str] = []
    taken = 0
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        if joined and taken:
            first = joined[-taken]
            quote = _QUOTE.match(first)
            joined[-taken] = first + bare.removeprefix(quote[0] if quote else "").removesuffix("=")
            joined.append("")
        else:
            joined.append(bare.removesuffix("="))
        taken = taken + 1 if bare.endswith("=") and taken < _MOST_TAKEN else 0
    return _HEX.sub(
        lambda match: bytes.fromhex(match[0].replace("=", "")).decode("utf-8", "replace"), "\n".join(joined)
    )


def _without_marks(text: str) -> list[Line]:
    """Return the numbered lines without HTML, BBCode, terminal escapes and the `>` of quotations."""
    is_html = _IS_HTML.search(text) is not None
    is_in_cells = _has_empty_cells(text)
    closed = sorted({name.lower() for name in _CLOSING.findall(text)})
    bbcode = re.compile(rf"\[/?({'|'.join(closed)})(?:=[^\]\n]*)?\]", re.IGNORECASE) if closed else None
    found: list[Line] = []
    for curly, straight in _CURLY.items():
        text = text.replace(curly, straight)
    for number, line in enumerate(_ESCAPES.sub("", text).split("\n"), start=1):
        line = _unescaped(line.rstrip("\r"))
        line = _without_empty_cells(line) if is_in_cells else line
        if bbcode:  # a block tag starts a new line
            line = bbcode.sub(lambda match: "\r" if match[1].lower() in _BLOCK_TAGS else "", line)
        if is_html and ("<" in line or "&" in line):
            if _ROW.match(line) and not _FIO_LINES.search(line):
                line = _BREAK.sub(", ", line)
            line = _BLOCK.sub("\r", _CELL_END.sub(" | ", line))
            line = html.unescape(_TAG.sub("", line)).replace("\xa0", " ")
        parts = line.split("\r") if "\r" in line else (line,)
        found += [(number, _QUOTE.sub("", part) if ">" in part else part) for part in parts]
    return found


def _without_empty_cells(line: str) -> str:
    bare = line.rstrip()
    end = next(filter(bare.endswith, _EMPTY_CELLS), "")
    return bare.removesuffix(end).rstrip() if end else line


def _has_empty_cells(text: str) -> bool:
    """True if most lines end with `| |`, because each is a cell of a table, as in gists that were saved as text."""
    ends = text.count(" | |\n")
    return ends >= _FEWEST_ENDS and 2 * ends >= text.count("\n") - text.count("\n\n")


def _unescaped(line: str) -> str:
    """Unescape fio output inside a string that is on one line. Its line breaks become carriage returns."""
    if not (_BREAK_INSIDE.search(line) and _ESCAPED.search(line)):
        return line
    return line.replace("\\r", "").replace("\\n", "\r").replace("\\t", "    ").replace('\\"', '"')


def _split_results(line: str) -> Iterator[str]:
    """Yield the line without the results in it, and then each result as a separate line."""
    if "=" not in line or not any(word in line for word in ("IOPS=", "iops=", ": bw=", ": io=")):
        yield line
        return
    plain = _EMPHASIS.sub("", line)
    if _NAMED_RESULT.match(plain):
        yield plain
        return
    kind = _RESULTS if _RESULTS.search(plain) else _SUMS
    found = list(kind.finditer(plain))
    if not any(plain[: match.start()].strip() for match in found):
        yield plain
        return
    yield kind.sub("", plain)
    yield from (f"  {match[0]}" for match in found)


_Marked = tuple[Line, re.Match[str] | None]


def _margin_blocks(lines: Sequence[Line]) -> Iterator[list[_Marked]]:
    block: list[_Marked] = []
    for line in lines:
        match = _margin(line[1])
        if block and not _same_margin(block[-1][1], match):
            yield block
            block = []
        block.append((line, match))
    if block:
        yield block


def _margin(line: str) -> re.Match[str] | None:
    """Return a line's margin, or None if it has none. A quick test first excludes most lines of prose."""
    is_word = line.lstrip()[:1].isalpha()
    if is_word and not (":" in line or "|" in line or ">" in line or "std" in line or "/" in line or "-" in line):
        return None
    return _MARGIN.match(line)


def _same_margin(before: re.Match[str] | None, match: re.Match[str] | None) -> bool:
    """True if both margins are of the same kind.

    Line numbers must increase by one. Timestamps and journal prefixes may differ. All other margins must be equal.
    """
    if before is None or match is None or before.lastgroup != match.lastgroup:
        return before is match
    if match.lastgroup == "number":
        return int(match[0].strip(" :.)|\t")) == int(before[0].strip(" :.)|\t")) + 1
    return match.lastgroup in ("tagged", "stamp", "journal", "elapsed") or match[0].strip() == before[0].strip()


def _remove_margin(block: Sequence[_Marked]) -> list[Line]:
    lines = [line for line, _ in block]
    kind = block[0][1].lastgroup if block[0][1] else None
    if kind is None or (kind == "number" and len(block) < _FEWEST_NUMBERED):
        return lines
    bare = [(number, text[match.end() :] if match else text) for (number, text), match in block]
    return bare if any(_FIO_RESULT.match(text) for _, text in bare) else lines


def _join_terse(numbered: Sequence[Line]) -> list[Line]:
    """Join the parts of terse lines that were wrapped."""
    found: list[Line] = []
    taken = _MOST_TAKEN
    for number, line in numbered:
        if taken < _MOST_TAKEN and ";fio-" not in line and _TERSE_REST.match(line.strip()):
            found[-1] = (found[-1][0], found[-1][1] + line.strip())
            taken += 1
        else:
            found.append((number, line))
            taken = 0 if ";fio-" in line and _TERSE_START.search(line) else _MOST_TAKEN
    return found


def _join_results(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Join result lines that were wrapped. The lengths at which they were wrapped are added to `widths`."""
    found: list[Line] = []
    at = 0
    while at < len(numbered):
        number, line = numbered[at]
        joined = None
        if "=" in line and at + 1 < len(numbered) and _INCOMPLETE.match(line):
            rest = numbered[at + 1][1]
            both = () if _FIO_RESULT.match(rest) else (line + rest, f"{line} {rest}")
            joined = next((each for each in both if _is_complete(each)), None)
            if joined is None and _MORE_DIGITS.match(rest):
                line = _without_cut_number(line)
        elif line.rstrip().endswith(",") and at + 1 < len(numbered) and _LISTS.match(line):
            joined = f"{line.rstrip()} {numbered[at + 1][1].strip()}"
        if joined is not None:
            widths.add(len(line))
            at += 1
        found.append((number, joined or line))
        at += 1
    return found


def _without_cut_number(line: str) -> str:
    """Remove fio's version, the value of `samples=`, `iodepth=`, `IOPS=` or `…:`, or a cell's number, from the end."""
    return _AT_THE_CUT.sub("", _VALUE_AT_THE_CUT.sub(r"\1", line))


def _is_complete(line: str) -> bool:
    parsers = (text_lines.header, text_lines.rate, text_lines.group, text_lines.latency)
    return not _INCOMPLETE.match(line) and (
        any(parse(line) is not None for parse in parsers) or text_lines.sampled_rate(line, None) is not None
    )


def _join_commands(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Join fio commands that were wrapped at one of the `widths`. A line of any other length ends the command."""
    if not widths:
        return list(numbered)
    found: list[Line] = []
    continues = False
    for number, line in numbered:
        is_full = len(line) in widths and len(line) >= _MIN_WIDTH
        if continues and line.strip():
            # a mail program drops the space at which it wraps a line
            blank = " " if _OPTION.match(line) else ""
            found[-1] = (found[-1][0], found[-1][1] + blank + line)
            continues = is_full
        else:
            found.append((number, line))
            continues = is_full and _COMMAND.search(line) is not None
    return found
