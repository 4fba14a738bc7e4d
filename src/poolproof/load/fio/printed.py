"""Numbers as fio prints them in its normal output: `24.4k`, `23.9GiB`, `3556Mbit/s`, `1081.4k`.

fio 3 writes `KiB` for 1024 and `kB` for 1000; fio 2 writes `KB` and means 1024 (num2str in fio's lib/num2str.c).
"""

import re

_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([kKMGTPE]?)$")
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kKMGTPE]?)(i?)(bit|[Bb])$|\s*(0)$")
LARGEST = 1e24
"""Above anything that fio counts."""
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


def number(text: str) -> float:
    """A count or a latency; a suffix means powers of 1000.

    Raises:
        ValueError: the text is no such number.
    """
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no number that fio prints")
    return _sane(float(match[1]) * 1000.0 ** _POWERS[match[2].lower()], text)


def amount(text: str, plain: int) -> float:
    """Bytes in `800GiB`, `1024.0MB` or `3556Mbit`; a unit without the `i` counts in powers of `plain` (1000 or 1024).

    A number without a unit is refused unless it is 0: it may be one that was cut off.

    Raises:
        ValueError: the text is no such amount.
    """
    match = _AMOUNT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no amount of bytes that fio prints")
    if match[5]:
        return 0.0
    is_bits = match[4] in ("bit", "b")
    factor = (1024.0 if match[3] else plain) ** _POWERS[match[2].lower()]
    return _sane(float(match[1]) * factor / (8 if is_bits else 1), text)


def _sane(value: float, text: str) -> float:
    if abs(value) > LARGEST:
        raise ValueError(f"{text[:40]!r} is larger than anything that fio counts")
    return value
