"""Monitor the free space on the host's own file systems, and stop a load before it fills one of them."""

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from poolproof.errors import BuildError, CommandError, PoolproofError
from poolproof.hosts.base import Host, Hosts
from poolproof.hosts.local import LocalHost
from poolproof.measure.health_check import checked_every
from poolproof.units import format_rate, format_size

FREE = 'stat --file-system --format="%a %S %t" -- "$1"'
"""A shell script that prints the number of free blocks on a directory's file system, the size of a block, and the type.

The type is the file system's magic number in hexadecimal digits.
"""

EVERY_S = 2.0
LEAST_BYTES = 64 * 1024**2
"""A load is stopped if less space than this is left (see `floor_bytes` for file systems that are nearly full)."""

_LIMIT_S = 20.0
_SOONEST_S = 0.1
_SOONEST_COMMAND_S = 0.5
_FASTEST_BYTES_PER_S = 16 * 1024**3  # about what the page cache takes
_SHORTEST_WINDOW_S = 0.3
_LONGEST_WINDOW_S = 3.0
_REACTION_S = 0.5  # until fio has been killed
_UNCOUNTED_SHARE = 0.02
_CAN_HANG = frozenset(
    {"65735546", "6969", "ff534d42", "517b", "c36400", "1021997", "5346414f", "bd00bd0", "47504653", "1161970"}
)
"""The magic numbers of network and user-space file systems: a process that asks one of them may have to wait forever.

FUSE, NFS, SMB 2 and 1, Ceph, 9P, AFS, Lustre, GPFS and GFS2.
"""


@dataclass(frozen=True)
class FreeSpace:
    """The free bytes on a file system. `can_hang`: True if it may not respond, or if its type is unknown."""

    free_bytes: int
    can_hang: bool


@dataclass(frozen=True)
class Place:
    """A directory whose file system is monitored. `counted_bytes`: how much the layout may write there, as planned."""

    directory: str
    counted_bytes: int = 0


def free_space(host: Host, directory: str) -> FreeSpace | None:
    """Return the free space on the directory's file system, or None if it is unknown."""
    try:
        printed = host.run(["sh", "-c", FREE, "sh", directory], timeout_s=_LIMIT_S, check=False).stdout.split()
    except CommandError:
        return None
    if len(printed) < 2 or not all(map(str.isdecimal, printed[:2])):
        return None
    return FreeSpace(int(printed[0]) * int(printed[1]), len(printed) < 3 or printed[2] in _CAN_HANG)


def floor_bytes(free_bytes: int) -> int:
    """Return how much space must stay free on a file system that had `free_bytes` at the start."""
    return min(LEAST_BYTES, free_bytes // 8)


def enough_space(
    host: Host, places: Sequence[Place], stop: Callable[[], None]
) -> AbstractContextManager[Callable[[], None]]:
    """Monitor the free space of these places in the background, and call `stop` before one of them is full.

    `stop` is called again and again as long as the space does not suffice. Yields a function that raises an error if
    it was called.
    """
    found = ((place, free_space(host, place.directory)) for place in places)
    watches = [_Watch(host, place, first) for place, first in found if first is not None]

    def full() -> Iterator[BuildError]:
        for watch in watches:
            if (error := watch.check()) is not None:
                yield error
                with contextlib.suppress(PoolproofError):
                    stop()

    def pause_s() -> float:
        return min(watch.pause_s for watch in watches)

    if not watches:
        return contextlib.nullcontext(lambda: None)
    return checked_every(EVERY_S, full, limit_s=_LIMIT_S, pause_s=pause_s, goes_on=True)


class _Watch:
    """Monitors the file system of one place.

    On this machine, a check is a system call, statvfs, which takes some microseconds. It is repeated before writes at
    16 GiB/s could fill the free space, but at most ten times per second. On other hosts, and on file systems that can
    hang, a check is a command. It is repeated more often only if the free space shrinks.

    A load that has written more than planned is stopped earlier, because it goes on writing until it has stopped.
    """

    def __init__(self, host: Host, place: Place, first: FreeSpace) -> None:
        self._host, self._place = host, place
        main = host.main if isinstance(host, Hosts) else host
        self._is_quick = isinstance(main, LocalHost) and not first.can_hang
        self._first_bytes = self._free_bytes = first.free_bytes
        self._least_bytes = floor_bytes(first.free_bytes)
        self._readings = deque([(time.monotonic(), first.free_bytes)])
        self._rate = 0.0

    @property
    def pause_s(self) -> float:
        """The time, in seconds, until the next check."""
        left = max(0, self._free_bytes - self._least_bytes)
        if self._is_quick:
            return min(EVERY_S, max(_SOONEST_S, left / _FASTEST_BYTES_PER_S))
        return min(EVERY_S, max(_SOONEST_COMMAND_S, left / (4 * self._rate))) if self._rate else EVERY_S

    def check(self) -> BuildError | None:
        """Return an error if too little space is left, otherwise None. None also if the free space is unknown."""
        free = self._read()
        if free is None:
            return None
        self._note(free)
        is_counted = self._first_bytes - free <= self._place.counted_bytes * (1 + _UNCOUNTED_SHARE) + LEAST_BYTES
        pause_s = _SOONEST_S if self._is_quick else _SOONEST_COMMAND_S
        ahead = 0.0 if is_counted else self._rate * (pause_s + _REACTION_S)
        if free >= self._least_bytes + ahead:
            return None
        filling = f" and is filling up at {format_rate(self._rate)}" if ahead else ""
        return BuildError(
            f"the file system of {self._place.directory} has only {format_size(free)} left{filling}, so work on the "
            "layout was stopped",
            "free some space, then run the campaign again",
        )

    def _read(self) -> int | None:
        if not self._is_quick:
            found = free_space(self._host, self._place.directory)
            return None if found is None else found.free_bytes
        try:
            answer = os.statvfs(self._place.directory)
        except OSError:
            return None
        return answer.f_bavail * answer.f_frsize

    def _note(self, free_bytes: int) -> None:
        """Add a reading, and compute the fastest rate at which the space has shrunk until now."""
        now = time.monotonic()
        while len(self._readings) > 1 and now - self._readings[0][0] > _LONGEST_WINDOW_S:
            self._readings.popleft()
        drops = ((now - at, before - free_bytes) for at, before in self._readings)
        rates = [drop / took_s for took_s, drop in drops if took_s >= _SHORTEST_WINDOW_S]
        self._rate = max([0.0, *rates])
        self._readings.append((now, free_bytes))
        self._free_bytes = free_bytes
