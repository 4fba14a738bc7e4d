"""While fio runs: its own rate beside the disks' rate, once a second."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from poolproof.errors import PoolproofError
from poolproof.evidence.sampler import Sampler
from poolproof.fio.json_output import read_json_stream
from poolproof.hosts.base import Host
from poolproof.measure.events import LiveRates
from poolproof.measure.figures import moved_each_way

_EVERY_S = 1.0


@contextlib.contextmanager
def watching(host: Host, report: str, sampler: Sampler, tell: Callable[[LiveRates], None]) -> Iterator[None]:
    """Tell the rates each second until the context is left. `report` is the file into which fio writes its status."""
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(host, report, sampler, tell, stop), name="live", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)


def _watch(host: Host, report: str, sampler: Sampler, tell: Callable[[LiveRates], None], stop: threading.Event) -> None:
    begun = time.monotonic()
    fio_before: tuple[float, int] | None = None
    while not stop.wait(_EVERY_S):
        fio_now = _fio_bytes(host, report)
        tell(LiveRates(time.monotonic() - begun, _rate(fio_before, fio_now), _leaf_rate(sampler)))
        fio_before = fio_now or fio_before


def _fio_bytes(host: Host, report: str) -> tuple[float, int] | None:
    """fio's clock in seconds and the bytes it has moved, by the last status in its report."""
    try:
        results = read_json_stream(host.read(report))
    except PoolproofError:
        return None
    if not results or results[-1].timestamp_ms is None:
        return None
    return results[-1].timestamp_ms / 1000, sum(moved_each_way(results[-1]))


def _rate(before: tuple[float, int] | None, now: tuple[float, int] | None) -> float | None:
    if before is None or now is None or now[0] <= before[0] or now[1] < before[1]:
        return None
    return (now[1] - before[1]) / (now[0] - before[0])


def _leaf_rate(sampler: Sampler) -> float:
    """Bytes per second of all leaves over the last second of samples."""
    readings = list(sampler.readings)
    if len(readings) < 2:
        return 0.0
    last = readings[-1]
    first = next((reading for reading in reversed(readings) if last.at_s - reading.at_s >= _EVERY_S), readings[0])
    leaves = len(sampler.leaves)
    moved = sum(
        b.read_bytes + b.write_bytes - a.read_bytes - a.write_bytes
        for a, b in zip(first.counters[:leaves], last.counters[:leaves], strict=True)
    )
    return moved / (last.at_s - first.at_s) if last.at_s > first.at_s else 0.0
