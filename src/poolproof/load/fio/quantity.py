"""Parse sizes, times and block sizes as fio does, even if the result is surprising.

fio reads the leading digits and then the suffix after them. With the default `kb_base=1024`, `4k`, `4kb` and `4kx` are
4096 bytes, but `4KiB` is 4000 bytes. `1.5g` is one byte, and a runtime of `1min` is one microsecond. Tested with `fio
--debug=parse --parse-only` of fio 3.33. Source: `str_to_decimal`, `__get_mult_bytes` and `__get_mult_time` in fio's
parse.c.

A value that starts with a parenthesis is an arithmetic expression, such as `(4k*2)` or `(1g/(3+1))k` (HOWTO "parameter
types", fio's exp/expression-parse.y). Some builds of fio do not support expressions.

Unless documented otherwise, the parsers raise ValueError for input that fio would reject.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

Value = TypeVar("Value")

_DECIMAL = re.compile(r"^\s*+([+-]?\d+)")
_HEX = re.compile(r"^\s*+([+-]?(?:0[xX])?[0-9a-fA-F]+)")
_SUFFIX = re.compile(r"^[+-]*+\d*+((?:[a-z]|%).*)", re.DOTALL)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SEPARATORS = re.compile(r"[:\-,/]")
_TIMES_US = {"s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_TOO_LARGE = 1 << 63
_cached = lru_cache(maxsize=4096)  # cached, because thousands of results have the same few values

_TOKEN = re.compile(r"(?<!\s)\s*+(?:(\d+(?:\.\d+)?|\.\d+)([a-z]*)|([-+*/^%()])([a-z]*))", re.IGNORECASE)
_LONGEST_EXPRESSION = 200
_MOST_NESTED = 30
_PRECEDENCE = (("+", "-"), ("*", "/", "%"), ("^",))
_OPERATORS: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "^": operator.pow,
}


@dataclass(frozen=True)
class SizeRange:
    """A range of sizes in bytes, inclusive at both ends."""

    low: int
    high: int


@dataclass(frozen=True)
class BlockSizes:
    """The block sizes for reads, writes and trims, with None for fio's default size."""

    read: SizeRange | None
    write: SizeRange | None
    trim: SizeRange | None


DEFAULT_BLOCK = SizeRange(4096, 4096)
"""The block size that fio uses if no option sets one (HOWTO, `bs`)."""


def attempt(parse: Callable[[str], Value], text: str) -> Value | None:
    """Return the parsed value, or None if `parse` raises ValueError."""
    try:
        return parse(text)
    except ValueError:
        return None


@_cached
def parse_bytes(text: str, kb_base: int = 1024) -> int:
    """Parse a number of bytes. Raises ValueError for percentages, numbers of zones and negative numbers too."""
    if parse_percent(text) is not None:
        raise ValueError(f"{text!r} is a percentage, not a number of bytes")
    if text.rstrip(",").endswith("z"):
        raise ValueError(f"{text!r} counts zones of a zoned device, not bytes")
    return _scaled(text, partial(_byte_factor, kb_base=kb_base))


@_cached
def parse_percent(text: str) -> int | None:
    """Return the number in a percentage (20 for `20%`), or None. As in fio, it must be an integer."""
    return attempt(_leading_integer, text) if _suffix(text).startswith("%") else None


def parse_time_us(text: str, bare_us: int = 1_000_000) -> int:
    """Parse a time into microseconds. As in fio, an unknown suffix (`10sec`, `1min`) means microseconds.

    `bare_us`: the unit of a number without a suffix, in microseconds: 1,000,000 for most options, 1 for `thinktime`.
    """
    return _scaled(text, partial(_time_factor, bare_us=bare_us))


def parse_block_sizes(text: str, kb_base: int = 1024) -> BlockSizes:
    """Parse the value of `bs=`.

    A single size, `4k`, applies to all directions. In `4k,8k`, the first size is for reads, and the second is for
    writes and trims. `4k,8k,` leaves trims at the default. `-` and `:` act like commas: `bs=4k-16k` is not a range, but
    means 4 KiB reads and 16 KiB writes.
    """
    if "," not in text:
        text = re.sub("[:-]", ",", text, count=1)

    def single(part: str) -> SizeRange:
        size = parse_bytes(part, kb_base)
        return SizeRange(size, size)

    return _by_direction(text, single)


def parse_block_ranges(text: str, kb_base: int = 1024) -> BlockSizes:
    """Parse the value of `bsrange=`: a range such as `4k-16k`, or one range for each direction."""

    def span(part: str) -> SizeRange:
        low, separator, high = part.partition("-" if "-" in part else ":")
        if not separator:
            raise ValueError(f"{part!r} is not a range of sizes; use, for example, 4k-16k")
        ends = sorted((parse_bytes(low, kb_base), parse_bytes(high, kb_base)))
        return SizeRange(*ends)

    return _by_direction(text, span)


def parse_block_split(text: str, kb_base: int = 1024) -> BlockSizes:
    """Parse the value of `bssplit=`: `4k/60:64k/40`, or one list per direction. Percentages are ignored."""

    def split(part: str) -> SizeRange | None:
        sizes = [parse_bytes(entry.split("/")[0], kb_base) for entry in part.split(":") if entry.strip()]
        return SizeRange(min(sizes), max(sizes)) if sizes else None

    return _by_direction(text, split)


@_cached
def parse_range(text: str, kb_base: int = 1024) -> SizeRange:
    """Parse a size such as `1m`, or a range of sizes such as `1m-4m`."""
    low, _, high = text.partition("-")
    return SizeRange(parse_bytes(low, kb_base), parse_bytes(high or low, kb_base))


def kb_base_of(options: Mapping[str, str]) -> int:
    """Return the factor for the suffix `k` in a job with these options: 1024 or 1000."""
    return 1000 if (options.get("kb_base") or "").strip() == "1000" else 1024


def block_sizes(options: Mapping[str, str], kb_base: Callable[[str], int]) -> BlockSizes:
    """Return a job's block sizes. `bssplit` takes precedence over `bsrange`, and `bsrange` over `bs`.

    Options with invalid values are ignored.

    `kb_base`: takes an option's name, and returns the factor for the suffix `k` in its value (1024 or 1000).
    """
    for name, parse in (("bssplit", parse_block_split), ("bsrange", parse_block_ranges), ("bs", parse_block_sizes)):
        value = options.get(name)
        sizes = None if value is None else attempt(partial(parse, kb_base=kb_base(name)), value)
        if sizes is not None:
            return sizes
    return BlockSizes(None, None, None)


def evaluate(text: str, factor: Callable[[str], int]) -> float:
    """Evaluate an arithmetic expression.

    `factor`: takes a suffix, which is in lower case and may be empty, and returns its multiplier.

    Raises a ValueError if the expression is not valid, too long or too deeply nested.
    """
    if len(text) > _LONGEST_EXPRESSION or text.count("(") > _MOST_NESTED or text.count("-") > _MOST_NESTED:
        raise ValueError("the expression is too long or too deeply nested")
    expression = _Arithmetic(text, factor)
    value = expression.value()
    if expression.tokens:
        raise ValueError(f"{text!r} continues after the end of the expression")
    return value if expression.has_units else value * factor("")


class _Arithmetic:
    """A recursive-descent parser. `tokens`: the remaining numbers and operators, with their suffixes."""

    def __init__(self, text: str, factor: Callable[[str], int]) -> None:
        self._text, self._factor = text, factor
        self.tokens: list[tuple[str, str]] = []
        self.has_units = False
        at, text = 0, text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ValueError(f"unexpected {text[at]!r} in {text!r}")
            self.tokens.append((match[1] or match[3], (match[2] or match[4] or "").lower()))
            at = match.end()

    def value(self, level: int = 0) -> float:
        """Evaluate a sub-expression with operators of at least the precedence `level`, an index of `_PRECEDENCE`."""
        if level == len(_PRECEDENCE):
            return self._atom()
        value = self.value(level + 1)
        while self.tokens and self.tokens[0][0] in _PRECEDENCE[level]:
            symbol, _ = self._take()
            right = self.value(level + 1)
            try:
                value = float(_OPERATORS[symbol](value, right))
            except (ArithmeticError, TypeError):
                raise ValueError(f"{self._text!r} cannot be evaluated") from None
            if symbol == "^":
                break
        return value

    def _atom(self) -> float:
        word, suffix = self._take()
        if word == "-":
            return -self._atom()
        if word == "(":
            value = self.value()
            word, suffix = self._take()
            if word != ")":
                raise ValueError(f"{self._text!r} has no closing parenthesis")
        elif word in "+*/^%)":
            raise ValueError(f"unexpected {word!r} in {self._text!r}")
        else:
            value = float(word)
        self.has_units = self.has_units or bool(suffix)
        return value * self._factor(suffix) if suffix else value

    def _take(self) -> tuple[str, str]:
        if not self.tokens:
            raise ValueError(f"{self._text!r} ends too early")
        return self.tokens.pop(0)


def _by_direction(text: str, parse: Callable[[str], SizeRange | None]) -> BlockSizes:
    """Parse one value for all directions (`4k`), two values (reads, others) or three (reads, writes, trims)."""
    spans = [parse(part) if part.strip() else None for part in text.split(",")]
    if len(spans) == 1 or (len(spans) == 2 and spans[1] is None):
        return BlockSizes(spans[0], spans[0], spans[0])
    return BlockSizes(*[*spans, spans[-1]][:3])


def _leading_integer(text: str) -> int:
    """Parse a leading integer like strtoll. As in fio, it is hexadecimal if `0x` appears anywhere in the input.

    Raises a ValueError if the input does not start with a number.
    """
    hexadecimal = "0x" in text.lower()
    match = (_HEX if hexadecimal else _DECIMAL).match(text)
    if match is None:
        raise ValueError(f"{text!r} does not start with a number")
    return int(match[1], 16 if hexadecimal else 10)


def _suffix(text: str) -> str:
    """Return the suffix after the digits in lower case, or "" if no letter or `%` follows the digits."""
    match = _SUFFIX.match(text.lower())
    return match[1] if match else ""


def _byte_factor(suffix: str, kb_base: int) -> int:
    word = _SEPARATORS.split(suffix)[0]
    power = _POWERS.get(word[:1], 0)
    if power and word[1:3] == "ib":
        return int((1000 if kb_base == 1024 else 1024) ** power)
    return int(kb_base**power)


def _time_factor(suffix: str, bare_us: int) -> int:
    if not suffix:
        return bare_us
    if suffix.startswith("ms"):
        return 1000
    return _TIMES_US.get(suffix, 1)  # also 1 for `us` and suffixes that fio does not know


def _scaled(text: str, factor: Callable[[str], int]) -> int:
    value = evaluate(text, factor) if text.startswith("(") else _leading_integer(text) * factor(_suffix(text))
    if not 0 <= value < _TOO_LARGE:
        raise ValueError(f"{text!r} is negative or at least 2^63")
    return int(value)
