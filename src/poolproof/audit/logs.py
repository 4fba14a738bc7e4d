"""fio's own logs as a result: `X_bw.1.log`, `X_iops.1.log`, `X_clat.1.log` of one run belong together by their `X`."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from poolproof.errors import FioError
from poolproof.fio.figures import Direction, FioResult, JobResult
from poolproof.fio.logs import READ, WRITE, SeriesLog, kind_of, latency_of, per_second, read_histogram_log, read_log
from poolproof.fio.merge import merge_jobs

_KIB = 1024
_DIRECTIONS = {"read": READ, "write": WRITE}


def is_log(path: Path) -> bool:
    """Whether the name is one that fio gives its logs."""
    return kind_of(path) is not None


def prefix_of(path: Path) -> str:
    """What the logs of one run have in common: folder and name up to the kind."""
    return str(path.with_name(path.name.rpartition(f"_{kind_of(path)}.")[0]))


def grouped(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Logs by the run that they belong to."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(prefix_of(path), []).append(path)
    return groups


def result_of_logs(paths: Sequence[Path]) -> FioResult:
    """The logs of one run: each clone has one log of a kind; of several latencies clat tells of the disk.

    Raises:
        FioError: a log cannot be read, or holds no line of one.
    """
    clones: dict[str, dict[str, Path]] = {}
    for path in paths:
        kind = kind_of(path)
        if kind is not None:
            clones.setdefault(path.name.rpartition(f"_{kind}.")[2], {})[kind] = path
    name = Path(prefix_of(paths[0])).name
    return FioResult("", (merge_jobs([_clone(name, logs) for logs in clones.values()]),))


def _clone(name: str, logs: dict[str, Path]) -> JobResult:
    parts: dict[str, Direction] = {}
    for kind, path in sorted(logs.items()):
        for direction, figures in _figures(kind, path).items():
            parts[direction] = _joined(parts.get(direction), figures)
    if not parts:
        raise FioError(f"{next(iter(logs.values()))} holds neither reads nor writes")
    return JobResult(name, read=parts.get("read"), write=parts.get("write"))


def _joined(before: Direction | None, more: Direction) -> Direction:
    known = {key: value for key, value in vars(more).items() if value is not None}
    return Direction(**{**(vars(before) if before else {}), **known})


def _figures(kind: str, path: Path) -> dict[str, Direction]:
    if kind == "clat_hist":
        histogram = read_histogram_log(path)
        latencies = {name: histogram.latency(number) for name, number in _DIRECTIONS.items()}
        return {name: Direction(clat=latency) for name, latency in latencies.items() if latency.samples}
    log = read_log(path)
    parts = {name: log.of(number) for name, number in _DIRECTIONS.items()}
    return {name: _of_series(kind, part, _DIRECTIONS[name]) for name, part in parts.items() if len(part)}


def _of_series(kind: str, log: SeriesLog, direction: int) -> Direction:
    if kind in ("lat", "clat", "slat"):
        latency = latency_of(log, direction)
        return Direction(
            lat=latency if kind == "lat" else None,
            clat=latency if kind == "clat" else None,
            slat=latency if kind == "slat" else None,
        )
    seconds = per_second(log, direction)
    mean = sum(seconds) / len(seconds)
    spread = math.sqrt(sum((value - mean) ** 2 for value in seconds) / max(len(seconds) - 1, 1))
    if kind == "iops":
        return Direction(iops=mean, iops_min=min(seconds), iops_max=max(seconds), iops_mean=mean, iops_stddev=spread)
    return Direction(
        bandwidth_bytes=mean * _KIB,
        bandwidth_min_bytes=min(seconds) * _KIB,
        bandwidth_max_bytes=max(seconds) * _KIB,
        bandwidth_mean_bytes=mean * _KIB,
        bandwidth_stddev_bytes=spread * _KIB,
        samples=len(seconds),
    )
