"""Parse the counts, amounts and rates that fio prints, and correct those that fio rounded wrongly.

fio prints three or four digits. If a fraction is rounded up to 1, fio prints only its decimals: 43.0 for 43.96. fio 3.0
to 3.7 cut off decimals: 11.0 for 11.9.
"""

import re
from functools import partial

from poolproof.load.fio.quantity import attempt

_NUMBER = re.compile(r"^\s*+(-?\d++(?:\.\d++)?)\s*+([kKMGTPE]?)$")
_AMOUNT = re.compile(r"^\s*+(?:(\d++(?:\.\d++)?)\s*+([kmgKMGTPE]?)(i?)(bit|[Bb])|(0))$")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
LARGEST = 1e24  # larger than any value that fio can count
_SAME_RATE = 0.05
_FEWEST_WITH_SUFFIX = 10_000  # fio prints fewer I/Os without a suffix


def number(text: str) -> float:
    """Parse a count or a latency. Suffixes are powers of 1000. Raises ValueError for invalid input."""
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number in fio's format")
    return _sane(float(match[1]) * 1000.0 ** _POWERS[match[2].lower()], text)


def amount(text: str, kilo: int) -> float:
    """Parse an amount such as `800GiB`, `1024.0MB` or `3556Mbit` into bytes. Units without an `i` are powers of `kilo`.

    fio spells out `bit`, so `kb` is `KB` in a copy of the output in lower-case letters.
    Raises ValueError if fio never prints such an amount. A number without a unit is accepted only if it is 0, because
    the unit of any other number may have been cut off.
    """
    match = _AMOUNT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not an amount of data in fio's format")
    if match[5]:
        return 0.0
    factor = (1024.0 if match[3] else kilo) ** _POWERS[match[2].lower()]
    return _sane(float(match[1]) * factor / (8 if match[4] == "bit" else 1), text)


def _sane(value: float, text: str) -> float:
    if abs(value) > LARGEST:
        raise ValueError(f"{text[:40]!r} is larger than the largest value that fio can represent")
    return value


def stated_bandwidth(match: re.Match[str], kilo: int) -> float:
    """Return the bandwidth in bytes per second. Raises ValueError if it does not have the format of a rate.

    fio 3 prints two rates, `23.9GiB/s (25.6GB/s)`. If they agree, the second one is returned, because it uses powers of
    1000 like poolproof's own output. Readers can then find the same value in the text.
    """
    first = amount(in_bytes(match["bw"]), kilo)
    decimal = (match.groupdict().get("decimal") or "").removesuffix("/s")
    second = attempt(partial(amount, kilo=1000), in_bytes(decimal))
    if second is None or _has_lost_carry(decimal, second, first):
        return first
    is_same = abs(second - first) <= _SAME_RATE * first or _is_truncated(match["bw"], first, second, kilo)
    return second if is_same else first


def _is_truncated(text: str, first: float, second: float, kilo: int) -> bool:
    """True if the first rate may be the second one without its decimals: fio 3.0 to 3.7 print 11.0 for 11.9."""
    match = re.match(r"\d{1,4}\.0(\D+)$", text)
    return match is not None and 0 <= second - first <= 1.1 * amount(in_bytes(f"1{match[1]}"), kilo)


def _has_lost_carry(text: str, rate: float, other: float) -> bool:
    """True if fio rounded a fraction up to 1 and printed only its decimals: 43.0 for 43.96."""
    match = re.match(r"\d{1,4}\.0(\D+)$", text)
    return match is not None and 0.85 <= (other - rate) / amount(in_bytes(f"1{match[1]}"), 1000) <= 1.05


def carried_iops(iops: float | None, ios: int, runtime_ms: int | None) -> float | None:
    """Return the IOPS (None if unknown), or I/Os / time if fio printed 24.0k for 24.999k."""
    if not iops or not runtime_ms or iops < _FEWEST_WITH_SUFFIX:
        return iops
    unit = 1e3 if iops < 1e6 else 1e6
    exact = 1000 * ios / runtime_ms
    return exact if iops % unit == 0 and 0.9 <= (exact - iops) / unit <= 1.05 else iops


def agreeing_size(size: float, decimal: str | None, expected: float | None) -> float:
    """Return the size, or the one in parentheses if the two differ and only the latter is near the expected size.

    A digit of the first one was then lost or repeated, for example if its line was wrapped inside the number.
    """
    second = attempt(partial(amount, kilo=1000), decimal) if decimal else None
    if second is None or expected is None:
        return size
    is_wrong = abs(size - expected) > _SAME_RATE * expected and abs(second - expected) <= _SAME_RATE * expected
    return second if is_wrong else size


def whole_size(text: str, size: float, bandwidth: float | None, lasted_ms: int | None) -> int:
    """Return a size in bytes, or rate × time if fio 3.0 to 3.7 cut off the size's decimals (17.0 for 17.98)."""
    match = re.match(r"\d{1,4}\.[01](\D+)$", text)
    expected = bandwidth * lasted_ms / 1000 if bandwidth and lasted_ms else 0.0
    is_truncated = match is not None and _SAME_RATE * size < expected - size <= 1.1 * amount(f"1{match[1]}", 1000)
    return round(expected if is_truncated else size)


def in_bytes(text: str) -> str:
    """Append the `B` that fio omits in the totals of all clients (`679Mi`)."""
    return f"{text}B" if re.search(r"[kKMGT]i?$", text) else text
