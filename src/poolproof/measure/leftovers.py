"""Keep track of parts of layouts that could not be removed from the host, such as a suspended pool.

The run continues without the devices that these parts may still use.
"""

import contextlib
from collections.abc import Mapping, Sequence

from poolproof.errors import BuildError, as_word
from poolproof.layers.base import Node
from poolproof.layers.tree import devices
from poolproof.provision.journal import Change, Journal
from poolproof.provision.undo import FailedUndo


class Leftovers:
    """The changes that could not be undone when their layout was removed. They are undone at the end of the run.

    `nodes`: the layouts, keyed by name.
    """

    def __init__(self, nodes: Mapping[str, Node], run: str) -> None:
        self._nodes, self._run = nodes, run
        self._changes: dict[int, Change] = {}
        self._users: dict[str, str] = {}

    def __contains__(self, change: Change) -> bool:
        return change.number in self._changes

    def add(self, layouts: Sequence[str], failed: Sequence[FailedUndo], journal: Journal) -> tuple[FailedUndo, ...]:
        """Record the changes of these layouts that could not be undone, and return the new ones.

        If the load generator hangs, the attempt to stop it fails again after each later layout. Such a repeated failure
        is not recorded. Its change is marked as undone, because the journal already contains the same undo for the
        layout on which the load generator hung.
        """
        known = [change.undo for change in self._changes.values()]
        new = tuple(each for each in failed if each.change.undo not in known)
        for each in failed:
            if each not in new:
                with contextlib.suppress(OSError):  # if the disk is full, the change is just undone once more
                    journal.mark_undone(each.change)
        self._changes |= {each.change.number: each.change for each in new}
        if new:
            used = {device: layout for layout in layouts for device in devices(self._nodes[layout])}
            self._users = used | self._users
        return new

    def check(self, layout: str) -> None:
        """Raise a BuildError if the layout needs a device that a part of another layout may still use."""
        for device in devices(self._nodes[layout]):
            if device in self._users:
                raise BuildError(
                    f"the device {device} may still be in use by {self._users[device]}, which could not be removed",
                    f"when nothing uses it anymore, run: poolproof clean {as_word(self._run)}; then run the campaign "
                    "again",
                )
