"""The status of a watched run for the browser: progress, verdicts, rates, and the current report."""

import threading
import time
from collections.abc import Callable
from typing import Any

from poolproof.presentation.html_report.page import page
from poolproof.presentation.live.follow import Follower
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import TrialKey
from poolproof.units import format_rate
from poolproof.verdicts import WORST_FIRST

_SHORTEST_S = 2.0
_RATES = 60
_PAUSE_FACTOR = 20
"""The minimum pause between two builds of the report, as a multiple of the CPU time that one build takes.

The pause leaves CPU time to a measurement that may be running on this machine.
"""


class WatchedRun:
    """A run that browsers are watching.

    Calls to `update` must not overlap, but `html` can be called from any thread.
    """

    def __init__(self, follower: Follower, clock: Callable[[], float] = time.monotonic) -> None:
        self._follower, self._clock = follower, clock
        self._progress = RunProgress(follower.campaign, follower.before, begun_s=follower.record.begun_s or None)
        follower.last_rates(self._progress)
        self._running = follower.run.is_going()
        self._lock = threading.Lock()
        self._version = 1
        self._shown = (self._progress.done, self._running)
        self._next_at = 0.0
        self._built: tuple[int, str] | None = None

    def update(self) -> dict[str, Any]:
        """Read new events and return the status. When its `page` increases, the browser reloads the report."""
        update = self._follower.update(self._progress)
        if update.since_s is not None:
            self._progress.set_start(update.since_s)
        self._running = update.running
        now = (self._progress.done, self._running)
        if now != self._shown and (self._clock() >= self._next_at or not self._running):
            self._shown, self._version = now, self._version + 1
        return self._status()

    def why_idle(self) -> str:
        """Return a message that explains why the run is not in progress."""
        return self._follower.why_idle(self._progress.done, self._progress.total)

    def html(self) -> str:
        """Return the same report as `poolproof report`. It is rebuilt if the run has changed.

        Raises a RunError if the run cannot be read any more.
        """
        with self._lock:
            version = self._version
            if self._built is None or self._built[0] != version:
                begun = time.thread_time()
                self._built = (version, page(load_run(self._follower.run.path, lenient=True)))
                took_s = time.thread_time() - begun
                self._next_at = self._clock() + max(_SHORTEST_S, _PAUSE_FACTOR * took_s)
            return self._built[1]

    def _status(self) -> dict[str, Any]:
        progress = self._progress
        worst = [progress.worst(cell) for row in progress.rows.values() for cell in row]
        counts = [f"{MARKS[each]} {worst.count(each)} {each}" for each in reversed(WORST_FIRST) if each in worst]
        text = f"{progress.done} of {progress.total} trials"
        if self._running:
            place = f"{_name(progress.running)}: " if progress.running else ""
            text += f"{progress.left_text()}. {place}{progress.activity}"
        else:
            text += f". {self.why_idle()}"
        return {
            "page": self._version,
            "running": self._running,
            "done": progress.done,
            "total": progress.total,
            "text": text,
            "cells": "  ".join(counts),
            "rates": self._rates(),
        }

    def _rates(self) -> dict[str, Any] | None:
        """Return the latest rates of the load and of the disks in bytes per second, or None if no rates are known."""
        progress = self._progress
        if progress.rates_of is None or not progress.rates:
            return None
        last = list(progress.rates)[-_RATES:]
        fio = [None if each.fio_bytes_per_s is None else round(each.fio_bytes_per_s) for each in last]
        disks = [round(each.leaf_bytes_per_s) for each in last]
        return {
            "of": _name(progress.rates_of),
            "now": progress.rates_of == progress.running,
            "fio": fio,
            "disks": disks,
            "text": ["…" if fio[-1] is None else format_rate(fio[-1]), format_rate(disks[-1])],
        }


def _name(trial: TrialKey) -> str:
    return f"{trial.layout_in_state} · {trial.workload} #{trial.number}"
