"""Parse fio's terse output, versions 2 to 5: one line per job or group, with fields separated by `;`.

Sizes are in KiB, rates in KiB/s, and latencies in microseconds, some of them with decimals. Since version 3, the second
field is fio's version (`fio-3.33`). Versions 4 and 5 include trims, and version 5 includes the numbers of bandwidth and
IOPS samples. In version 2, only some fio releases print trims, so directions are recognized by the format of their
fields. `unified_rw_reporting=both` adds the combined total after the separate directions. Sources: HOWTO "Terse
output"; `show_thread_status_terse_all` in fio's stat.c; captured output of fio 3.33.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from poolproof.load.outcome import Direction, DiskUtilization, Latency, Outcome, PartOutcome

_KIB = 1024
_US = 1000
_LARGEST = 1e24
_TOO_LONG = re.compile(r"^(?:[\d.]++%=)?+-?\d{25}")
_RATES, _BEFORE_PERCENTILES = 4, 12
_AFTER_PERCENTILES = 32
_SHORT, _LONG = 41, 47
_FEWEST_FIELDS = 10  # a line that was cut off after its first rates
_CPU_FIELDS, _DEPTH_FIELDS, _LATENCY_FIELDS = 5, 7, 22
_MOST_DIRECTIONS = 4
_DISK_FIELDS = 9
_PERCENTILE = re.compile(r"^(\d++(?:\.\d++)?)%=(\d+)$")
_START = re.compile(r"^[2-5];")
_AROUND = " \t\r\n`'\""  # characters that mark code or quotations in a post
_INSIDE = re.compile(r"(?:^|[^\w;.-])(?P<line>[3-5];fio-\d[^\"'`\\|]*)")


def read_terse_line(line: str) -> Outcome | None:
    """Parse a terse line, or return None if its fields do not fit the version that it states.

    A line that was cut off before the CPU usage has the values before the cut, except the last one, which may have lost
    digits. A line of version 3 or later may have other text around it.
    """
    inside = _INSIDE.search(line)
    found = _read(inside["line"]) if inside else None
    return found or _read(line.strip(_AROUND))


def _read(bare: str) -> Outcome | None:
    fields = bare.split(";")
    fewest = _SHORT if bare.startswith("2") else _FEWEST_FIELDS
    if not _START.match(bare) or len(fields) < fewest or any(map(_TOO_LONG.match, fields[4:])):
        return None
    try:
        return _result(fields)
    except (ValueError, IndexError, OverflowError):
        return None


def _result(fields: Sequence[str]) -> Outcome:
    version, at = fields[0], 1
    release = ""
    if version != "2":
        release, at = fields[1], 2
        if not release.startswith("fio") and (release or len(fields) < _SHORT):
            raise ValueError("the second field is not a fio version")
    name, group, error = fields[at], int(fields[at + 1]), int(fields[at + 2])
    at += 3
    width = _LONG if version == "5" else _SHORT
    directions: list[Direction | None] = []
    while len(directions) < _MOST_DIRECTIONS and _begins_direction(fields[at:]):
        is_cut_off = len(fields) <= at + width
        directions.append(_rates(fields[at:-1]) if is_cut_off else _direction(fields[at : at + width]))
        at += width
    if not directions:
        raise ValueError("the fields for the latency percentiles do not contain percentiles")
    is_cut_off = at + _CPU_FIELDS + _DEPTH_FIELDS >= len(fields)
    if version == "3" and len(directions) == _MOST_DIRECTIONS - 1:
        directions.insert(2, None)
    read, write, trim, mixed = directions + [None] * (_MOST_DIRECTIONS - len(directions))
    part = PartOutcome(
        name=name,
        error=error,
        group=group,
        read=read,
        write=write,
        trim=trim,
        mixed=mixed,
        user_cpu_percent=None if is_cut_off else _percent(fields[at]),
        system_cpu_percent=None if is_cut_off else _percent(fields[at + 1]),
        context_switches=int(fields[at + 2]) if not is_cut_off and fields[at + 2].isdecimal() else None,
    )
    if is_cut_off:
        return Outcome(release, (part,))
    at += _CPU_FIELDS
    for depth in range(_DEPTH_FIELDS):
        _percent(fields[at + depth])
    return Outcome(release, (part,), _disks(fields, at + _DEPTH_FIELDS + _LATENCY_FIELDS))


def _begins_direction(fields: Sequence[str]) -> bool:
    """True if the fields begin with those of a direction, which may be cut off after its rates."""
    if len(fields) > _BEFORE_PERCENTILES:
        return "%=" in fields[_BEFORE_PERCENTILES]
    return len(fields) > _RATES and all(field.isdecimal() for field in fields[:_RATES])


def _rates(fields: Sequence[str]) -> Direction | None:
    """Parse the fields of a direction that was cut off, or return None if it did no I/O."""
    io_kib, bandwidth_kib, iops, runtime_ms = map(int, fields[:_RATES])
    if not io_kib and not iops:
        return None
    return Direction(
        io_bytes=io_kib * _KIB,
        runtime_ms=runtime_ms,
        bandwidth_bytes=float(bandwidth_kib * _KIB),
        iops=float(iops),
        slat=_latency(fields[4:8]) if len(fields) >= 8 else None,
        clat=_latency(fields[8:12], fields[12:_AFTER_PERCENTILES]) if len(fields) >= 12 else None,
    )


def _direction(fields: Sequence[str]) -> Direction | None:
    rates = _rates(fields)
    if rates is None:
        return None
    low, high, _, mean, deviation, *sampled = fields[_AFTER_PERCENTILES + 4 :]
    _, _, iops_mean, _ = map(_real, sampled[1:5]) if sampled else [None] * 4
    return replace(
        rates,
        bandwidth_min_bytes=_real(low, _KIB),
        bandwidth_max_bytes=_real(high, _KIB),
        bandwidth_mean_bytes=_real(mean, _KIB),
        bandwidth_stddev_bytes=_real(deviation, _KIB),
        samples=int(sampled[0]) if sampled else None,
        iops_mean=iops_mean,
        lat=_latency(fields[_AFTER_PERCENTILES : _AFTER_PERCENTILES + 4]),
    )


def _latency(fields: Sequence[str], percentiles: Sequence[str] = ()) -> Latency | None:
    """Parse minimum, maximum, mean and standard deviation, or return None if nothing was measured (all are 0)."""
    _, high, mean, _ = (_real(field, _US) for field in fields)
    if not high and not mean:
        return None
    found = filter(None, map(_PERCENTILE.match, percentiles))
    values = {float(match[1]): float(match[2]) * _US for match in found if 0 < float(match[1]) <= 100}
    return Latency(mean_ns=mean, percentiles_ns=values)


def _disks(fields: Sequence[str], at: int) -> tuple[DiskUtilization, ...]:
    """Parse the disks, each of which has nine fields and ends with a percentage. Other fields may follow them."""
    disks = []
    while at + _DISK_FIELDS <= len(fields) and fields[at + _DISK_FIELDS - 1].endswith("%"):
        name, *counts = fields[at : at + 5]
        reads, writes, read_merges, write_merges = map(int, counts)
        busy = _percent(fields[at + _DISK_FIELDS - 1])
        disks.append(DiskUtilization(name, reads, writes, busy, read_merges=read_merges, write_merges=write_merges))
        at += _DISK_FIELDS
    return tuple(disks)


def _real(field: str, factor: float = 1.0) -> float | None:
    """Parse a number, or return None for `-nan`, which fio prints as the standard deviation of zero samples."""
    value = float(field) * factor
    return value if abs(value) < _LARGEST else None


def _percent(field: str) -> float:
    if not field.endswith("%"):
        raise ValueError(f"{field!r} is not a percentage")
    return _real(field[:-1]) or 0.0
