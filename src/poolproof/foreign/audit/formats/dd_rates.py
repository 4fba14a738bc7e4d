"""Read dd's rates in comments and sentences: `dd if=/dev/zero of=f bs=1M   # 3.2 GB/s`, `dd gives 3.2 GB/s`.

A rate belongs to the command before it on the same line or on the line above it, or to the one that ends its sentence
(`I get 3.2 GB/s with dd if=…`, `3.2 GB/s (dd if=…)`), and a rate in a sentence about dd to the last command above it in
the same direction. Limits, ranges and comparisons are not results.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import amount, size_in_bytes
from poolproof.foreign.audit.directions import named_direction
from poolproof.foreign.audit.formats.dd_commands import COMMAND, NOWHERE, CachedFiles, DdCommand, dd_commands, result_of
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, outcome_of, values
from poolproof.load.fio.plain_lines import Line

_RATE = re.compile(r"(?<![\w.,-])(?P<rate>\d{1,5}(?:[.,]\d{0,3})? ?[kKMGT]i?B)(?:/s(?:e[ck])?|ps)(?!\w)")
_VERB = (
    r"(?:gives?|gave|giving|shows?|showed|reports?|reported|yields?|yielded|returns?|returned|results? in|resulted in"
    r"|gets?|got|getting|see|saw|seeing|measures?|reach(?:es|ed)?|says|prints?)"
)
_COMMENT = re.compile(r"^[`\"')\s]{0,9}(?:#|//|[-=]+>|→|⇒|:|=|—|–|--|\|(?=[^|]{0,60}\|\s*$))\W{0,6}(?P<said>.{0,60})$")
_SAYS = re.compile(
    r"^[`\"').,\s]{0,9}(?:(?:it|which|this|command|test|only|also|now|just|always|even|still|on .{1,20}|me|us|i|we|i'?m"
    r"|i am|and|but|then) ){0,4}"
    rf"{_VERB}\b(?P<said>.{{0,60}})$",
    re.IGNORECASE,
)
_BEFORE = re.compile(  # the words between a rate and its command
    r"^\W{0,9}(?:(?:with|using|via|from|by|for|when|while|running|run|doing|in|on|a|an|the|this|simple|test|tested|write"
    r"|writes|writing|read|reads|reading|sequential|seq|speed|command|shell) ){0,5}\W{0,3}$",
    re.IGNORECASE,
)
_IN_PARENTHESES = re.compile(r"^\s*\(\s*[`\"']?(?=dd\s)")
_ALONE = re.compile(
    r"^\W{0,9}(?:(?:results?|output|speed|rate|write|read|reads|writes|about|around|approx\.?|roughly|got|gives|avg|average|only|just)\W{1,3}){0,3}$",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"(?<![\w/.-])`?dd`?(?: (?:(?:tests?|command|writes?|reads?|benchmark|alone)|(?:to|from|of|on) .{1,20}))?,?"
    r" ?(?:(?:it|i|we|me|now|also|only|just|even|still|consistently|usually) ){0,3}"
    rf"(?:{_VERB}\b|(?:is|was|are|were)\b|[:=](?=\W{{0,3}}(?:about |around |approx\.? |only )?\d))(?P<said>.{{0,120}})",
    re.IGNORECASE,
)
_I_GET = re.compile(
    r"^\W{0,9}(?:(?:and|but|then|so|now|only|just|about|still|here|again) ){0,2}(?:i(?:'?m| am)?|we(?:'?re| are)?) "
    r"(?:(?:only|just|still|now|usually|consistently) )?(?:get|got|getting|see|saw|seeing|reach(?:ed)?|measured?)\b"
    r"(?P<said>[^.;(]{0,40}?\d[^;(]{0,20})",
    re.IGNORECASE,
)
_NOT_A_RESULT = re.compile(
    r"\b(?:up to|max(?:imum)?|at most|limit\w*|should|would|could|expect\w*|between|than|instead|not|vs\.?|versus|if"
    r"|rated|spec\w*|per (?:disk|drive)|each|from \d|compar\w*|drops?|dropped|down)\b|n't\b|\?|\d ?(?:-|–|to) ?\d",
    re.IGNORECASE,
)
_OUTPUT = re.compile(r"\bbytes\b|\d\+\d+ records\b", re.IGNORECASE)
_CLAUSE = re.compile(r",? (?:and|but|then|while)\b|[,;/] ")
_NEAR, _LONGEST = 15, 400
_MISSING = ("the command, with dd's input, output, block size, direct flag and sync setting",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    commands: list[DdCommand] = []
    above: DdCommand | None = None
    previous = ""
    cached = CachedFiles()
    for line_number, line in numbered:
        if len(line) > _LONGEST or _OUTPUT.search(line):
            above, previous = None, ""
            continue
        cached.see(line)
        found = list(dd_commands(line_number, line))
        if found:
            commands += found
            above = found[-1]
            if (rate := _said(above.after) or (_before(line, previous) if len(found) == 1 else None)) is not None:
                yield _result(line_number, rate, above, cached)
                above = None
            for command in found:
                if command.target not in NOWHERE and not command.has("oflag", "direct"):
                    cached.write(command)
            previous = ""
            continue
        previous = line
        if not line.strip() or line.lstrip().startswith("```"):
            continue
        match = _RATE.search(line)
        if match and above is not None and (alone := _below(line, match)):
            yield _result(line_number, alone, above, cached)
        elif match and (prose := _PROSE.search(line)) and not _NOT_A_RESULT.search(line):
            near = [each for each in commands if line_number - each.line <= _NEAR]
            yield from _in_prose(line_number, prose, near, cached)
        above = None


def _said(after: str) -> re.Match[str] | None:
    """Return the only rate in a comment, or in the words after a command on its line."""
    match = _COMMENT.match(after) or _SAYS.match(after)
    rates = list(_RATE.finditer(match["said"])) if match and not _NOT_A_RESULT.search(match["said"]) else []
    return rates[0] if len(rates) == 1 else None


def _before(line: str, previous: str) -> re.Match[str] | None:
    """Return the only rate of a sentence that ends with a command, or of the line above a command in parentheses."""
    command = COMMAND.search(line)
    words = previous if _IN_PARENTHESES.match(line) else line[: command.start()] if command else ""
    sentence = re.split(r"[.;!?] ", words)[-1]
    rates = list(_RATE.finditer(sentence))
    if len(rates) != 1 or _NOT_A_RESULT.search(sentence) or not _BEFORE.match(sentence[rates[0].end() :]):
        return None
    return rates[0]


def _below(line: str, match: re.Match[str]) -> re.Match[str] | None:
    """Return the rate in a line below a command, or None if the line may be about something else.

    The line has nothing but the rate and a few words such as `Result:`, or it begins with words such as `I get`.
    """
    if _ALONE.match(line[: match.start()]) and not re.search(r"\w", line[match.end() :]):
        return match
    sentence = _I_GET.match(line)
    if sentence is None or sentence.end() < match.end() or _NOT_A_RESULT.search(sentence["said"]):
        return None
    return match


def _in_prose(
    line_number: int, prose: re.Match[str], commands: Sequence[DdCommand], cached: CachedFiles
) -> Iterator[ForeignResult]:
    """Yield the results in a sentence: one rate, or one for each direction."""
    said = prose["said"]
    rates = list(_RATE.finditer(said))
    named = [named_direction(_around(said, rate)) for rate in rates]
    if len(rates) == 1:
        named = [named[0] or named_direction(prose[0][: prose.start("said") - prose.start()])]
    if len(rates) > 1 and sorted(named) != ["read", "write"]:
        return
    for rate, direction in zip(rates, named, strict=True):
        fitting = [each for each in commands if not direction or each.is_read == (direction == "read")]
        yield _result(line_number, rate, fitting[-1] if fitting else None, cached, direction)


def _around(said: str, rate: re.Match[str]) -> str:
    """Return the words of the clause around a rate."""
    ends = [0, *(match.start() for match in _CLAUSE.finditer(said)), len(said)]
    start = max(end for end in ends if end <= rate.start())
    return said[start : min(end for end in ends if end >= rate.end())]


def _result(
    line: int, match: re.Match[str], command: DdCommand | None, cached: CachedFiles, direction: str = ""
) -> ForeignResult:
    figures = values(bandwidth_bytes=amount(match["rate"]))
    if command is not None:
        return result_of(line, figures, _moved(command), command, cached.why(command.source))
    return ForeignResult("dd", line, line, outcome_of("dd", "dd", {direction or "mixed": figures}), missing=_MISSING)


def _moved(command: DdCommand) -> int | None:
    """Return the number of bytes that a command moves, or None if it does not say so."""
    block, count = size_in_bytes(command.words.get("bs", "")), command.words.get("count", "")
    return block * int(count) if block and count.isascii() and count.isdecimal() and len(count) < 10 else None


READER = FormatReader(
    "dd without its output",
    ("https://github.com/openzfs/zfs/issues/1880 (in a sentence)",),
    _find,
    ("dd ", "dd`", "dd:"),
)
