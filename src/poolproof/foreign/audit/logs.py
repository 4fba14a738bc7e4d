"""Parse the logs of a fio run as one result.

The logs of a run share a prefix, such as X in `X_bw.1.log`, `X_iops.1.log` and `X_clat.1.log`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from poolproof.errors import FioError
from poolproof.load.fio.logs import (
    READ,
    WRITE,
    RateKind,
    kind_of,
    latency_of,
    latency_unit_ns,
    rates_of,
    read_histogram_log,
    read_log,
)
from poolproof.load.merge import merge_jobs
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_ORDER = ("bw", "iops", "lat", "clat", "clat_hist", "slat")
"""The order in which the kinds of logs are parsed.

Rates come first, because they help to determine the unit of the latencies. Submission latencies (slat) come last,
because the other latencies show which unit they use.
"""
_NO_UNIT = "the unit of the latencies in the logs, ns (fio 3) or µs (fio 2), so the latencies are ignored"
_RATES: Mapping[str, RateKind] = {"bw": "bw", "iops": "iops"}
_DIRECTIONS = {"read": READ, "write": WRITE}


def is_log(path: Path) -> bool:
    return kind_of(path) is not None


def grouped(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Group logs by run, keyed by their common prefix: the folder, plus the file name up to the kind of log."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(_prefix_of(path), []).append(path)
    return groups


def _prefix_of(path: Path) -> str:
    return str(path.with_name(path.name.rpartition(f"_{kind_of(path)}.")[0]))


def result_of_logs(paths: Sequence[Path]) -> Outcome:
    """Parse the logs of one run as one result. Each numjobs clone has its own logs, one of each kind.

    Empty logs are left out if there are others: with a synchronous engine, fio writes no submission latencies. Raises a
    FioError if a log cannot be read or has no valid line, or a clone's logs contain neither reads nor writes.
    """
    clones: dict[str, dict[str, Path]] = {}
    for path in [path for path in paths if not path.is_file() or path.stat().st_size] or paths:
        kind = kind_of(path)
        if kind is not None:
            clones.setdefault(path.name.rpartition(f"_{kind}.")[2], {})[kind] = path
    name = Path(_prefix_of(paths[0])).name
    clones_read = [_clone(name, logs) for logs in clones.values()]
    notes = () if all(has_units for _, has_units in clones_read) else (_NO_UNIT,)
    return Outcome("", (merge_jobs([job for job, _ in clones_read]),), notes=notes)


def _clone(name: str, logs: Mapping[str, Path]) -> tuple[PartOutcome, bool]:
    """Parse one clone's logs. Return the result, and True if the units of all latencies are known.

    Raises a FioError if a log cannot be read, or if the logs contain neither reads nor writes.
    """
    parts: dict[str, Direction] = {}
    units: dict[str, int | None] = {}
    for kind in sorted(logs, key=_ORDER.index):
        values = _histograms(logs[kind]) if kind == "clat_hist" else _series(kind, logs[kind], parts, units)
        for direction, more in values.items():
            known = {key: value for key, value in vars(more).items() if value is not None}
            parts[direction] = Direction(**{**vars(parts.get(direction, Direction())), **known})
    if not parts:
        raise FioError(f"{next(iter(logs.values()))} contains neither reads nor writes")
    return PartOutcome(name, read=parts.get("read"), write=parts.get("write")), None not in units.values()


def _histograms(path: Path) -> dict[str, Direction]:
    latencies = read_histogram_log(path)
    known = {name: latencies[number] for name, number in _DIRECTIONS.items() if number in latencies}
    return {name: Direction(clat=latency) for name, latency in known.items() if latency.samples}


def _series(
    kind: str, path: Path, so_far: Mapping[str, Direction], units: dict[str, int | None]
) -> dict[str, Direction]:
    """Parse one log of rates or latencies. Return its values, keyed by direction (read or write).

    The latency unit of each direction is stored in `units`. The unit of submission latencies (slat) can be determined
    only if the log contains priorities.
    """
    log = read_log(path)
    values = {}
    for name, number in _DIRECTIONS.items():
        part = log.of(number)
        if not len(part):
            continue
        if kind in _RATES:
            values[name] = rates_of(part, _RATES[kind])
            continue
        if units.get(name) is None and (kind != "slat" or part.has_priorities):
            units[name] = latency_unit_ns(part, so_far[name].iops if name in so_far else None)
        unit_ns = units.setdefault(name, None)
        latency: dict[str, Any] = {kind: latency_of(part, number, unit_ns)} if unit_ns else {}
        values[name] = Direction(**latency)
    return values
