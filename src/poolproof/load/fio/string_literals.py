r"""Replace string literals in source code and in lists with the lines of fio output that they contain.

Tests and scripts contain fio's output in literals of several forms: one literal per line, either as items of a list or
concatenated (`"…\n" +`); one literal whose lines end with `\` or `\n\`; and a raw literal with plain lines, with code
in front of the first one. JSON in a literal has escaped quotation marks (`\"`).
"""

import re
from collections.abc import Callable, Iterator, Sequence

Line = tuple[int, str]
_Marked = tuple[Line, re.Match[str]]

_TEXT = r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*+)(?P=quote)"""
_ITEM = re.compile(rf"^\s*+(?:[-+.,]\s*+)?[bBfFrRuUL]{{0,2}}{_TEXT}(?P<after>[\s,+.;)\]}}\\]{{0,20}})$")
_FIRST = re.compile(
    rf"^[^\"'`]{{0,200}}[=(\[,:]\s{{0,8}}[bBfFrRuUL]{{0,2}}{_TEXT}(?P<after>\s{{0,8}}[+.,\\]?\s{{0,8}})$"
)
_CODE_BEFORE = re.compile(
    r"""^[^"'`]{0,200}(?:\"{1,3}|`|(?:(?<!\w)|(?<=\W[bBfFrRuU]))'{1,3})\s{0,8}"""
    r"""(?=[2-5];fio-\d|[^\s"'`:][^"'`:]{0,80}: \((?:groupid|g)=\s{0,8}\d"""
    r"|Run status group \d|(?:READ|WRITE): (?:bw|io)=)"
)
_HAS_CODE_BEFORE = re.compile(r";fio-\d|: \((?:groupid|g)=|Run status group \d|(?:READ|WRITE): (?:bw|io)=")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "    ", "r": ""}
_JSON_OR_TERSE = re.compile(r';fio-\d|\\"(?:fio version|jobname)\\"')
_TERSE = re.compile(r"^[2-5];fio-\d")
_FEWEST_LISTED, _FEWEST_JOINED = 3, 2


def without_literals(lines: Sequence[Line], is_result: Callable[[str], object]) -> list[Line]:
    """Return the lines, with the text of each literal that contains fio output in place of the literal.

    `is_result`: returns a true value for a line of fio output.
    """
    found: list[Line] = []
    block: list[_Marked] = []
    for line in [*_without_continuations(lines, is_result), (0, "")]:
        match = _ITEM.match(line[1]) if '"' in line[1] or "'" in line[1] else None
        if block and not match:
            found += _unquoted(block, is_result)
            block = []
        match = match or (_FIRST.match(line[1]) if '"' in line[1] or "'" in line[1] else None)
        if match:
            block.append((line, match))
        else:
            found.append((line[0], _without_code_before(line[1])))
    return found[:-1]


def _unquoted(block: Sequence[_Marked], is_result: Callable[[str], object]) -> list[Line]:
    """Return the lines in successive literals, or the literals themselves if they do not contain fio output."""
    items = [(number, unescaped(match["text"])) for (number, _), match in block]
    is_list = any("," in match["after"] for _, match in block[:-1])
    has_breaks = any("\n" in text for _, text in items)
    if is_list or not (has_breaks or _TERSE.match(items[0][1])):
        inside = [(number, part) for number, text in items for part in text.removesuffix("\n").split("\n")]
    else:
        inside = list(_concatenated(items))
    fewest = _FEWEST_JOINED if has_breaks or not is_list else _FEWEST_LISTED
    if len(items) >= fewest and any(is_result(text) for _, text in inside):
        return inside
    return [(number, _without_code_before(line)) for (number, line), _ in block]


def _concatenated(items: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of concatenated literals, each with the number of the line on which it begins."""
    at, begun = 0, ""
    for number, text in items:
        first, *rest = text.split("\n")
        at, begun = (at if begun else number), begun + first
        for part in rest:
            yield at, begun
            at, begun = number, part
    if begun:
        yield at, begun


def _without_continuations(lines: Sequence[Line], is_result: Callable[[str], object]) -> list[Line]:
    r"""Return the lines, without the `\` or `\n\` at the ends of the lines of a literal that contains fio output."""
    found: list[Line] = []
    run: list[Line] = []
    for line in [*lines, (0, "")]:
        is_continued = line[1].rstrip().endswith("\\")
        if run or is_continued:
            run.append(line)
        if run and not is_continued:
            joined = _joined(run)
            is_output = any('"fio version"' in text or is_result(_without_code_before(text)) for _, text in joined)
            found += joined if is_output else run
            run = []
        elif not is_continued:
            found.append(line)
    return found[:-1]


def _joined(run: Sequence[Line]) -> list[Line]:
    r"""Return the lines of a literal. A line is joined with the next one if it ends with `\`, but not with `\n\`.

    Without any `\n\`, only JSON and a terse line are literals. Other lines may end with `\` in Markdown.
    """
    bare = [(number, text.rstrip()) for number, text in run]
    has_breaks = any(text.endswith("\\n\\") for _, text in bare)
    if not (has_breaks or any(_JSON_OR_TERSE.search(text) for _, text in bare)):
        return list(run)
    found: list[Line] = []
    continues = False
    for number, text in bare:
        ends_line = text.endswith("\\n\\")
        plain = unescaped(text.removesuffix("\\").removesuffix("\\n")).replace("\n", " ")
        if continues and not found[-1][1].rstrip().endswith(('"', "'", "`")):
            found[-1] = (found[-1][0], found[-1][1] + plain.lstrip())
        else:
            found.append((number, plain))
        continues = text.endswith("\\") and not ends_line
    return found


def _without_code_before(line: str) -> str:
    """Return a line without the code in front of a literal that begins with fio output."""
    has_quote = '"' in line or "'" in line or "`" in line
    return _CODE_BEFORE.sub("", line, count=1) if has_quote and _HAS_CODE_BEFORE.search(line) else line


def unescaped(text: str) -> str:
    """Return the text of a literal, with its escape sequences replaced."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text) if "\\" in text else text
