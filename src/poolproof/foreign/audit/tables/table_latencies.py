"""Parse latencies in the cells of tables, alone or after the IOPS: `0.26 ms`, `15k IOPS, 64 µs`, `15k (64 µs)`."""

import re

from poolproof.foreign.audit.amounts import number
from poolproof.load.outcome import Direction, Latency

TIME_UNIT = r"(?:[num\u00b5\u03bc]s(?:ec)?|[mn]sec|usec|microseconds?|milliseconds?)"
_WORDS = r"(?:(?:avg|average|mean|lat(?:ency)?|c?lat|at|@|~|≈)\.? ?[:=]? ?){0,4}"
_TIMED = re.compile(
    r"^(?P<iops>\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,9})?|\d{1,12}(?:\.\d{1,9})?(?: ?[kKM](?=\b))?)"
    rf"(?P<word> ?IOPS)? ?[,;/@|(\[]? ?{_WORDS}(?P<time>\d{{1,9}}(?:[.,]\d{{1,9}})?) ?(?P<unit>{TIME_UNIT})[)\]]?$",
    re.IGNORECASE,
)
IN_TEXT = re.compile(
    r"(?<![\w.,])(?P<iops>\d{1,3}(?:,\d{3}){1,4}|\d{1,9}(?:\.\d{1,3})?[kKM]?) ?IOPS ?[,;/@(\[]? ?"
    rf"{_WORDS}(?P<time>\d{{1,9}}(?:[.,]\d{{1,9}})?) ?(?P<unit>{TIME_UNIT})(?!\w)",
    re.IGNORECASE,
)
_LATENCY = re.compile(rf"^[~≈]?(?P<time>\d{{1,9}}(?:[.,]\d{{1,9}})?) ?(?P<unit>{TIME_UNIT})?$", re.IGNORECASE)
_IN_NS = {"n": 1.0, "u": 1e3, "\u00b5": 1e3, "\u03bc": 1e3, "micro": 1e3, "m": 1e6}


def timed_in(cell: str, *, is_named: bool) -> Direction | None:
    """Parse IOPS and a latency in one cell, or return None. Without the word IOPS, `is_named` must be True."""
    match = _TIMED.match(cell)
    return timed(match) if match and (match["word"] or is_named) else None


def timed(match: re.Match[str]) -> Direction | None:
    """Return the values of a match with IOPS, a time and its unit, or None if one of them is 0."""
    iops, mean_ns = number(match["iops"]), _ns(match["time"], match["unit"])
    return Direction(iops=iops, lat=Latency(mean_ns=mean_ns)) if iops and mean_ns else None


def latency_in(cell: str, unit: str) -> Latency | None:
    """Parse a latency, or return None. `unit`: the unit in the header, for cells without one."""
    match = _LATENCY.match(cell)
    mean_ns = _ns(match["time"], match["unit"] or unit) if match and (match["unit"] or unit) else None
    return Latency(mean_ns=mean_ns) if mean_ns else None


def _ns(time: str, unit: str) -> float | None:
    value = number(time)
    name = unit.lower()
    kind = "micro" if name.startswith("micro") else name[0]
    return None if value is None else value * _IN_NS[kind]
