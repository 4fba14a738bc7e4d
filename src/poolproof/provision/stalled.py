"""Detects disks that have stalled because the program that serves them hangs, and ends that program.

Every command that uses such a disk hangs as well. A thread therefore monitors the loop devices in the journal. If one
of them has requests in flight but completes none for a minute, the thread ends the programs that serve its file (nbdkit
or qemu-nbd, and nbdfuse). The pending requests then fail with an I/O error, and the commands that wait for them can
finish.
"""

import contextlib
import threading
import time
from collections.abc import Sequence

from poolproof.devices.loop import UndoLoop
from poolproof.errors import BuildError, PoolproofError
from poolproof.hosts.base import Host, host_named, text_of
from poolproof.provision.journal import Change, Journal
from poolproof.provision.owned import refusal
from poolproof.provision.undo import undo_one
from poolproof.undos import Owned, UndoDaemon, UndoPrograms
from poolproof.units import format_duration

EVERY_S = 5.0
LIMIT_S = 60.0
"""The time limit in seconds. A disk that is merely busy completes at least one request in this time."""

_JOIN_S = 30.0
_IN_FLIGHT = 8
_COMPLETED = (0, 4, 11, 15)  # reads, writes, discards and flushes in Documentation/block/stat.rst
_HANGING = ("nbdfuse",)


class StalledDisks:
    """A context manager that monitors the disks of a run in a background thread.

    `owned`: what the run may remove. Only programs that belong to it are ended.
    `found`: one message for each disk that has stalled.
    """

    def __init__(self, journal: Journal, run_host: Host, owned: Owned) -> None:
        self.found: list[str] = []
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
        """Raise a BuildError if one of the current layout's disks has stalled. Its programs have then been ended."""
        if len(self.found) > self._known:
            raise BuildError(self.found[-1], "look at dmesg; the run continues without this layout")

    def _watch(self) -> None:
        while not self._end.wait(EVERY_S):
            changes = self._journal.outstanding()
            # If no program serves a disk, none can be ended, and only the kernel's own time limits apply.
            if any(isinstance(change.undo, UndoDaemon) for change in changes):
                for change in changes:
                    if isinstance(change.undo, UndoLoop):
                        with contextlib.suppress(PoolproofError):  # an unreachable host is reported by other threads
                            self._look_at(change, change.undo, changes)

    def _look_at(self, change: Change, loop: UndoLoop, changes: Sequence[Change]) -> None:
        host = host_named(self._host, change.host)
        fields = text_of(host, f"/sys/class/block/loop{loop.number}/stat").split()
        if len(fields) <= _IN_FLIGHT or fields[_IN_FLIGHT] == "0":
            self._since.pop(change.number, None)
            return
        completed, now = tuple(fields[index] for index in _COMPLETED if index < len(fields)), time.monotonic()
        before, since = self._since.setdefault(change.number, (completed, now))
        if before != completed:
            self._since[change.number] = (completed, now)
        elif now - since >= LIMIT_S and (servers := self._servers(change, loop, changes)):
            del self._since[change.number]
            self._end_servers(loop, servers, host)

    def _servers(self, change: Change, loop: UndoLoop, changes: Sequence[Change]) -> list[UndoDaemon | UndoPrograms]:
        """Return undos that end the programs that serve the loop device's file. Empty if there are none."""
        base = loop.file.removesuffix(".disk")
        daemons = [
            each.undo
            for each in changes
            if isinstance(each.undo, UndoDaemon) and each.host == change.host and each.undo.pidfile == f"{base}.nbd.pid"
        ]
        servers: list[UndoDaemon | UndoPrograms] = [UndoPrograms(_HANGING, loop.file), *daemons] if daemons else []
        return [undo for undo in servers if refusal(undo, self._owned) is None]

    def _end_servers(self, loop: UndoLoop, servers: Sequence[UndoDaemon | UndoPrograms], host: Host) -> None:
        name = loop.file.rpartition("/")[2].removesuffix(".disk")
        self.found.append(
            f"the disk {name} (/dev/loop{loop.number}) did not complete any request for {format_duration(LIMIT_S)}, so "
            "the programs that serve it were terminated"
        )
        for undo in servers:
            undo_one(undo, host)
