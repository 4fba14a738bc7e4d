"""Detects disks that have stalled because the program that serves them hangs, and ends that program.

Every command that uses such a disk hangs as well. A thread therefore monitors the loop and nbd devices in the journal.
If one of them has requests in flight but completes none for a minute, the thread ends the programs that serve its file
(nbdkit or qemu-nbd, and nbdfuse). The pending requests then fail with an I/O error, and the commands that wait for them
can finish.
"""

import contextlib
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.devices.loop import UndoLoop
from poolproof.errors import BuildError, PoolproofError
from poolproof.hosts.base import Host, host_named, text_of
from poolproof.provision.journal import Change, Journal
from poolproof.provision.owned import refusal
from poolproof.provision.undo import processes_of, undo_one
from poolproof.undos import Owned, UndoDaemon, UndoPrograms
from poolproof.units import format_duration

EVERY_S = 5.0
LIMIT_S = 60.0
"""The time limit in seconds. A disk that is merely busy completes at least one request in this time."""

_JOIN_S = 30.0
_IN_FLIGHT = 8
_COMPLETED = (0, 4, 11, 15)  # reads, writes, discards and flushes in Documentation/block/stat.rst
_HANGING = ("nbdfuse",)
_CONNECT = re.compile(r"--connect=/dev/(nbd\d+)", re.ASCII)
_STAT = re.compile(r"\d+ \((.*)\) (\w) ", re.DOTALL)
_STOPPED = frozenset({"T", "t"})  # by SIGSTOP, and by a debugger


class DiskStalled(BuildError):
    """A program that serves a disk has stopped responding. `device`: the kernel name of the disk, such as `loop3`."""

    def __init__(self, message: str, device: str) -> None:
        super().__init__(
            message,
            "make sure that nothing stops or slows down these programs, and run the campaign again; later errors of "
            "this disk in dmesg follow from this; the run continues without this layout",
        )
        self.device = device


class StalledDisks:
    """A context manager that monitors the disks of a run in a background thread.

    `owned`: what the run may remove. Only programs that belong to it are ended.
    `found`: one message for each disk that has stalled.
    """

    def __init__(self, journal: Journal, run_host: Host, owned: Owned) -> None:
        self.found: list[str] = []
        self._devices: list[str] = []
        self._journal, self._host, self._owned = journal, run_host, owned
        self._since: dict[int, tuple[tuple[str, ...], float]] = {}
        self._known = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stalled", daemon=True)

    def __enter__(self) -> "StalledDisks":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        self._thread.join(_JOIN_S)

    def forget(self) -> None:
        """Make `check` ignore all disks that have stalled so far. Called when the next layout starts."""
        self._known = len(self.found)

    def check(self) -> None:
        """Raise a DiskStalled if one of the current layout's disks has stalled, so that its programs were ended."""
        if len(self.found) > self._known:
            raise DiskStalled(self.found[-1], self._devices[-1])

    def _watch(self) -> None:
        while not self._end.wait(EVERY_S):
            changes = self._journal.outstanding()
            # If no program serves a disk, none can be ended, and only the kernel's own time limits apply.
            if any(isinstance(change.undo, UndoDaemon) for change in changes):
                for disk in _served_disks(changes):
                    with contextlib.suppress(PoolproofError):  # an unreachable host is reported by other threads
                        self._look_at(disk, changes)

    def _look_at(self, disk: "_ServedDisk", changes: Sequence[Change]) -> None:
        change, host = disk.change, host_named(self._host, disk.change.host)
        fields = text_of(host, f"/sys/class/block/{disk.device}/stat").split()
        if len(fields) <= _IN_FLIGHT or fields[_IN_FLIGHT] == "0":
            self._since.pop(change.number, None)
            return
        completed, now = tuple(fields[index] for index in _COMPLETED if index < len(fields)), time.monotonic()
        before, since = self._since.setdefault(change.number, (completed, now))
        if before != completed:
            self._since[change.number] = (completed, now)
        elif now - since >= LIMIT_S and (servers := self._servers(disk, changes)):
            del self._since[change.number]
            self._end_servers(disk, servers, host)

    def _servers(self, disk: "_ServedDisk", changes: Sequence[Change]) -> list[UndoDaemon | UndoPrograms]:
        """Return undos that end the programs that serve the disk. Empty if there are none."""
        pidfile, host = f"{disk.base}.nbd.pid", disk.change.host
        daemons = [
            each.undo
            for each in changes
            if isinstance(each.undo, UndoDaemon) and each.host == host and each.undo.pidfile == pidfile
        ]
        fuse = [UndoPrograms(_HANGING, disk.change.undo.file)] if isinstance(disk.change.undo, UndoLoop) else []
        servers: list[UndoDaemon | UndoPrograms] = [*fuse, *daemons] if daemons else []
        return [undo for undo in servers if refusal(undo, self._owned) is None]

    def _end_servers(self, disk: "_ServedDisk", servers: Sequence[UndoDaemon | UndoPrograms], host: Host) -> None:
        name, device = disk.base.rpartition("/")[2], disk.device
        self._devices.append(device)  # first, because `check` reads it as soon as `found` is longer
        who, why = _programs(servers, host)
        self.found.append(
            f"{who}, which serve{'s' if ' and ' not in who else ''} the disk {name} (/dev/{device}), stopped responding"
            f"{why}: the disk did not complete any request for {format_duration(LIMIT_S)}, so its programs were "
            "terminated"
        )
        for undo in servers:
            undo_one(undo, host)


@dataclass(frozen=True)
class _ServedDisk:
    """A disk that may be served by a program.

    `device`: its kernel name, such as `loop3` or `nbd0`.
    `base`: the path that the files of its programs begin with.
    """

    change: Change
    device: str
    base: str


def _served_disks(changes: Sequence[Change]) -> Iterator[_ServedDisk]:
    for change in changes:
        undo = change.undo
        if isinstance(undo, UndoLoop):
            yield _ServedDisk(change, f"loop{undo.number}", undo.file.removesuffix(".disk"))
        elif isinstance(undo, UndoDaemon):  # the kernel's nbd driver has no time limit of its own
            for word in change.argv:
                if match := _CONNECT.fullmatch(word):
                    yield _ServedDisk(change, match[1], undo.pidfile.removesuffix(".nbd.pid"))


def _programs(servers: Sequence[UndoDaemon | UndoPrograms], host: Host) -> tuple[str, str]:
    """Return the names of the programs that serve a disk, or only of those that a signal has stopped, and the reason.

    The reason is a phrase in parentheses, or empty if it is unknown.
    """
    found: list[tuple[str, str]] = []
    with contextlib.suppress(PoolproofError):
        found = [program for undo in servers for pid in processes_of(undo, host) for program in _named(pid, host)]
    stopped = [name for name, state in found if state in _STOPPED]
    names = dict.fromkeys(stopped or (name for name, _ in found))
    who = f"the program{'s' if len(names) > 1 else ''} {' and '.join(names)}" if names else "a program"
    return who, " (a signal or a debugger stopped it)" if stopped else ""


def _named(pid: str, host: Host) -> Iterator[tuple[str, str]]:
    """Yield the name and the state of a process, unless it has ended."""
    if match := _STAT.match(text_of(host, f"/proc/{pid}/stat")):
        yield match[1], match[2]
