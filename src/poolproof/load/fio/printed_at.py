"""Read when fio printed a job, from the first line of the job's block."""

import re
from datetime import datetime

_PRINTED = re.compile(
    r"pid=\d+: [A-Z][a-z]{2} (?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]?\d) "
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d) (?P<year>\d{4})"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def printed_at(line: str) -> datetime | None:
    """Return when fio printed the first line of a job's block; None if the line does not show it."""
    match = _PRINTED.search(line)
    if match is None or match["month"] not in _MONTHS:
        return None
    year, day, hour, minute, second = (int(match[name]) for name in ("year", "day", "hour", "minute", "second"))
    try:
        return datetime(year, 1 + _MONTHS.index(match["month"]), day, hour, minute, second)
    except ValueError:
        return None
