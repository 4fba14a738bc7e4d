"""Parse numbers with units in the output of benchmark programs, with either decimal points or decimal commas."""

import math
import re

from poolproof.units import parse_size

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_LARGEST = 1e24
_AMOUNT = re.compile(r"^(?P<number>\d[\d.,]*)\s*(?P<unit>[kKMGTPmgtp]?)(?P<binary>i?)[Bb]?(?:ytes)?$")
_SECONDS = re.compile(r"(?<!\d)(\d{1,18}(?:\.\d{1,18})?)(h|ms|m|us|s)")
_IN_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def number(text: str) -> float | None:
    """Parse a number such as `1234.5`, `1,73096`, `27,416` or `74.5k`, or return None if it is invalid or too large.

    Commas separate thousands in numbers such as `27,416` and `1,234.5`. Any other comma is a decimal comma, as in
    `0,123`.
    """
    match = re.match(r"^\s*(\d[\d.,]*(?:[eE][-+]?\d{1,2})?)\s*([kKMG]?)\s*$", text)
    if match is None:
        return None
    digits = match[1]
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    try:
        value = float(digits.replace(",", ".")) * 1000.0 ** _POWERS[match[2].lower()]
    except ValueError:
        return None
    return value if math.isfinite(value) and value < _LARGEST else None


def decimal(text: str) -> float | None:
    """Parse a number such as `1,73096`, or return None if it is invalid. Every comma is treated as a decimal comma."""
    return number(text.replace(",", "."))


def amount(text: str, kilo: int = 1000) -> float | None:
    """Parse a number of bytes such as `1.3 GB` or `93.75Mb`, or return None if it is invalid.

    Units with an `i` are powers of 1024. All other units are powers of `kilo`.
    """
    match = _AMOUNT.match(text.strip())
    value = decimal(match["number"]) if match else None
    if match is None or value is None:
        return None
    return value * float(1024 if match["binary"] else kilo) ** _POWERS[match["unit"].lower()]


def size_in_bytes(text: str) -> int | None:
    """Parse a size such as `16G` (in powers of 1024), or return None if it is not a valid file size."""
    try:
        return parse_size(text)
    except ValueError:
        return None


def count_of(text: str | None, default: int = 1) -> int:
    """Parse a number of threads or I/Os and limit it to a value from 1 to 4096. Return the default if it is invalid."""
    return max(1, min(int(text), 4096)) if text and text.isascii() and text.isdecimal() and len(text) < 6 else default


def whole(value: float | None) -> int | None:
    """Round to an integer. None stays None."""
    return None if value is None else round(value)


def seconds(text: str) -> float | None:
    """Parse a duration such as `11.559s`, `30m0.262s` or `850us`. Return seconds, or None if it is invalid."""
    found = _SECONDS.findall(text)
    return sum(float(value) * _IN_SECONDS[unit] for value, unit in found) if found else None
