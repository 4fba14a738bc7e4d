"""Progress as plain lines, for a pipe or a log file."""

import contextlib
from typing import TextIO

from poolproof.measure.events import Listener
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.time_left import whole_seconds
from poolproof.presentation.terminal.words import trial_text
from poolproof.results.runs.model import Trial
from poolproof.units import format_number_of


class PlainLines(Listener):
    """One line for each layout and each trial, on the given stream; `state` is told the same and knows what is left."""

    def __init__(self, stream: TextIO, state: LiveState) -> None:
        self._stream, self._state = stream, state
        self._total = 0
        self._done = 0

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        self._total, self._done = trials_to_do + trials_done, trials_done

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        self._state.layout_begins(layout, trials_to_do)
        self._say(f"building {layout} ({format_number_of(trials_to_do, 'trial')})")

    def trial_added(self, layout: str, workload: str) -> None:
        self._state.trial_added(layout, workload)
        self._total += 1

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        self._state.trial_begins(layout, workload, number)

    def trial_ends(self, trial: Trial) -> None:
        self._state.trial_ends(trial)
        self._done += 1
        figure = trial_text(trial)
        count = f"[{self._done}/{self._total}]"
        self._say(f"{count} {trial.layout} · {trial.workload} #{trial.number}: {figure}, {trial.verdict}{self._left()}")

    def warning(self, message: str) -> None:
        self._say(f"warning: {message}")

    def _left(self) -> str:
        left_s = self._state.left_s()
        return f", about {whole_seconds(left_s)} left" if left_s and self._done < self._total else ""

    def _say(self, line: str) -> None:
        """A reader that is gone does not end a run."""
        with contextlib.suppress(OSError, ValueError):
            print(line, file=self._stream, flush=True)
