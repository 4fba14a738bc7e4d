"""fio's logs: bandwidth, IOPS and latency over time, and histograms of completion latency.

A line is `ms, value, direction, block size[, offset][, priority]`; bandwidth is KiB/s, latency ns (µs before fio 3);
direction 0 reads, 1 writes, 2 trims. A histogram line is `ms, direction, block size, count, count, …`. Source: HOWTO
"Log file formats". A log of 100 MB is read in pieces into flat arrays: no object for each line.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Literal

import msgspec

from poolproof.errors import FioError
from poolproof.fio.figures import Latency
from poolproof.fio.histogram import DEFAULT_PERCENTILES, PLAT_BITS, add_bins, bin_value, count_bins, percentiles_of

Kind = Literal["bw", "iops", "lat", "clat", "slat"]

READ, WRITE, TRIM = 0, 1, 2
_PIECE_BYTES = 256 << 10  # larger pieces leave the processor's cache
_FEWEST_COLUMNS = 4
_HISTOGRAM_COLUMNS = 3
_NAME = re.compile(r"_(bw|iops|lat|clat|slat|clat_hist)(?:\.\d+)?\.log")
_DECODER = msgspec.json.Decoder(list[int])
_HEX = re.compile(rb"0x([0-9a-fA-F]+)")
_ROW = re.compile(rb"\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,[^\n]*\n")


@dataclass(frozen=True)
class SeriesLog:
    """Samples in the order of the file; three columns of equal length. `values` are in the log's own unit."""

    time_ms: "array[int]"
    values: "array[int]"
    directions: "array[int]"
    bad_lines: int = 0

    def __len__(self) -> int:
        return len(self.time_ms)

    def of(self, direction: int) -> "SeriesLog":
        """The samples of one direction."""
        count = self.directions.count(direction)
        if count in (0, len(self)):
            return self if count else SeriesLog(array("q"), array("q"), array("q"))
        wanted = list(map(direction.__eq__, self.directions))
        return SeriesLog(
            array("q", compress(self.time_ms, wanted)),
            array("q", compress(self.values, wanted)),
            array("q", compress(self.directions, wanted)),
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
    times, values, directions = array("q"), array("q"), array("q")
    columns = bad = 0
    for piece in _pieces(path):
        columns = columns or piece.split(b"\n", 1)[0].count(b",") + 1
        numbers = _flat(piece, columns)
        if numbers is None:
            numbers, skipped = _slowly(piece)
            bad += skipped
            step = _HISTOGRAM_COLUMNS
        else:
            step = columns
        times.extend(array("q", numbers[0::step]))
        values.extend(array("q", numbers[1::step]))
        directions.extend(array("q", numbers[2::step]))
    if not times:
        raise FioError(f"{path} is no log of fio", "write one with write_bw_log, write_iops_log or write_lat_log")
    return SeriesLog(times, values, directions, bad)


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


def latency_of(log: SeriesLog, direction: int, *, nanoseconds: bool = True) -> Latency:
    """A latency log as a distribution with its histogram. `nanoseconds` False for logs of fio before 3, in µs."""
    values = log.of(direction).values
    factor = 1 if nanoseconds else 1000
    if not values:
        return Latency(samples=0)
    bins = count_bins(values if nanoseconds else [value * factor for value in values])
    return Latency(
        samples=len(values),
        min_ns=float(min(values) * factor),
        max_ns=float(max(values) * factor),
        mean_ns=sum(values) * factor / len(values),
        percentiles_ns=percentiles_of(bins, DEFAULT_PERCENTILES),
        bins_ns=dict(sorted(bins.items())),
    )


def per_second(log: SeriesLog, direction: int) -> list[float]:
    """The mean value of each second from the first sample on, in the log's unit; a second without samples is 0."""
    chosen = log.of(direction)
    if not len(chosen):
        return []
    first = min(chosen.time_ms) // 1000
    sums = [0.0] * (max(chosen.time_ms) // 1000 - first + 1)
    counts = [0] * len(sums)
    for at, value in zip(chosen.time_ms, chosen.values, strict=True):
        sums[at // 1000 - first] += value
        counts[at // 1000 - first] += 1
    return [total / count if count else 0.0 for total, count in zip(sums, counts, strict=True)]


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
        raise FioError(f"{path} cannot be read: {error.strerror}") from None


def _flat(piece: bytes, columns: int) -> list[int] | None:
    """All numbers of a piece, row after row; None where a line is not like the first."""
    if columns < _FEWEST_COLUMNS:
        return None
    if b"x" in piece:
        piece = _HEX.sub(lambda match: str(int(match[1], 16)).encode(), piece)
    rows = piece.count(b"\n")
    try:
        numbers = _DECODER.decode(b"[" + piece.rstrip(b"\n").replace(b"\n", b",") + b"]")
    except msgspec.DecodeError:
        return None
    return numbers if len(numbers) == rows * columns else None


def _slowly(piece: bytes) -> tuple[list[int], int]:
    """(time, value, direction of every good line in one list, number of bad lines)."""
    good = _ROW.findall(piece)
    kept = [int(field) for row in good for field in row if all(len(part) < 19 for part in row)]
    return kept, piece.count(b"\n") - len(good)


def _histogram_row(line: bytes) -> tuple[int, int, dict[int, int]] | None:
    """One line of a histogram log; the number of its bins tells the coarseness."""
    try:
        numbers = _DECODER.decode(b"[" + line + b"]")
    except msgspec.DecodeError:
        return None
    counts = numbers[_HISTOGRAM_COLUMNS:]
    coarseness = _coarseness(len(counts))
    if coarseness is None:
        return None
    bins = {_coarse_value(index, coarseness): count for index, count in enumerate(counts) if count}
    return numbers[0], numbers[1], bins


def _coarseness(bins: int) -> int | None:
    """How often neighbouring bins were joined; None for a number of bins that fio does not write."""
    for coarseness in range(PLAT_BITS):
        for groups in (29, 19):
            if bins == (groups << PLAT_BITS) >> coarseness:
                return coarseness
    return None


def _coarse_value(index: int, coarseness: int) -> int:
    """The middle of 2^coarseness neighbouring bins."""
    first = index << coarseness
    return (bin_value(first) + bin_value(first + (1 << coarseness) - 1)) // 2 if coarseness else bin_value(first)
