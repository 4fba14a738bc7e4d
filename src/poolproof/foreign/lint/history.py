"""What ran before a fio call in the same text: its loads, and whether the caches were dropped since."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from poolproof.foreign.lint.model import FioCall
from poolproof.foreign.lint.prepared_files import PreparedFile
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load

_DROPS = re.compile(r"drop_caches|\bumount\b|\bzpool\s+export\b|\bremount\b|\breboot\b")
_MOST_LOADS = 64


@dataclass(frozen=True)
class Before:
    """The loads that ran before a call, oldest first. `drops_caches`: the caches were dropped after the last write.

    `empty`, `zeros`: the files and devices without data, and those that contain only zeros, each with the program that
    prepared it.
    """

    loads: tuple[Load, ...] = ()
    drops_caches: bool = False
    empty: Mapping[str, str] = field(default_factory=dict)
    zeros: Mapping[str, str] = field(default_factory=dict)


class History:
    """Collects the loads of the fio calls of a text, in the order in which they run."""

    def __init__(self, text: str, prepared: tuple[PreparedFile, ...] = ()) -> None:
        self._prepared = prepared
        self._drops = [number for number, line in enumerate(text.splitlines(), 1) if _DROPS.search(line)]
        self._loads: list[Load] = []
        self._last_write = 0

    def before(self, unit: FioCall) -> Before:
        """Return what ran before this call."""
        dropped = any(self._last_write <= line <= unit.line for line in self._drops)
        last = {each.path: each for each in self._prepared if each.line <= unit.line}.values()
        empty, zeros = (
            {each.path: each.command for each in last if each.state == state} for state in ("empty", "zeros")
        )
        return Before(tuple(self._loads[-_MOST_LOADS:]), dropped, empty, zeros)

    def add(self, unit: FioCall) -> None:
        """Add a call that has run."""
        if unit.jobs:
            load = load_of(unit.jobs)
            self._loads.append(load)
            if load.writes:
                self._last_write = unit.line
