"""fio's logs: bandwidth, IOPS and latency over time, and histograms of completion latency.

A line is `ms, value, direction, block size[, offset][, priority]`; bandwidth is KiB/s (see `log_rates.py`), latency ns
(µs before fio 3, see `latency_unit_ns`); direction 0 reads, 1 writes, 2 trims. A histogram line is `ms, direction,
block size, count, count, …`. Source: HOWTO "Log file formats". A log of 100 MB is read in pieces into flat arrays: no
object for each line.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Literal

import msgspec

from poolproof.errors import FioError
from poolproof.load.fio.histogram import PLAT_BITS, bin_value, count_bins
from poolproof.load.merge import DEFAULT_PERCENTILES, add_bins, percentiles_of
from poolproof.load.outcome import Latency

Kind = Literal["bw", "iops", "lat", "clat", "slat"]

READ, WRITE, TRIM = 0, 1, 2
_PIECE_BYTES = 256 << 10  # larger pieces leave the processor's cache
_FEWEST_COLUMNS = 4
_HISTOGRAM_COLUMNS = 3
_LONGEST_NS = 10**18  # 31 years; a longer latency is damage, and a thousand times it fits no 64 bits
_MOST_COUNT = 10**15  # I/Os; a larger one is damage
_LOOKED_AT = 20  # lines of each piece
_UNDER_WAY = 0.5  # requests; in µs they would be 500 of one job
_ONE_UNDER_WAY = 2.0  # requests; in ns the disk would have idled for 998 of 1,000 seconds
_NAME = re.compile(r"_(bw|iops|lat|clat|slat|clat_hist)(?:\.\d+)?\.log")
_DECODER = msgspec.json.Decoder(list[int])
_HEX = re.compile(rb"0x([0-9a-fA-F]{1,16})")
_ROW = re.compile(rb"\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)[^\n]*\n")
_MOST_DIGITS = 18  # what always fits 64 bits


@dataclass(frozen=True)
class SeriesLog:
    """Samples in the order of the file; columns of equal length. `values` are in the log's own unit.

    `block_bytes`: the size of the I/O, 0 where a row stands for the I/Os of a window.
    `has_priorities`: its last column is the request's priority, which fio writes since 3.20.
    """

    time_ms: "array[int]"
    values: "array[int]"
    directions: "array[int]"
    block_bytes: "array[int]"
    bad_lines: int = 0
    has_priorities: bool = False

    def __len__(self) -> int:
        return len(self.time_ms)

    def of(self, direction: int) -> "SeriesLog":
        """The samples of one direction."""
        count = self.directions.count(direction)
        if count in (0, len(self)):
            return self if count else SeriesLog(*_columns([], 1))
        wanted = list(map(direction.__eq__, self.directions))
        return SeriesLog(
            array("q", compress(self.time_ms, wanted)),
            array("q", compress(self.values, wanted)),
            array("q", compress(self.directions, wanted)),
            array("q", compress(self.block_bytes, wanted)),
            has_priorities=self.has_priorities,
        )


@dataclass(frozen=True)
class HistogramLog:
    """Rows of (time in ms, direction, histogram in ns)."""

    rows: tuple[tuple[int, int, dict[int, int]], ...]
    bad_lines: int = 0

    def latency(self, direction: int) -> Latency:
        """All rows of a direction as one distribution."""
        bins = add_bins(row for _, which, row in self.rows if which == direction)
        return Latency(sum(bins.values()), percentiles_ns=percentiles_of(bins, DEFAULT_PERCENTILES), bins_ns=bins)


def kind_of(path: Path) -> str | None:
    """`bw`, `iops`, `lat`, `clat`, `slat` or `clat_hist`, from the name that fio gives its logs; None for others."""
    match = _NAME.search(path.name)
    return match[1] if match else None


def read_log(path: Path) -> SeriesLog:
    """A bandwidth, IOPS or latency log. A last line that was cut off is left out; other bad lines are counted.

    Raises:
        FioError: the file cannot be read, or holds no line of a log.
    """
    read = _columns([], 1)
    columns = bad = 0
    has_priorities = True
    for piece in _pieces(path):
        columns = columns or piece.split(b"\n", 1)[0].count(b",") + 1
        has_priorities = has_priorities and _ends_in_priorities(piece, columns)
        found = _flat(piece, columns)
        if found is None:
            found, skipped = _slowly(piece)
            bad += skipped
        for column, more in zip(read, found, strict=True):
            column.extend(more)
    if not read[0]:
        raise FioError(f"{path} is no log of fio", "write one with write_bw_log, write_iops_log or write_lat_log")
    return SeriesLog(*read, bad_lines=bad, has_priorities=has_priorities)


def read_histogram_log(path: Path) -> HistogramLog:
    """A completion latency histogram log (`write_hist_log`), of any coarseness.

    Raises:
        FioError: the file cannot be read, or holds no line of such a log.
    """
    rows: list[tuple[int, int, dict[int, int]]] = []
    bad = 0
    for piece in _pieces(path):
        for line in piece.splitlines():
            row = _histogram_row(line)
            bad += row is None
            rows += [row] if row is not None else []
    if not rows:
        raise FioError(f"{path} is no histogram log of fio", "write one with write_hist_log and log_hist_msec")
    return HistogramLog(tuple(rows), bad)


def latency_unit_ns(log: SeriesLog, requests_per_s: float | None = None) -> int | None:
    """Nanoseconds in one unit of a latency log: 1 since fio 3, 1000 before, None where neither log nor rate tells.

    A log names no version. Of one without priorities, how many requests were under way (latency times rate) tells:
    under one reading of the unit they are a thousand times as many as under the other.

    Args:
        requests_per_s: what the log of IOPS beside it says; without it this log's lines count, which may be fewer.
    """
    if log.has_priorities:
        return 1
    mean_s = sum(log.values) / len(log) / 1e9
    span_ms = max(log.time_ms) - min(log.time_ms)
    rate = requests_per_s or (len(log) - 1) * 1000 / max(span_ms, 1)
    if mean_s * rate >= _UNDER_WAY:
        return 1
    return 1000 if requests_per_s and 1000 * mean_s * rate <= _ONE_UNDER_WAY else None


def latency_of(log: SeriesLog, direction: int, unit_ns: int = 1) -> Latency:
    """A latency log as a distribution with its histogram, in nanoseconds; `unit_ns` is what the log counts in."""
    values = log.of(direction).values
    if not values:
        return Latency(samples=0)
    if unit_ns != 1:
        values = array("q", (min(value, _LONGEST_NS // unit_ns) * unit_ns for value in values))
    bins = count_bins(values)
    return Latency(
        samples=len(values),
        min_ns=float(min(values)),
        max_ns=float(max(values)),
        mean_ns=sum(values) / len(values),
        percentiles_ns=percentiles_of(bins, DEFAULT_PERCENTILES),
        bins_ns=dict(sorted(bins.items())),
    )


def _pieces(path: Path) -> Iterator[bytes]:
    """The file in pieces of whole lines; a last line without its end is dropped."""
    rest = b""
    try:
        with path.open("rb") as file:
            while block := file.read(_PIECE_BYTES):
                lines, newline, after = block.rpartition(b"\n")
                if newline:
                    yield rest + lines + newline
                    rest = after
                else:
                    rest += block
    except OSError as error:
        raise FioError(f"{path} cannot be read: {error.strerror}", f"ls -l {path}") from None


_Columns = tuple["array[int]", "array[int]", "array[int]", "array[int]"]


def _columns(numbers: Sequence[int], step: int) -> _Columns:
    """Time, value, direction and block size, out of rows of `step` numbers each."""
    time_ms, values, directions, block_bytes = (array("q", numbers[at::step]) for at in range(_FEWEST_COLUMNS))
    return time_ms, values, directions, block_bytes


def _flat(piece: bytes, columns: int) -> _Columns | None:
    """The rows of a piece; None where a line is not like the first, or holds a number beyond 64 bits."""
    if columns < _FEWEST_COLUMNS:
        return None
    if b"x" in piece:
        piece = _HEX.sub(lambda match: str(int(match[1], 16)).encode(), piece)
    rows = piece.count(b"\n")
    try:
        numbers = _DECODER.decode(b"[" + piece.rstrip(b"\n").replace(b"\n", b",") + b"]")
        return _columns(numbers, columns) if len(numbers) == rows * columns else None
    except (msgspec.DecodeError, OverflowError):
        return None


def _ends_in_priorities(piece: bytes, columns: int) -> bool:
    """Whether the last column is fio's priority: hexadecimal, or as fio 3.20 wrote it a bit; an offset is neither."""
    if columns <= _FEWEST_COLUMNS:
        return False
    return columns > _FEWEST_COLUMNS + 1 or all(
        line.rpartition(b",")[2].strip() in (b"0", b"1") or b"0x" in line
        for line in piece.split(b"\n", _LOOKED_AT)[:-1]
    )


def _slowly(piece: bytes) -> tuple[_Columns, int]:
    """The good lines of a piece, and the number of the bad ones."""
    rows = [row for row in _ROW.findall(piece) if all(len(part) <= _MOST_DIGITS for part in row)]
    numbers = [int(part) for row in rows for part in row]
    return _columns(numbers, _FEWEST_COLUMNS), piece.count(b"\n") - len(rows)


def _histogram_row(line: bytes) -> tuple[int, int, dict[int, int]] | None:
    """One line of a histogram log; the number of its bins tells the coarseness."""
    try:
        numbers = _DECODER.decode(b"[" + line + b"]")
    except msgspec.DecodeError:
        return None
    counts = numbers[_HISTOGRAM_COLUMNS:]
    shape = _shape(len(counts))
    if shape is None or min(counts) < 0 or max(counts) > _MOST_COUNT:
        return None
    coarseness, unit_ns = shape
    bins = {unit_ns * _coarse_value(index, coarseness): count for index, count in enumerate(counts) if count}
    return numbers[0], numbers[1], bins


def _shape(bins: int) -> tuple[int, int] | None:
    """(How often neighbouring bins were joined, ns in their unit); None for a number of bins that fio does not write.

    fio 2 had 19 groups of bins of microseconds, fio 3 has 29 of nanoseconds. Source: stat.h, FIO_IO_U_PLAT_GROUP_NR.
    """
    for coarseness in range(PLAT_BITS):
        for groups, unit_ns in ((29, 1), (19, 1000)):
            if bins == (groups << PLAT_BITS) >> coarseness:
                return coarseness, unit_ns
    return None


def _coarse_value(index: int, coarseness: int) -> int:
    """The middle of 2^coarseness neighbouring bins."""
    first = index << coarseness
    return (bin_value(first) + bin_value(first + (1 << coarseness) - 1)) // 2 if coarseness else bin_value(first)
