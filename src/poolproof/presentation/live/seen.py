"""What the browser is told while a run goes on: how far it is, in words, and when its page has changed."""

import threading
import time
from collections.abc import Callable
from typing import Any

from poolproof.presentation.html_report.build import page
from poolproof.presentation.html_report.reading import read
from poolproof.presentation.live.follow import Follower
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.time_left import whole_seconds
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.summary import WORST_FIRST
from poolproof.units import format_rate

_SHORTEST_S = 2.0
_RATES = 60
_SHARE = 20
"""The page rests this many times as long as building it keeps a processor: this machine may be the measured one."""


def _rate_text(bytes_per_s: int | None) -> str:
    return "…" if bytes_per_s is None else format_rate(bytes_per_s)


class Watched:
    """A run as the server shows it. `look` is called again and again from one thread, `html` from any."""

    def __init__(self, follower: Follower, clock: Callable[[], float] = time.monotonic) -> None:
        self.state = LiveState(follower.campaign, follower.before, begun_s=follower.begun_s or None)
        follower.last_rates(self.state)
        self.going = follower.run.is_going()
        self._follower = follower
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 1
        self._shown = (self.state.done, self.going)
        self._next_at = 0.0
        self._built: tuple[int, str] | None = None

    def look(self) -> dict[str, Any]:
        """Read what is new; what the browser is told now. `page` grows when the page is worth to be loaded again."""
        glance = self._follower.look(self.state)
        if glance.since_s is not None:
            self.state.began(glance.since_s)
        self.going = glance.going
        now = (self.state.done, self.going)
        if now != self._shown and (self._clock() >= self._next_at or not self.going):
            self._shown, self._number = now, self._number + 1
        return self._told()

    def _told(self) -> dict[str, Any]:
        state = self.state
        worst = [state.worst(layout, workload) for layout in state.layouts for workload in state.workloads]
        counts = [f"{MARKS[each]} {worst.count(each)} {each}" for each in reversed(WORST_FIRST) if each in worst]
        return {
            "page": self._number,
            "going": self.going,
            "done": state.done,
            "total": state.total,
            "text": self._text(),
            "cells": "  ".join(counts),
            "rates": self._rates(),
        }

    def _rates(self) -> dict[str, Any] | None:
        """The last rates of a trial in bytes per second, fio's beside the disks'; None without any."""
        state = self.state
        if state.rates_of is None or not state.rates:
            return None
        layout, workload, number = state.rates_of
        last = list(state.rates)[-_RATES:]
        fio = [None if each.fio_bytes_per_s is None else round(each.fio_bytes_per_s) for each in last]
        disks = [round(each.leaf_bytes_per_s) for each in last]
        return {
            "of": f"{layout} · {workload} #{number}",
            "now": state.rates_of == state.at,
            "fio": fio,
            "disks": disks,
            "words": [_rate_text(fio[-1]), _rate_text(disks[-1])],
        }

    def _text(self) -> str:
        state = self.state
        far = f"{state.done} of {state.total} trials"
        if not self.going:
            return f"{far}. {self._follower.why_still(state.done, state.total)}"
        left_s = state.left_s()
        left = f", about {whole_seconds(left_s)} left" if left_s else ""
        where = f"{state.at[0]} · {state.at[1]} #{state.at[2]}: " if state.at else ""
        return f"{far}{left}. {where}{state.words}"

    def html(self) -> str:
        """The page as `poolproof report` writes it, built when it has changed.

        Raises:
            RunError: the run cannot be read any more.
        """
        with self._lock:
            number = self._number
            if self._built is None or self._built[0] != number:
                begun = time.thread_time()
                self._built = (number, page(read(self._follower.run.path)))
                took_s = time.thread_time() - begun
                self._next_at = self._clock() + max(_SHORTEST_S, _SHARE * took_s)
            return self._built[1]
