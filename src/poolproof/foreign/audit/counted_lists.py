"""Read lists whose lines name a test and the IOPS with their direction: `16 threads, rnd 4k writes: 144 write iops`."""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.formats.amounts import number
from poolproof.foreign.audit.formats.directions import named_direction
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_COUNT = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,9}(?:\.\d{1,3})? ?[kKM]?"
_COUNTED = re.compile(
    rf"^[\s>*-]{{0,12}}(?P<label>\w[^:=|]{{2,99}}?)\s{{0,9}}[:=]\s{{0,9}}(?P<iops>{_COUNT})\s"
    r"(?:(?:rand(?:om)?|seq(?:uential)?)\s)?(?P<direction>read|write)s?\siops\s{0,9}$",
    re.IGNORECASE,
)
_IN_TEST = re.compile(
    r"\b(?:seq\w{0,7}|ra?nd\w{0,4}|threads?|jobs?|"
    r"(?:qd?|depth|iodepth) ?=? ?\d{1,4}|bs=\w{1,8}|\d{1,4} ?[km](?:i?b)?)\b",
    re.IGNORECASE,
)
_NOT_MEASURED = re.compile(
    r"\b(?:limit\w*|max(?:imum)?|min(?:imum)?|rated|spec\w*|targets?|goals?|expect\w*|quotas?|qos|tiers?|plans?|required|"
    r"recommended|provisioned|up to|advertised|theoretical|needs?)\b",
    re.IGNORECASE,
)
_FEWEST = 2
_MOST_LINES_BETWEEN = 3


def find_counted(numbered: Sequence[Line]) -> Iterator[FoundResult]:
    """Yield the results of such lists. A single line is not a list, and a label that names a limit is not a test."""
    group: list[tuple[int, FoundResult]] = []
    for place, (line_number, line) in enumerate(numbered):
        if "iops" not in line.lower() or (found := _result(line_number, line)) is None:
            continue
        if group and place - group[-1][0] > _MOST_LINES_BETWEEN + 1:
            yield from _of_list(group)
            group = []
        group.append((place, found))
    yield from _of_list(group)


def _of_list(group: Sequence[tuple[int, FoundResult]]) -> list[FoundResult]:
    return [found for _, found in group] if len(group) >= _FEWEST else []


def _result(line_number: int, line: str) -> FoundResult | None:
    match = _COUNTED.match(line)
    if match is None or not _IN_TEST.search(match["label"]) or _NOT_MEASURED.search(match["label"]):
        return None
    label, direction = match["label"], match["direction"].lower()
    iops = number(match["iops"])
    if not iops or named_direction(label) not in ("", direction):
        return None
    values = Direction(iops=iops)
    part = PartOutcome(
        label, read=values if direction == "read" else None, write=values if direction == "write" else None
    )
    return FoundResult(Outcome("", (part,)), line_number, line_number, "text")
