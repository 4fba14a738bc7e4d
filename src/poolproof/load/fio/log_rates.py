"""Rates out of fio's bandwidth and IOPS logs: of windows (`log_avg_msec`), or of each I/O, as fio logs by default.

A row of a window has the mean rate of the window, and 0 for a block size (HOWTO, "Log file formats"). A row of one I/O
has its block size, and a value that is no rate of the job: 1 in the log of IOPS, this I/O's bytes over its own latency
in that of bandwidth (`add_iops_sample` and `add_bw_sample` in stat.c). In early fio 2 a row was the rate since the last
one, half a second before or more, and had the block size of an I/O as well.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from poolproof.errors import FioError
from poolproof.load.fio.logs import SeriesLog

Kind = Literal["bw", "iops"]

_KIB = 1024
_SHORTEST_MS = 1000
_OLD_WINDOW_MS = 450  # bwavgtime is 500 ms unless told otherwise, and fio 2 wakes a little early
_LONGEST_MS = 366 * 86_400_000  # a longer run is a damaged time, and would be millions of seconds at rest


@dataclass(frozen=True)
class LogRates:
    """I/Os or bytes per second: over the whole log, and of its single seconds (of its windows where those are longer).

    `samples` counts the seconds or windows; a span without a row counts as 0.
    """

    mean: float
    least: float
    most: float
    spread: float
    samples: int


def rates_of(log: SeriesLog, kind: Kind) -> LogRates | None:
    """The rates that a log of one direction tells; None where it holds too little to tell one.

    Raises:
        FioError: its times are more than a year apart.
    """
    if not len(log):
        return None
    first, last = min(log.time_ms), max(log.time_ms)
    if last - first > _LONGEST_MS:
        raise FioError(f"a log of {kind} has times from {first} to {last} ms: more than a year, so one is damaged")
    if _has_each_io(log, kind):
        return _counted(log, kind, first, last)
    factor = _KIB if kind == "bw" else 1
    return _averaged(log, factor, first, last)


def _has_each_io(log: SeriesLog, kind: Kind) -> bool:
    """Whether a row is one I/O: it has a block size, and is no rate of a window that fio 2 gave one to."""
    if not any(log.block_bytes):
        return False
    if kind == "iops":
        return all(value == 1 for value in log.values)
    return log.has_priorities or min(_gaps_ms(log), default=0) < _OLD_WINDOW_MS


def _gaps_ms(log: SeriesLog) -> list[int]:
    """From each time that the log names to the next one."""
    times = sorted(set(log.time_ms))
    return [later - before for before, later in pairwise(times)]


def _counted(log: SeriesLog, kind: Kind, first: int, last: int) -> LogRates | None:
    """I/Os or bytes, second by second. The first row ends what lies before the log, and so adds nothing to its span."""
    if last == first:
        return None
    amounts = log.block_bytes if kind == "bw" else log.values
    totals: Counter[int] = Counter()
    for at, amount in zip(log.time_ms, amounts, strict=True):
        totals[(at - first) // _SHORTEST_MS] += amount
    mean = (totals.total() - amounts[log.time_ms.index(first)]) * 1000 / (last - first)
    whole = (last - first) // _SHORTEST_MS
    seconds = [float(total) for at, total in totals.items() if at < whole]
    return _rates(mean, seconds, whole) if whole else LogRates(mean, mean, mean, 0.0, 1)


def _averaged(log: SeriesLog, factor: int, first: int, last: int) -> LogRates:
    """The mean of the windows; those shorter than a second are put together."""
    window = max(_SHORTEST_MS, median(_gaps_ms(log) or [0]))
    sums: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    for at, value in zip(log.time_ms, log.values, strict=True):
        place = math.floor((at - first) / window + 0.5)
        sums[place] += value
        counts[place] += 1
    means = [factor * total / counts[place] for place, total in sums.items()]
    windows = math.floor((last - first) / window + 0.5) + 1
    return _rates(math.fsum(means) / windows, means, windows)


def _rates(mean: float, known: Sequence[float], samples: int) -> LogRates:
    """`known` are the spans that have rows, of all `samples`; the others were at rest."""
    idle = samples - len(known)
    squares = math.fsum((value - mean) ** 2 for value in known) + idle * mean**2
    return LogRates(
        mean=mean,
        least=0.0 if idle else min(known),
        most=max(known, default=0.0),
        spread=math.sqrt(squares / max(samples - 1, 1)),
        samples=samples,
    )
