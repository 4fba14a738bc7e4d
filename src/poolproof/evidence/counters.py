"""The kernel's counters of one block device, from its sysfs `stat` file.

The fields are those of the kernel's Documentation/block/stat.rst: reads, merged, sectors of 512 bytes, milliseconds;
the same for writes; requests in flight, busy milliseconds, queue milliseconds; the same four for discards; flushes and
their milliseconds. Older kernels print 11 or 15 of the 17.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Counters:
    """Totals since the device appeared; `*_ios` are requests. Most drivers count `flush_ios` among `write_ios` too."""

    read_ios: int = 0
    read_bytes: int = 0
    read_ms: int = 0
    write_ios: int = 0
    write_bytes: int = 0
    write_ms: int = 0
    in_flight: int = 0
    busy_ms: int = 0
    flush_ios: int = 0


def parse_counters(text: str) -> Counters | None:
    """Return the counters in a `stat` file's text; None if it has none because the device is gone."""
    fields = [int(field) for field in text.split()]
    if len(fields) < 11:
        return None
    return Counters(
        read_ios=fields[0],
        read_bytes=fields[2] * _SECTOR_BYTES,
        read_ms=fields[3],
        write_ios=fields[4],
        write_bytes=fields[6] * _SECTOR_BYTES,
        write_ms=fields[7],
        in_flight=fields[8],
        busy_ms=fields[9],
        flush_ios=fields[15] if len(fields) > 15 else 0,
    )


def difference(later: Counters, earlier: Counters) -> Counters:
    """Return what happened between two readings; `in_flight` is that of the later one."""
    return _of_both(earlier, later, lambda first, second: second - first)


def between(earlier: Counters, later: Counters, share: float) -> Counters:
    """Return the counters at a share (0 to 1) of the way between two readings, by linear interpolation."""
    return _of_both(earlier, later, lambda first, second: first + round((second - first) * share))


def _of_both(earlier: Counters, later: Counters, total: Callable[[int, int], int]) -> Counters:
    """Return counters with each total computed from both; `in_flight` is not a total and is that of the later one."""
    totals = vars(later).keys() - {"in_flight"}
    return replace(later, **{name: total(getattr(earlier, name), getattr(later, name)) for name in totals})
