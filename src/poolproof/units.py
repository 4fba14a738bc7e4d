"""Parse and format sizes, durations, dates, rates and lists.

Sizes are written as in zpool: `k`, `m`, `g`, `t` and `p` are powers of 1024, even if `b` or `ib` follows. fio
interprets some of these differently. By default, it reads `4KiB` as 4000 bytes (`load/fio/quantity.py`).
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

_SIZE = re.compile(r"(?i)^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?\s*$")
_LONGEST = 40
_TOO_LARGE = 1 << 63  # an offset in a file is a signed number of 64 bits

_DURATION = re.compile(r"(?i)^\s*(\d+(?:\.\d+)?)\s*(ms|us|s|m|h|d)?\s*$")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LARGEST_SHOWN = 999.5  # larger values would be rounded to 1000, and are shown in the next unit
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def parse_size(text: str) -> int:
    """Parse a size such as `16G`, `512m` or `4096`, and return it in bytes.

    Raises a ValueError if the text is not a size, or if it is 8 EiB or more, because no file can be that large.
    """
    match = _SIZE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size; use, for example, 16G, 512M or 4096")
    unit = 1024 ** _POWERS[match[2].lower()]
    if len(match[1]) > _LONGEST or float(match[1]) * unit >= _TOO_LARGE:
        raise ValueError(f"{text[:_LONGEST]!r} is too large: a file must be smaller than 8 EiB")
    return int(match[1]) * unit if match[1].isdecimal() else int(float(match[1]) * unit)


def parse_duration(text: str) -> float:
    """Parse a duration such as `10s`, `500ms`, `2m` or `3` (seconds), and return it in seconds.

    Raises a ValueError if the text is not a duration.
    """
    match = _DURATION.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; use, for example, 10s, 500ms or 2m")
    return float(match[1]) * _SECONDS[(match[2] or "s").lower()]


def parse_time(text: str) -> datetime | None:
    """Parse a date and time in ISO 8601 format, and return it in UTC. None if the text is not a date.

    A time without a UTC offset is taken as local time.
    """
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def parse_date(text: str) -> float:
    """Parse a date and time in ISO 8601 format, and return it in seconds since 1970. 0 if the text is not a date."""
    found = parse_time(text)
    return 0.0 if found is None else found.timestamp()


def format_size(size_bytes: float) -> str:
    """Format a size in binary units (B to TiB) with three significant digits, e.g. `1.5 GiB`, `512 MiB` or `0 B`."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1023.5 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.3g} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def shown_bytes(text: str) -> str:
    """Format a number of bytes that was recorded as a string, such as a machine's RAM.

    Any other string is returned unchanged.
    """
    return format_size(int(text)) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else text


def canonical_size(size_bytes: int) -> str:
    """Format a size exactly, in the largest unit that divides it. For example, 17179869184 becomes `16G`."""
    for letter, power in (("T", 4), ("G", 3), ("M", 2), ("K", 1)):
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{letter}"
    return str(size_bytes)


def format_rate(bytes_per_second: float) -> str:
    """Format a bandwidth in decimal units, as disk vendors do, for example as `183 MB/s`."""
    value = float(bytes_per_second)
    for unit in ("B/s", "kB/s", "MB/s", "GB/s"):
        if abs(value) < _LARGEST_SHOWN or unit == "GB/s":
            return f"{_three_digits(value)} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def format_count(value: float) -> str:
    """Format a count or a rate of operations with three significant digits, e.g. `131`, `14.8k` or `1.20M`."""
    for unit in ("", "k", "M", "G"):
        if abs(value) < _LARGEST_SHOWN or unit == "G":
            return f"{_three_digits(value)}{unit}"
        value /= 1000
    raise AssertionError("unreachable")


def format_number(value: float, digits: int = 2) -> str:
    """Format a number with at least `digits` significant digits and without an exponent: `2.7`, `128`, `1,210`."""
    text = f"{value:.{digits}g}"
    return f"{value:,.0f}" if "e+" in text else text


def format_number_of(count: int, word: str) -> str:
    """Format a count with its noun, which is in the plural unless the count is 1: `1 trial`, `3 trials`."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def format_list(names: Sequence[str], most: int | None = None) -> str:
    """Join names with commas and a final `and`: `a, b and c`.

    If there are more than `most` names, the last one is the number of those left out: `a, b and 4 more`.
    """
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def format_duration(seconds: float) -> str:
    """Format a duration in a suitable unit, for example as `266 ns`, `1.25 ms`, `2.0 s` or `1 h 12 min`."""
    if seconds < 59.95:
        for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
            if abs(seconds) * factor < _LARGEST_SHOWN:
                return f"{_three_digits(seconds * factor)} {unit}"
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
