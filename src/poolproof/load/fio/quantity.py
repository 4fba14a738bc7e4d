"""Sizes, times and block sizes as fio itself reads them, which is not as people read them.

fio takes the digits at the start and looks at what follows them. With its default `kb_base=1024`, `4k`, `4kb` and `4kx`
are 4096 bytes while `4KiB` is 4000; `1.5g` is one byte; a runtime of `1min` is one microsecond. Measured with
`fio --debug=parse --parse-only` of fio 3.33; source: `str_to_decimal`, `__get_mult_bytes` and `__get_mult_time` in
fio's parse.c.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from poolproof.load.fio.arithmetic import evaluate

Value = TypeVar("Value")

_DECIMAL = re.compile(r"\s*([+-]?\d+)")
_HEX = re.compile(r"\s*([+-]?(?:0[xX])?[0-9a-fA-F]+)")
_AFTER_DIGITS = re.compile(r"(?:[+-]*\d*)(.*)", re.DOTALL)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SEPARATORS = re.compile(r"[:\-,/]")
_TIMES_US = {"s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_DIRECTIONS = 3
_TOO_LARGE = 1 << 63
_remembered = lru_cache(maxsize=4096)  # thousands of results have the same few values


@dataclass(frozen=True)
class SizeRange:
    """A range of sizes in bytes, both ends included."""

    low: int
    high: int


@dataclass(frozen=True)
class BlockSizes:
    """The block sizes of the three directions; None where the default stays."""

    read: SizeRange | None
    write: SizeRange | None
    trim: SizeRange | None


def attempt(parse: Callable[[str], Value], text: str) -> Value | None:
    """What `parse` makes of the text; None where it raises ValueError, because fio would refuse it."""
    try:
        return parse(text)
    except ValueError:
        return None


@_remembered
def parse_bytes(text: str, kb_base: int = 1024) -> int:
    """The bytes that fio makes of `text`.

    Raises:
        ValueError: fio refuses it, or it is a percentage, a count of zones or negative, which is no number of bytes.
    """
    if parse_percent(text) is not None:
        raise ValueError(f"{text!r} is a percentage, not a number of bytes")
    if text.rstrip(",").endswith("z"):
        raise ValueError(f"{text!r} counts zones of a zoned device, not bytes")
    if text.startswith("("):
        return _whole(evaluate(text, lambda suffix: _byte_factor(suffix, kb_base)), text)
    return _whole(_leading_integer(text) * _byte_factor(_suffix(text), kb_base), text)


@_remembered
def parse_percent(text: str) -> int | None:
    """20 for `20%`, None for what is no percentage. fio takes whole per cents only."""
    if not _suffix(text).startswith("%"):
        return None
    try:
        return _leading_integer(text)
    except ValueError:
        return None


def parse_time_us(text: str, bare_us: int = 1_000_000) -> int:
    """The microseconds that fio makes of a time. `bare_us` is what a bare 1 means: a second, or 1 µs for thinktime.

    A suffix that fio does not know (`10sec`, `1min`) makes it read microseconds, without a word.

    Raises:
        ValueError: fio refuses it, or it is negative.
    """
    if text.startswith("("):
        return _whole(evaluate(text, lambda suffix: _time_factor(suffix, bare_us)), text)
    return _whole(_leading_integer(text) * _time_factor(_suffix(text), bare_us), text)


def parse_block_sizes(text: str, kb_base: int = 1024) -> BlockSizes:
    """`bs=`: `4k` for all, `4k,8k` for reads and the rest, `4k,8k,` leaves trims at the default.

    A `-` or `:` separates directions as a comma does: `bs=4k-16k` reads 4 KiB and writes 16 KiB, it is no range.

    Raises:
        ValueError: fio refuses it.
    """
    if "," not in text:
        text = re.sub("[:-]", ",", text, count=1)
    return _by_direction([_single(part, kb_base) for part in text.split(",")])


def parse_block_ranges(text: str, kb_base: int = 1024) -> BlockSizes:
    """`bsrange=`: `4k-16k`, or one range for each direction.

    Raises:
        ValueError: fio refuses it.
    """
    return _by_direction([_range(part, kb_base) for part in text.split(",")])


def parse_block_split(text: str, kb_base: int = 1024) -> BlockSizes:
    """`bssplit=`: `4k/60:64k/40`, or one split for each direction; the shares are not kept.

    Raises:
        ValueError: fio refuses it.
    """
    return _by_direction([_split(part, kb_base) for part in text.split(",")])


@_remembered
def parse_range(text: str, kb_base: int = 1024) -> SizeRange:
    """A size or a range of sizes: `1m`, `1m-4m`.

    Raises:
        ValueError: fio refuses it.
    """
    low, _, high = text.partition("-")
    return SizeRange(parse_bytes(low, kb_base), parse_bytes(high or low, kb_base))


def _single(text: str, kb_base: int) -> SizeRange | None:
    if not text.strip():
        return None
    size = parse_bytes(text, kb_base)
    return SizeRange(size, size)


def _range(text: str, kb_base: int) -> SizeRange | None:
    if not text.strip():
        return None
    low, separator, high = text.partition("-" if "-" in text else ":")
    if not separator:
        raise ValueError(f"{text!r} is no range of sizes; write one such as 4k-16k")
    ends = sorted((parse_bytes(low, kb_base), parse_bytes(high, kb_base)))
    return SizeRange(ends[0], ends[1])


def _split(text: str, kb_base: int) -> SizeRange | None:
    sizes = [parse_bytes(entry.split("/")[0], kb_base) for entry in text.split(":") if entry.strip()]
    return SizeRange(min(sizes), max(sizes)) if sizes else None


def _by_direction(spans: list[SizeRange | None]) -> BlockSizes:
    """One value serves all directions, two serve reads and the rest; an empty last one keeps the default."""
    if len(spans) == 1 or (len(spans) == 2 and spans[1] is None):
        return BlockSizes(spans[0], spans[0], spans[0])
    if len(spans) == 2:
        return BlockSizes(spans[0], spans[1], spans[1])
    return BlockSizes(*spans[:_DIRECTIONS])


def _leading_integer(text: str) -> int:
    """What C's strtoll reads; the whole text counts as hexadecimal when `0x` stands anywhere in it, as in fio."""
    hexadecimal = "0x" in text.lower()
    match = (_HEX if hexadecimal else _DECIMAL).match(text)
    if match is None:
        raise ValueError(f"{text!r} does not start with a number")
    return int(match[1], 16 if hexadecimal else 10)


def _suffix(text: str) -> str:
    """What follows the digits that the text starts with, in lower case, '' where it is neither a letter nor `%`."""
    match = _AFTER_DIGITS.match(text)
    rest = match[1].lower() if match else ""
    return rest if (rest[:1].isascii() and rest[:1].isalpha()) or rest[:1] == "%" else ""


def _byte_factor(suffix: str, kb_base: int) -> int:
    word = _SEPARATORS.split(suffix)[0]
    power = _POWERS.get(word[:1], 0)
    if power and word[1:3] == "ib":
        return int((1000 if kb_base == 1024 else 1024) ** power)
    return int(kb_base**power)


def _time_factor(suffix: str, bare_us: int) -> int:
    if not suffix:
        return bare_us
    if suffix.startswith("us"):
        return 1
    if suffix.startswith("ms"):
        return 1000
    return _TIMES_US.get(suffix, 1)


def _whole(value: float, text: str) -> int:
    if not 0 <= value < _TOO_LARGE:
        raise ValueError(f"{text!r} is negative or does not fit 64 bits")
    return int(value)
