"""Read lists whose lines name a test and its rate or IOPS: `Seq read: 550 MB/s`, `numjobs 4, qdepth 1, IOPS 40.4k`.

Such lines consist of the values, of words that describe a test, and of a short label. Sentences are not read, because
most rates in sentences are limits, specifications or comparisons. The direction is that of the words next to a value,
of the label, or of the line that introduces the list.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.directions import named_direction
from poolproof.foreign.audit.tables.table_cells import LABELLED, Rate, rate_in
from poolproof.foreign.audit.tables.table_context import TextJobs, block_in
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_NUMBER = r"\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,3})?|\d{1,9}(?:[.,]\d{1,3})?"
_VALUE = re.compile(
    rf"[~≈]?\s?(?<![\w.,])(?P<rate>(?:{_NUMBER})\s?[kKMGT]i?B)(?:/s(?:ec)?|ps)(?![\w/])"
    rf"|[~≈]?\s?(?<![\w.,])(?P<iops>(?:{_NUMBER})\s?[kKM]?)\s?IOPS\b"
    rf"|\bIOPS\s?[:=]?\s?[~≈]?(?P<after>(?:{_NUMBER})[kKM]?)(?![\w.,]*\d|\s?[kKMGT]?i?B)",
    re.IGNORECASE,
)
_OTHER_VALUE = re.compile(
    r"(?<![\w.])(?:\d[\d.,]*\s?(?:[num\u00b5\u03bc]?s(?:ec(?:onds?|s)?)?|%|[kKMGT]i?B?|x)?|[kKMGT])(?![\w/])"
)
_TEST_WORD = re.compile(
    r"(?:(?:rand(?:om)?|rnd|seq(?:uential(?:ly)?)?)?[-_]?(?:reads?|writes?|rw)|rand(?:om)?|rnd|seq(?:uential(?:ly)?)?|mixed|sync"
    r"|buffered|direct|o_direct|fio|dd|avg|average|mean|about|around|approx|at|and|with|of|in|the|bw|bandwidth|throughput|speeds?"
    r"|iops|lat(?:ency)?|clat|p\d\d?|blocks?|bs|size|q(?:ueue)?[-_]?d(?:epth)?|q\d+t\d+|qd\d+|q\d+|t\d+|io-?depth|depth|queue"
    r"|(?:num)?jobs?|threads?|\d{1,9}[km]i?b?|i/?o|raw|disk|file|libaio|io_uring|psync)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w/+-]*")
_BULLET = re.compile(r"^[\s>*\u2022+\u2013-]{0,16}")
_MARKS = re.compile(r"\*\*|`")
_ARROW = re.compile(r"\s[-=]>\s")
_LABEL = re.compile(r"^(?P<label>[^:=]{2,50}?)\s{0,12}(?::|=|\s[\u2013-]{1,2}\s|\s->)\s{0,12}")
_NOT_A_LIST = re.compile(r"[\[\]{}<>$\"|\t?!]|://")
_NOT_MEASURED = re.compile(
    r"\b(?:limit\w*|max(?:imum)?|min(?:imum)?|rated|spec\w*|targets?|goals?|expect\w*|quotas?|qos|tiers?|plans?|required?|requirements?"
    r"|recommended|provisioned|up to|advertised|theoretical\w*|needs?|should|would|could|capp?ed"
    r"|per (?:gi?b|tb|disk|drive)|claims?|claimed|baseline|burst|interface|link|bus|controller|sata|pcie|usb|gen ?\d"
    r"|total|combined|sum|aggregate|parent|per (?:process|thread)|memory|memcpy|ram(?![ -]?di[sk])|cpu|stream|内存"
    r"|network|iperf\d?|ethernet)\b",
    re.IGNORECASE,
)
_OF_DRIVE = re.compile(  # a heading may describe the drive
    r"\b(?:interface|sata|pcie|usb|gen ?\d|ram|link|controller)\b|\([^()]{1,60}\)", re.IGNORECASE
)
_MEASURED = re.compile(
    r"\b(?:fio|dd|bonnie|iozone|sysbench|(?:crystal|k) ?disk ?mark|\w{0,12}bench(?:mark\w*)?|test(?:s|ed|ing)?|results?"
    r"|measured|i(?: am|'m)? gett?(?:ing)?|i got)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^\s{0,16}(?:(?:seq(?:uential)?|rand(?:om)?)[ _-]?)?(?:reads?|writes?)[ _-]?"
    r"(?:bandwidth|bw|throughput|iops)\s{0,9}[:=]",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"\([^()]{1,60}\)")
_BETWEEN = re.compile(r"[,;/]\s|\sand\s|\s[/|]\s")
_GAP_AT_END = re.compile(r"(?<![,;\s])\s{2,20}$")
_LONGEST_LINE, _LONGEST_HEADING = 160, 120
_MOST_OTHER_WORDS, _MOST_LABEL_WORDS, _MOST_VALUES = 2, 6, 6
_MOST_LINES_BETWEEN, _MOST_LINES_ABOVE = 3, 3
_FEWEST = 2
_ROUND = 1e8
_NO_JOBS = TextJobs("")


@dataclass(frozen=True)
class _ListLine:
    """A line of such a list: its place in the text, its number, its results, and the lines above the list.

    `is_named`: True if the label is the name of a metric with its direction, such as `WRITE bandwidth`.
    """

    place: int
    number: int
    outcomes: tuple[Outcome, ...]
    above: str
    is_named: bool = False

    @property
    def is_round(self) -> bool:
        """True if all rates are multiples of 100 MB/s, as in data sheets, and no line above says otherwise."""
        rates = [
            each.bandwidth_bytes
            for outcome in self.outcomes
            for part in outcome.parts
            for each in part.directions.values()
        ]
        return not _MEASURED.search(self.above) and all(rate is not None and rate % _ROUND == 0 for rate in rates)


def find_rate_lists(numbered: Sequence[Line], taken: frozenset[int] = frozenset()) -> Iterator[FoundResult]:
    """Yield the results of such lists. Lines with the `taken` numbers are not read.

    A list has at least two lines with results, or one with both directions or with a label such as `WRITE bandwidth`.
    The text must mention a benchmark.
    """
    if not any(_MEASURED.search(line) for _, line in numbered if len(line) <= _LONGEST_LINE):
        return
    group: list[_ListLine] = []
    above: deque[str] = deque(maxlen=_MOST_LINES_ABOVE)
    for place, (line_number, line) in enumerate(numbered):
        if group and place - group[-1].place > _MOST_LINES_BETWEEN + 1:
            yield from _of_list(group)
            group = []
        found = () if line_number in taken else tuple(_outcomes(line, above[-1] if above else ""))
        if found:
            is_named = _NAMED.match(_MARKS.sub("", _BULLET.sub("", line))) is not None
            group.append(_ListLine(place, line_number, found, "\n".join(above), is_named))
        elif line.strip() and not _VALUE.search(line):
            above.append(line.strip() if len(line) <= _LONGEST_HEADING else "")
    yield from _of_list(group)


def _of_list(group: Sequence[_ListLine]) -> Iterator[FoundResult]:
    is_list = len(group) >= _FEWEST or any(line.is_named or len(line.outcomes) > 1 for line in group)
    if not is_list or all(line.is_round for line in group):
        return
    for line in group:
        for outcome in line.outcomes:
            yield FoundResult(outcome, line.number, line.number, "text")


def _outcomes(line: str, heading: str) -> Iterator[Outcome]:
    """Yield a result for each direction in a line, or nothing if it is not a line of such a list."""
    bare = _ARROW.sub(": ", _MARKS.sub("", _BULLET.sub("", line))).strip() if len(line) <= _LONGEST_LINE else ""
    if not bare or not _VALUE.search(bare) or _NOT_A_LIST.search(bare) or LABELLED.search(bare):
        return
    if _NOT_MEASURED.search(bare) or _NOT_MEASURED.search(_OF_DRIVE.sub("", heading)):
        return
    match = _LABEL.match(bare)
    label = match["label"] if match and not _VALUE.search(match["label"]) else ""
    rest = bare[match.end() :] if match and label else bare
    if not _VALUE.search(rest):
        label, rest = "", bare  # `read iops: 376,697/s`
    if not _is_test(label, rest):
        return
    title = _BULLET.sub("", heading).strip("#*: ")
    before = " ".join(rest[: first.start()].split()).strip(" ,;~(") if (first := _VALUE.search(rest)) else ""
    name = label or before or title
    values = _by_direction(rest, (label, title))
    block = block_in((name,), _NO_JOBS)
    for direction, (iops, rate) in values.items():
        said = name if named_direction(name) == direction else f"{name} {direction}".strip()
        measured = Direction(iops=iops, bandwidth_bytes=rate.in_bytes(iops, block) if rate else None)
        read, write = (measured if direction == each else None for each in ("read", "write"))
        yield Outcome("", (PartOutcome(said, read=read, write=write),))


def _is_test(label: str, rest: str) -> bool:
    """True if a line contains only values and words about a test after its short label.

    A line without a label must not have a gap in front of its value, because such lines belong to tables.
    """
    first = _VALUE.search(rest)
    words = _WORD.findall(_OTHER_VALUE.sub(" ", _VALUE.sub(" ", rest)))
    others = [word for word in words if not _TEST_WORD.fullmatch(word)]
    is_in_table = not label and first is not None and _GAP_AT_END.search(rest[: first.start()])
    return len(others) <= _MOST_OTHER_WORDS and len(_WORD.findall(label)) <= _MOST_LABEL_WORDS and not is_in_table


def _by_direction(rest: str, names: Sequence[str]) -> dict[str, tuple[float | None, Rate | None]]:
    """Return the IOPS and the rate of each direction in a line, or nothing if one of its values is uncertain.

    `names`: the label and the title of the list, which give the direction of values whose clause names none.
    """
    found: dict[str, tuple[float | None, Rate | None]] = {}
    said = ""
    for value, words, is_in_parentheses in _with_words(rest, list(_VALUE.finditer(rest))):
        said = named_direction(words) or said
        direction = said or next(filter(None, map(named_direction, names)), "")
        iops = number(value["iops"] or value["after"]) if not value["rate"] else None
        rate = rate_in(f"{value['rate']}/s", "") if value["rate"] else None
        known = found.get(direction, (None, None))
        is_known = bool((iops and known[0]) or (rate and known[1]))
        if is_known and is_in_parentheses:
            continue  # the same value in another unit
        if not direction or not (iops or rate) or is_known:
            return {}  # two values of the same kind: one of them is not the result
        found[direction] = iops or known[0], rate or known[1]
    return found


def _with_words(rest: str, values: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Yield each value, the words of its clause, and True if the value is in parentheses.

    A value in parentheses belongs to the clause before it.
    """
    hidden = _PARENTHESES.sub(lambda match: " " * len(match[0]), rest)
    ends = [0, *(match.end() for match in _BETWEEN.finditer(hidden)), len(rest)]
    for value in values:
        start = max(end for end in ends if end <= value.start())
        end = min(end for end in ends if end > value.start())
        yield value, rest[start:end], hidden[value.end() - 1] == " "
