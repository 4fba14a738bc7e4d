"""Read lists whose lines name a test and the IOPS with their direction: `16 threads, rnd 4k writes: 144 write iops`.

The lines below a heading such as `IOPS after fio:` may name only the direction: `Read: 512.3`.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.directions import named_direction
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
_LOG = re.compile(r"^.{0,80}\b(?:INFO|DEBUG)\b[\s:|\]-]{1,9}")
_HEADING = re.compile(
    r"^\W{0,9}(?:[a-z]\w{1,14} ){0,3}iops(?: (?:after|of|from|with|in|by) \w[\w +.-]{0,30})?\W{0,3}:\W{0,3}$",
    re.IGNORECASE,
)
_SIDE = re.compile(
    rf"^[\s>*-]{{0,12}}(?P<label>(?:(?:rand(?:om)?|seq(?:uential)?)[ _-]?)?(?P<direction>read|write)s?)\W{{0,3}}[:=]"
    rf"\s{{0,9}}(?P<iops>{_COUNT}|\d{{1,9}}\.\d{{1,9}})\s{{0,9}}$",
    re.IGNORECASE,
)
_FEWEST = 2
_MOST_LINES_BETWEEN = 3


def find_counted(numbered: Sequence[Line]) -> Iterator[FoundResult]:
    """Yield the results of such lists. A single line is not a list, and a label that names a limit is not a test."""
    group: list[tuple[int, FoundResult]] = []
    titled = -1
    for place, (line_number, line) in enumerate(numbered):
        if "iops" in line.lower() and _HEADING.match(_LOG.sub("", line)) and not _NOT_MEASURED.search(line):
            titled = place
        if titled >= 0 and place == titled + 1 and (side := _side(line_number, line)) is not None:
            yield side
            titled = place
            continue
        if "iops" not in line.lower() or (found := _result(line_number, line)) is None:
            continue
        if group and place - group[-1][0] > _MOST_LINES_BETWEEN + 1:
            yield from _of_list(group)
            group = []
        group.append((place, found))
    yield from _of_list(group)


def _of_list(group: Sequence[tuple[int, FoundResult]]) -> list[FoundResult]:
    return [found for _, found in group] if len(group) >= _FEWEST else []


def _side(line_number: int, line: str) -> FoundResult | None:
    """Return the result in a line below such a heading, which names only the direction and perhaps the order."""
    match = _SIDE.match(_LOG.sub("", line))
    iops = number(match["iops"]) if match else None
    return _found(line_number, match["label"], match["direction"].lower(), iops) if match and iops else None


def _result(line_number: int, line: str) -> FoundResult | None:
    match = _COUNTED.match(line)
    if match is None or not _IN_TEST.search(match["label"]) or _NOT_MEASURED.search(match["label"]):
        return None
    label, direction = match["label"], match["direction"].lower()
    iops = number(match["iops"])
    if not iops or named_direction(label) not in ("", direction):
        return None
    return _found(line_number, label, direction, iops)


def _found(line_number: int, label: str, direction: str, iops: float) -> FoundResult:
    values = Direction(iops=iops)
    part = PartOutcome(
        label, read=values if direction == "read" else None, write=values if direction == "write" else None
    )
    return FoundResult(Outcome("", (part,)), line_number, line_number, "text")
