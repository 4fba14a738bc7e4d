"""Progress as plain lines, for a pipe or a log file."""

import contextlib
import time
from typing import TextIO

from poolproof.measure.events import Listener
from poolproof.report.words import trial_text
from poolproof.runs.model import Trial
from poolproof.units import format_duration


class PlainLines(Listener):
    """One line for each layout and each trial, on the given stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = 0
        self._done = 0
        self._done_here = 0
        self._begun = time.monotonic()

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        self._total, self._done = trials_to_do + trials_done, trials_done
        self._begun = time.monotonic()

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        self._say(f"building {layout} ({trials_to_do} trials)")

    def trial_added(self, layout: str, workload: str) -> None:
        del layout, workload  # the count is all that a line shows
        self._total += 1

    def trial_ends(self, trial: Trial) -> None:
        self._done += 1
        self._done_here += 1
        figure = trial_text(trial)
        count = f"[{self._done}/{self._total}]"
        self._say(f"{count} {trial.layout} · {trial.workload} #{trial.number}: {figure}, {trial.verdict}{self._left()}")

    def warning(self, message: str) -> None:
        self._say(f"warning: {message}")

    def _left(self) -> str:
        """The time left, from the mean of the trials done so far."""
        if self._done == self._total:
            return ""
        left_s = (time.monotonic() - self._begun) / self._done_here * (self._total - self._done)
        return f", about {format_duration(left_s)} left"

    def _say(self, line: str) -> None:
        """A reader that is gone does not end a run."""
        with contextlib.suppress(OSError, ValueError):
            print(line, file=self._stream, flush=True)
