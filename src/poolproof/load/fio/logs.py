"""Parse fio's logs: bandwidth, IOPS and latency over time, and histograms of completion latency.

Format: a line is `ms, value, direction, block size[, offset][, priority]`, where the direction is 0 (read), 1 (write)
or 2 (trim). Bandwidth is in KiB/s, latency in ns (µs before fio 3, see `latency_unit_ns`). In a histogram log, a line
is `ms, direction, block size, count, count, …`. Source: HOWTO "Log file formats".

With `log_avg_msec`, each line covers a time window: its value is the mean over the window, and its block size is 0.
Without it, each line covers one I/O and contains that I/O's block size. In this case, the value is not the job's rate:
it is always 1 in an IOPS log, and bytes divided by latency in a bandwidth log (`add_iops_sample` and `add_bw_sample` in
stat.c). Early fio 2 wrote at most one line per half second, with the rate since the previous line and the block size of
one I/O.

Logs can be larger than 100 MB. They are therefore read in pieces and stored in flat arrays, without an object per line.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from pathlib import Path
from statistics import median
from typing import Literal

import msgspec

from poolproof.errors import FioError, as_word
from poolproof.files.reading import open_named
from poolproof.load.fio.histogram import PLAT_BITS, bin_value, count_bins
from poolproof.load.merge import DEFAULT_PERCENTILES, percentiles_of
from poolproof.load.outcome import Direction, Latency

RateKind = Literal["bw", "iops"]

READ, WRITE, _TRIM = 0, 1, 2
_KIB = 1024
_PIECE_BYTES = 256 << 10  # larger pieces would not fit into the CPU's cache
_LONGEST_LINE_BYTES = 1 << 20  # a line of a histogram log has at most 1856 numbers
_LARGEST_BYTES = 512 << 20  # the columns of such a log take 1 to 2 GB
_FEWEST_COLUMNS = 4
_HISTOGRAM_COLUMNS = 3
_LONGEST_NS = 10**18  # 31 years; a longer latency means that the log is damaged
_MOST_COUNT = 10**15  # I/Os; a larger count is damage
_CHECKED_LINES = 20  # the number of lines that are checked in each piece
_LEAST_QUEUE = 0.5  # I/Os in flight; if the unit were µs, there would be 500
_QUEUE_OF_ONE = 2.0  # I/Os in flight; if the unit were ns, the disk would be idle 99.8% of the time
_NAME = re.compile(r"_(bw|iops|lat|clat|slat|clat_hist)(?:\.\d+)?\.log")
_DECODER = msgspec.json.Decoder(list[int])
_HEX = re.compile(rb"0x([0-9a-fA-F]{1,16})")
_ROW = re.compile(rb"\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)[^\n]*\n")
_MOST_DIGITS = 18  # always fits in 64 bits
_SHORTEST_MS = 1000
_OLD_WINDOW_MS = 450  # bwavgtime is 500 ms by default, and fio 2 wakes up slightly early
_LONGEST_MS = 366 * 86_400_000  # a longer run means that a time is damaged

_Columns = tuple["array[int]", "array[int]", "array[int]", "array[int]"]


@dataclass(frozen=True)
class SeriesLog:
    """The samples of a log in file order, stored as columns of equal length.

    `values`: the measured values, in the log's unit.
    `block_bytes`: the block size of an I/O, or 0 for a sample that covers a time window.
    `has_priorities`: True if the last column is the I/O's priority, as in logs since fio 3.20.
    """

    time_ms: "array[int]"
    values: "array[int]"
    directions: "array[int]"
    block_bytes: "array[int]"
    has_priorities: bool = False

    def __len__(self) -> int:
        return len(self.time_ms)

    def of(self, direction: int) -> "SeriesLog":
        """Return the samples for this I/O direction."""
        chosen = list(map(direction.__eq__, self.directions))
        if all(chosen):
            return self
        return SeriesLog(
            array("q", compress(self.time_ms, chosen)),
            array("q", compress(self.values, chosen)),
            array("q", compress(self.directions, chosen)),
            array("q", compress(self.block_bytes, chosen)),
            has_priorities=self.has_priorities,
        )


def kind_of(path: Path) -> str | None:
    """Return the kind of log (`bw`, `iops`, `clat_hist` …) that the file name indicates, or None if it is not a log."""
    match = _NAME.search(path.name)
    return match[1] if match else None


def read_log(path: Path) -> SeriesLog:
    """Parse a bandwidth, IOPS or latency log. Damaged lines are ignored.

    Raises FioError if the file cannot be read or has no valid line.
    """
    read = _columns([], 1)
    columns = 0
    has_priorities = True
    for piece in _pieces(path):
        columns = columns or piece.split(b"\n", 1)[0].count(b",") + 1
        has_priorities = has_priorities and _ends_in_priorities(piece, columns)
        found = _uniform_rows(piece, columns)
        if found is None:
            rows = [row for row in _ROW.findall(piece) if all(len(part) <= _MOST_DIGITS for part in row)]
            found = _columns([int(part) for row in rows for part in row], _FEWEST_COLUMNS)
        for column, more in zip(read, found, strict=True):
            column.extend(more)
    if not read[0]:
        raise FioError(f"{path} is not a fio log", "to create one, set write_bw_log, write_iops_log or write_lat_log")
    return SeriesLog(*read, has_priorities)


def read_histogram_log(path: Path) -> Mapping[int, Latency]:
    """Parse a completion latency histogram log (`write_hist_log`). Return the distributions, keyed by direction.

    Logs of any coarseness from 0 to 5 are supported. Raises FioError if the file cannot be read or has no valid line.
    """
    totals: dict[int, Counter[int]] = {}
    for piece in _pieces(path):
        for row in map(_histogram_row, piece.splitlines()):
            if row is not None:
                totals.setdefault(row[0], Counter()).update(row[1])
    if not totals:
        raise FioError(f"{path} is not a fio histogram log", "to create one, set write_hist_log and log_hist_msec")
    found = {}
    for direction, counts in sorted(totals.items()):
        bins = dict(sorted(counts.items()))
        percentiles = percentiles_of(bins, DEFAULT_PERCENTILES)
        found[direction] = Latency(sum(bins.values()), percentiles_ns=percentiles, bins_ns=bins)
    return found


def latency_unit_ns(log: SeriesLog, requests_per_s: float | None = None) -> int | None:
    """Return a latency log's unit in nanoseconds: 1 since fio 3, 1000 before. None if it cannot be determined.

    `requests_per_s`: the rate according to the IOPS log of the same run. By default, the rate is estimated from the
    number of lines. This estimate may be too low, because fio need not log every I/O.

    A log does not contain fio's version. If it has priorities, it is from fio 3. Otherwise, the unit is inferred from
    the number of I/Os in flight (latency times rate), which would be off by a factor of 1000 with the wrong unit.
    """
    if log.has_priorities:
        return 1
    mean_s = sum(log.values) / len(log) / 1e9
    span_ms = max(log.time_ms) - min(log.time_ms)
    rate = requests_per_s or (len(log) - 1) * 1000 / max(span_ms, 1)
    if mean_s * rate >= _LEAST_QUEUE:
        return 1
    return 1000 if requests_per_s and 1000 * mean_s * rate <= _QUEUE_OF_ONE else None


def latency_of(log: SeriesLog, direction: int, unit_ns: int = 1) -> Latency:
    """Return the latency distribution for one direction. `unit_ns`: the log's unit in nanoseconds."""
    values = log.of(direction).values
    if not values:
        return Latency(samples=0)
    if unit_ns != 1:
        values = array("q", (min(value, _LONGEST_NS // unit_ns) * unit_ns for value in values))
    bins = count_bins(values)
    return Latency(
        samples=len(values),
        mean_ns=sum(values) / len(values),
        percentiles_ns=percentiles_of(bins, DEFAULT_PERCENTILES),
        bins_ns=dict(sorted(bins.items())),
    )


def rates_of(log: SeriesLog, kind: RateKind) -> Direction:
    """Return the rates in a log with a single direction. If the log is too short, all values are None.

    Seconds or time windows without a line count as 0. Raises FioError if the log spans more than a year.
    """
    if not len(log):
        return Direction()
    first, last = min(log.time_ms), max(log.time_ms)
    if last - first > _LONGEST_MS:
        raise FioError(f"the {kind} log has times from {first} to {last} ms, more than a year apart: it is damaged")
    if _has_each_io(log, kind):
        return _rates_of_ios(log, kind, first, last) if last > first else Direction()
    return _rates_of_windows(log, kind, first, last)


def _has_each_io(log: SeriesLog, kind: RateKind) -> bool:
    """True if each line covers one I/O.

    Lines that cover a time window have no block size, except those of early fio 2.
    """
    if not any(log.block_bytes):
        return False
    if kind == "iops":
        return all(value == 1 for value in log.values)
    return log.has_priorities or min(_gaps_ms(log), default=0) < _OLD_WINDOW_MS


def _gaps_ms(log: SeriesLog) -> list[int]:
    return [later - before for before, later in pairwise(sorted(set(log.time_ms)))]


def _rates_of_ios(log: SeriesLog, kind: RateKind, first: int, last: int) -> Direction:
    """Return rates from a log with one line per I/O. The mean excludes the first, which began earlier."""
    amounts = log.block_bytes if kind == "bw" else log.values
    totals: Counter[int] = Counter()
    for at, amount in zip(log.time_ms, amounts, strict=True):
        totals[(at - first) // _SHORTEST_MS] += amount
    mean = (totals.total() - amounts[log.time_ms.index(first)]) * 1000 / (last - first)
    seconds = (last - first) // _SHORTEST_MS
    complete = [float(total) for at, total in totals.items() if at < seconds]
    return _rates(kind, mean, complete, seconds) if seconds else _rates(kind, mean, [mean], 1)


def _rates_of_windows(log: SeriesLog, kind: RateKind, first: int, last: int) -> Direction:
    """Return rates from a log with one line per time window. Windows shorter than one second are combined."""
    factor = _KIB if kind == "bw" else 1
    window = max(_SHORTEST_MS, median(_gaps_ms(log) or [0]))
    sums: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    for at, value in zip(log.time_ms, log.values, strict=True):
        index = math.floor((at - first) / window + 0.5)
        sums[index] += value
        counts[index] += 1
    means = [factor * total / counts[index] for index, total in sums.items()]
    windows = math.floor((last - first) / window + 0.5) + 1
    return _rates(kind, math.fsum(means) / windows, means, windows)


def _rates(kind: RateKind, mean: float, known: Sequence[float], samples: int) -> Direction:
    """Return the mean and spread of rates.

    `known`: the rates in the time spans that have lines.
    `samples`: the total number of time spans. Those without a line had no I/O.
    """
    if kind == "iops":
        return Direction(iops=mean, iops_mean=mean)
    idle = samples - len(known)
    squares = math.fsum((value - mean) ** 2 for value in known) + idle * mean**2
    return Direction(
        bandwidth_bytes=mean,
        bandwidth_min_bytes=0.0 if idle else min(known),
        bandwidth_max_bytes=max(known, default=0.0),
        bandwidth_mean_bytes=mean,
        bandwidth_stddev_bytes=math.sqrt(squares / max(samples - 1, 1)),
        samples=samples,
    )


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the file in pieces of complete lines, without an incomplete last line.

    Raises FioError if the file cannot be read, is larger than 512 MiB, or has a line longer than 1 MiB.
    """
    rest = b""
    left_bytes = _LARGEST_BYTES
    try:
        with open_named(path) as file:
            while block := file.read(_PIECE_BYTES):
                left_bytes -= len(block)
                if left_bytes < 0:
                    raise FioError(f"{path} is larger than 512 MiB", "set log_avg_msec, so that fio writes fewer lines")
                lines, newline, after = block.rpartition(b"\n")
                if newline:
                    yield rest + lines + newline
                    rest = after
                else:
                    rest += block
                if len(rest) > _LONGEST_LINE_BYTES:
                    raise FioError(
                        f"{path} is not a fio log: one of its lines is longer than 1 MiB",
                        f"head -c 200 {as_word(path)}",
                    )
    except OSError as error:
        raise FioError(f"{path} cannot be read: {error.strerror}", f"ls -l {as_word(path)}") from None


def _columns(numbers: Sequence[int], step: int) -> _Columns:
    time_ms, values, directions, block_bytes = (array("q", numbers[at::step]) for at in range(_FEWEST_COLUMNS))
    return time_ms, values, directions, block_bytes


def _uniform_rows(piece: bytes, columns: int) -> _Columns | None:
    """Return the columns of a piece of the log, or None if its lines are not uniform or a number is 2^63 or more."""
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
    """True if the last column is a priority: a hexadecimal number or, in fio 3.20, 0 or 1."""
    if columns != _FEWEST_COLUMNS + 1:
        return columns > _FEWEST_COLUMNS
    lines = piece.split(b"\n", _CHECKED_LINES)[:-1]
    return all(line.rpartition(b",")[2].strip() in (b"0", b"1") or b"0x" in line for line in lines)


def _histogram_row(line: bytes) -> tuple[int, dict[int, int]] | None:
    """Parse a line into its direction and bins, or return None if it is invalid."""
    try:
        numbers = _DECODER.decode(b"[" + line + b"]")
    except msgspec.DecodeError:
        return None
    counts = numbers[_HISTOGRAM_COLUMNS:]
    if len(counts) not in _SHAPES or not READ <= numbers[1] <= _TRIM or min(counts) < 0 or max(counts) > _MOST_COUNT:
        return None
    coarseness, unit_ns = _SHAPES[len(counts)]
    width = 1 << coarseness
    middles = ((bin_value(index * width) + bin_value((index + 1) * width - 1)) // 2 for index in range(len(counts)))
    return numbers[1], {unit_ns * middle: count for middle, count in zip(middles, counts, strict=True) if count}


_SHAPES: Mapping[int, tuple[int, int]] = {
    (groups << PLAT_BITS) >> coarseness: (coarseness, unit_ns)
    for coarseness in range(PLAT_BITS)
    for groups, unit_ns in ((19, 1000), (29, 1))
}
"""The coarseness of a histogram log and its unit in nanoseconds, keyed by the number of bins in a line.

A log of coarseness n merges 2^n adjacent bins into one. fio 2 had 19 groups of bins, in microseconds, and fio 3 has 29
groups, in nanoseconds. Source: FIO_IO_U_PLAT_GROUP_NR in stat.h.
"""
