"""Lines of fio's output, and calls of fio, that were broken in two at the width of a window.

Two lines are one where the first is a line of fio that lacks its end and the two together are whole. The width at which
that happened tells of commands, which have no end that one could know.
"""

import re
from collections.abc import Sequence

from poolproof.load.fio import text_lines as lines

Line = tuple[int, str]

_BEGUN = re.compile(
    r"^\s*(?:.*: \(g=\s*\d+\): rw=(?!.*iodepth=\d)|(?:read|write|trim|mixed)\s*: IOPS=(?!.*msec\))"
    r"|(?:READ|WRITE|TRIM|MIXED): bw=(?!.*msec)|(?:slat|clat|lat|sync) \([num]?sec\)\s*: min=(?!.*stdev=)"
    r"|bw\s*\(\s*[kKMG]i?B\s*/s\s*\): min=(?!.*stdev=))"
)
_COMMAND = re.compile(r"\bfio(?:\.exe)?\s.*-\w")
_NARROWEST = 40


def unwrapped(numbered: Sequence[Line]) -> list[Line]:
    """The lines, those that were broken joined again under the number of the first."""
    widths: set[int] = set()
    whole = _joined_figures(numbered, widths)
    return _joined_commands(whole, widths) if widths else whole


def _joined_figures(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Lines with figures; `widths` takes the lengths of the first parts."""
    found: list[Line] = []
    place = 0
    while place < len(numbered):
        number, line = numbered[place]
        joined = _whole(line, numbered[place + 1][1]) if place + 1 < len(numbered) and _BEGUN.match(line) else None
        if joined is not None:
            widths.add(len(line))
            place += 1
        found.append((number, joined or line))
        place += 1
    return found


def _whole(line: str, rest: str) -> str | None:
    """Both as one line, if fio printed such a line."""
    return next((one for one in (line + rest, f"{line} {rest}") if _is_whole(one)), None)


def _is_whole(line: str) -> bool:
    if _BEGUN.match(line):
        return False
    kinds = (lines.header, lines.rate, lines.group, lines.latency, lambda one: lines.sampled_rate(one, None))
    return any(kind(line) is not None for kind in kinds)


def _joined_commands(numbered: Sequence[Line], widths: set[int]) -> list[Line]:
    """Calls of fio that are as wide as the window was; each goes on while its lines are."""
    found: list[Line] = []
    goes_on = False
    for number, line in numbered:
        is_full = len(line) in widths and len(line) >= _NARROWEST
        if goes_on and line.strip():
            found[-1] = (found[-1][0], found[-1][1] + line)
            goes_on = is_full
        else:
            found.append((number, line))
            goes_on = is_full and _COMMAND.search(line) is not None
    return found
