"""fio's terse output, versions 2 to 5: one line of fields with `;` between them for each job or group.

Sizes and rates are KiB, latencies whole or fractional microseconds, `fio-3.33` or so stands second from version 3 on.
Versions 4 and 5 hold trims, version 5 the samples of bandwidth and IOPS; version 2 holds trims or not, as fio's age has
it, so directions are counted by their shape. `unified_rw_reporting=both` adds the sum of all after them. Sources: HOWTO
"Terse output"; `show_thread_status_terse_all` in fio's stat.c; captured output of fio 3.33.
"""

import re
from collections.abc import Sequence

from poolproof.load.outcome import Direction, DiskUse, Latency, Outcome, PartOutcome

_KIB = 1024
_LARGEST = 1e24
_TOO_LONG = re.compile(r"(?:[\d.]+%=)?-?\d{25}")
_US = 1000.0
_PERCENTILES = 20
_BEFORE_PERCENTILES = 12
_SHORT, _LONG = 41, 47
_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_LATENCY_FIELDS = 22
_MOST_DIRECTIONS = 4
_DISK_FIELDS = 9
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%=(\d+)$")
_START = re.compile(r"^[2-5];")


def read_terse_line(line: str) -> Outcome | None:
    """One terse line as a result with one job; None when it has not the shape of its version."""
    fields = line.strip().split(";")
    if any(map(_TOO_LONG.match, fields[4:])):
        return None
    if not _START.match(line.strip()) or len(fields) < _SHORT:
        return None
    try:
        return _result(fields)
    except (ValueError, IndexError, OverflowError):
        return None


def _result(fields: Sequence[str]) -> Outcome:
    version = fields[0]
    named = fields[1] if version != "2" else ""
    if named and not named.startswith("fio"):
        raise ValueError("the second field is no version of fio")
    place = 1 if version == "2" else 2
    name, group, error = fields[place], int(fields[place + 1]), int(fields[place + 2])
    width = _LONG if version == "5" else _SHORT
    directions, place = _directions(fields, place + 3, width)
    if version == "3" and len(directions) == _MOST_DIRECTIONS - 1:
        directions.insert(2, None)
    directions += [None] * (_MOST_DIRECTIONS - len(directions))
    disks = _disks(fields, place + 5 + len(_DEPTHS) + _LATENCY_FIELDS)
    job = PartOutcome(
        name=name,
        error=error,
        group=group,
        read=directions[0],
        write=directions[1],
        trim=directions[2],
        mixed=directions[3],
        user_cpu_percent=_percent(fields[place]),
        system_cpu_percent=_percent(fields[place + 1]),
        depth_levels={level: _percent(fields[place + 5 + index]) for index, level in enumerate(_DEPTHS)},
    )
    return Outcome(version=named or "", parts=(job,), disks=disks)


def _directions(fields: Sequence[str], place: int, width: int) -> tuple[list[Direction | None], int]:
    """The directions from `place` on, told by their percentiles, and where they end."""
    directions: list[Direction | None] = []
    while len(directions) < _MOST_DIRECTIONS and "%=" in fields[place + _BEFORE_PERCENTILES]:
        directions.append(_direction(fields[place : place + width], width))
        place += width
    if not directions:
        raise ValueError("no direction has percentiles where they should be")
    return directions, place


def _direction(fields: Sequence[str], width: int) -> Direction | None:
    io_kib, bandwidth_kib, iops, runtime_ms = (int(field) for field in fields[:4])
    if not io_kib and not iops:
        return None
    after = _BEFORE_PERCENTILES + _PERCENTILES
    bandwidth = fields[after + 4 :]
    is_long = width == _LONG
    return Direction(
        io_bytes=io_kib * _KIB,
        runtime_ms=runtime_ms,
        bandwidth_bytes=float(bandwidth_kib * _KIB),
        iops=float(iops),
        bandwidth_min_bytes=_real(bandwidth[0], _KIB),
        bandwidth_max_bytes=_real(bandwidth[1], _KIB),
        bandwidth_mean_bytes=_real(bandwidth[3], _KIB),
        bandwidth_stddev_bytes=_real(bandwidth[4], _KIB),
        samples=int(bandwidth[5]) if is_long else None,
        iops_min=_real(bandwidth[6]) if is_long else None,
        iops_max=_real(bandwidth[7]) if is_long else None,
        iops_mean=_real(bandwidth[8]) if is_long else None,
        iops_stddev=_real(bandwidth[9]) if is_long else None,
        slat=_latency(fields[4:8], ()),
        clat=_latency(fields[8:12], fields[_BEFORE_PERCENTILES:after]),
        lat=_latency(fields[after : after + 4], ()),
    )


def _latency(fields: Sequence[str], percentiles: Sequence[str]) -> Latency | None:
    """Minimum, maximum, mean and deviation; four zeros mean that it was not measured."""
    low, high, mean, deviation = (_real(field, _US) for field in fields)
    if not high and not mean:
        return None
    found = [_PERCENTILE.match(field) for field in percentiles]
    values = {float(match[1]): float(match[2]) * _US for match in found if match and 0 < float(match[1]) <= 100}
    return Latency(min_ns=low, max_ns=high, mean_ns=mean, stddev_ns=deviation, percentiles_ns=values)


def _disks(fields: Sequence[str], place: int) -> tuple[DiskUse, ...]:
    """Groups of nine that end in a percentage; what follows them is the error and the description."""
    disks = []
    while place + _DISK_FIELDS <= len(fields) and fields[place + _DISK_FIELDS - 1].endswith("%"):
        name, reads, writes = fields[place : place + 3]
        disks.append(DiskUse(name, int(reads), int(writes), _percent(fields[place + _DISK_FIELDS - 1])))
        place += _DISK_FIELDS
    return tuple(disks)


def _real(field: str, factor: float = 1.0) -> float | None:
    """A number; None for the `-nan` that fio prints of a deviation without samples."""
    value = float(field) * factor
    return value if abs(value) < _LARGEST else None


def _percent(field: str) -> float:
    if not field.endswith("%"):
        raise ValueError(f"{field!r} is no percentage")
    return _real(field[:-1]) or 0.0
