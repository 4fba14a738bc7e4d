"""Monitor the free space and the free inodes of the host's own file systems, and stop a load before they run out."""

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from poolproof.errors import BuildError, CommandError, PoolproofError
from poolproof.facts.machine import IN_RAM, within_ram
from poolproof.hosts.base import Host, Hosts, text_of
from poolproof.hosts.local import LocalHost
from poolproof.measure.health_check import checked_every
from poolproof.units import format_rate, format_size

FREE = 'stat --file-system --format="%a %S %t %c %d" -- "$1"'
"""A shell script that prints facts about a directory's file system.

These are the number of free blocks, the size of a block, the type, the maximum number of files, and the number of files
that can still be created. The type is the magic number in hexadecimal digits. Without a limit for files, as on btrfs,
the last two numbers are 0.
"""

EVERY_S = 2.0
LEAST_BYTES = 64 * 1024**2
"""A load is stopped if less space than this is left (see `floor_bytes` for file systems that are nearly full)."""

_LEAST_FILES = 2_500
_LIMIT_S = 20.0
_SOONEST_S = 0.1
_SOONEST_COMMAND_S = 0.5
_FASTEST_BYTES_PER_S = 16 * 1024**3  # about what the page cache takes
_FASTEST_FILES_PER_S = 100_000.0
_SHORTEST_WINDOW_S = 0.3
_LONGEST_WINDOW_S = 3.0
_REACTION_S = 0.5  # until the load generator has been killed
_UNCOUNTED_SHARE = 0.02
_CAN_HANG = frozenset(
    {"65735546", "6969", "ff534d42", "517b", "c36400", "1021997", "5346414f", "bd00bd0", "47504653", "1161970"}
)
"""The magic numbers of network and user-space file systems: a process that asks one of them may have to wait forever.

FUSE, NFS, SMB 2 and 1, Ceph, 9P, AFS, Lustre, GPFS and GFS2.
"""


@dataclass(frozen=True)
class FreeSpace:
    """The free bytes and the free inodes of a file system.

    `can_hang`: True if the file system may not respond, or if its type is unknown.
    `free_files`: the number of files that can still be created, or None if it is unlimited or unknown.
    `is_in_ram`: True if its files are in RAM. `free_bytes` is then at most the RAM that files may use.
    """

    free_bytes: int
    can_hang: bool
    free_files: int | None = None
    is_in_ram: bool = False


@dataclass(frozen=True)
class MonitoredDirectory:
    """A directory whose file system is monitored.

    `counted_bytes`, `counted_files`: how much the layout may write there, and how many files it may create, as planned.
    """

    directory: str
    counted_bytes: int = 0
    counted_files: int = 0


def free_space(host: Host, directory: str) -> FreeSpace | None:
    """Return the free space and free inodes of the directory's file system, or None if they are unknown."""
    try:
        printed = host.run(["sh", "-c", FREE, "sh", directory], timeout_s=_LIMIT_S, check=False).stdout.split()
    except CommandError:
        return None
    if len(printed) < 2 or not all(map(str.isdecimal, printed[:2])):
        return None
    can_hang = len(printed) < 3 or printed[2] in _CAN_HANG
    total, files = printed[3:5] if len(printed) == 5 else ("0", "0")
    is_limited = total.isdecimal() and files.isdecimal() and int(total) > 0
    free_bytes, is_in_ram = int(printed[0]) * int(printed[1]), len(printed) > 2 and printed[2] in IN_RAM
    if is_in_ram:
        free_bytes = within_ram(free_bytes, text_of(host, "/proc/meminfo"))
    return FreeSpace(free_bytes, can_hang, int(files) if is_limited else None, is_in_ram)


def floor_bytes(free_bytes: int) -> int:
    """Return how much space must stay free on a file system that had `free_bytes` at the start."""
    return min(LEAST_BYTES, free_bytes // 8)


def enough_space(
    host: Host, places: Sequence[MonitoredDirectory], stop: Callable[[], None]
) -> AbstractContextManager[Callable[[], None]]:
    """Monitor the free space and inodes of these places in the background, and call `stop` before one of them is full.

    `stop` is called again at each check that finds too little space or too few inodes. Yields a function that raises a
    BuildError if `stop` was called. Places whose free space is unknown are not monitored.
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


class _Supply:
    """The free bytes or inodes of a file system, and how fast they are used up.

    `counted`: how many the layout may use, as planned.
    `least`: the number that must stay free.
    `uncounted`: how many more the layout may use before it counts as using more than was planned.
    `fastest`: how many the fastest load uses per second.
    """

    def __init__(self, first: int, *, counted: int, least: int, uncounted: int, fastest: float) -> None:
        self._first = self.free = first
        self._counted = counted * (1 + _UNCOUNTED_SHARE) + uncounted
        self._least, self._fastest = least, fastest
        self._readings = deque([(time.monotonic(), first)])
        self.rate = 0.0

    def pause_s(self, *, is_quick: bool) -> float:
        """Return the time, in seconds, until the next check."""
        left = max(0, self.free - self._least)
        if is_quick:
            return min(EVERY_S, max(_SOONEST_S, left / self._fastest))
        return min(EVERY_S, max(_SOONEST_COMMAND_S, left / (4 * self.rate))) if self.rate else EVERY_S

    def shortage(self, pause_s: float) -> float | None:
        """Return None if enough is free until the next check, which follows after `pause_s`.

        Otherwise, return the rate at which the supply is used up, or 0 if less is left than must stay free.
        """
        if self.free < self._least:
            return 0.0
        is_counted = self._first - self.free <= self._counted
        ahead = 0.0 if is_counted else self.rate * (pause_s + _REACTION_S)
        return self.rate if self.free < self._least + ahead else None

    def note(self, free: int) -> None:
        """Add a reading, and compute the fastest rate at which the supply shrank in the last 3 s."""
        now = time.monotonic()
        while len(self._readings) > 1 and now - self._readings[0][0] > _LONGEST_WINDOW_S:
            self._readings.popleft()
        drops = ((now - at, before - free) for at, before in self._readings)
        rates = [drop / took_s for took_s, drop in drops if took_s >= _SHORTEST_WINDOW_S]
        self.rate = max([0.0, *rates])
        self._readings.append((now, free))
        self.free = free


class _Watch:
    """Monitors the file system of one place.

    On this machine, a check is a statvfs system call, which takes some microseconds. It is repeated before writes at
    16 GiB/s or 100,000 new files per second could reach the limit, but at most ten times per second. On other hosts,
    and on file systems that can hang, a check is a command. It is repeated more often only if the free space or the
    number of free inodes shrinks.

    A load that has used more than planned is stopped earlier, because it goes on writing until it has been killed.
    """

    def __init__(self, host: Host, place: MonitoredDirectory, first: FreeSpace) -> None:
        self._host, self._place = host, place
        main = host.main if isinstance(host, Hosts) else host
        self._is_quick = isinstance(main, LocalHost) and not first.can_hang
        self._is_in_ram = first.is_in_ram
        self._space = _Supply(
            first.free_bytes,
            counted=place.counted_bytes,
            least=floor_bytes(first.free_bytes),
            uncounted=LEAST_BYTES,
            fastest=_FASTEST_BYTES_PER_S,
        )
        self._files = (
            None
            if first.free_files is None
            else _Supply(
                first.free_files,
                counted=place.counted_files,
                least=min(_LEAST_FILES, first.free_files // 8),
                uncounted=_LEAST_FILES,
                fastest=_FASTEST_FILES_PER_S,
            )
        )

    @property
    def pause_s(self) -> float:
        """The time, in seconds, until the next check."""
        return min(each.pause_s(is_quick=self._is_quick) for each in (self._space, self._files) if each is not None)

    def check(self) -> BuildError | None:
        """Return an error if too little space or too few inodes are left.

        Return None if enough are left, or if their number is unknown.
        """
        found = self._read()
        if found is None:
            return None
        pause_s = _SOONEST_S if self._is_quick else _SOONEST_COMMAND_S
        self._space.note(found.free_bytes)
        if (rate := self._space.shortage(pause_s)) is not None:
            filling = f" and is filling up at {format_rate(rate)}" if rate else ""
            return self._error(f"{format_size(found.free_bytes)} left{filling}", "free some space")
        if self._files is None or found.free_files is None:
            return None
        self._files.note(found.free_files)
        if (rate := self._files.shortage(pause_s)) is not None:
            using = f" and uses up {rate:.0f} per second" if rate else ""
            return self._error(f"{found.free_files} free inodes left{using}", "delete files that nobody needs")
        return None

    def _error(self, left: str, fix: str) -> BuildError:
        return BuildError(
            f"the file system of {self._place.directory} has only {left}, so work on the layout was stopped",
            f"{fix}, then run the campaign again",
        )

    def _read(self) -> FreeSpace | None:
        if not self._is_quick:
            return free_space(self._host, self._place.directory)
        try:
            answer = os.statvfs(self._place.directory)
            free_bytes = answer.f_bavail * answer.f_frsize
            if self._is_in_ram:
                free_bytes = within_ram(free_bytes, Path("/proc/meminfo").read_text())
        except OSError:
            return None
        return FreeSpace(free_bytes, False, answer.f_ffree if answer.f_files else None)
