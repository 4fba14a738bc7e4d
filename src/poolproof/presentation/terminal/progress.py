"""The live screen in a terminal: what a run tells goes to a state, which is drawn a few times a second."""

import contextlib
import io
import sys
import threading
from types import TracebackType
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live

from poolproof.measure.events import Listener, LiveRates
from poolproof.presentation.terminal.live_screen import screen_lines
from poolproof.presentation.terminal.live_state import LiveState
from poolproof.presentation.terminal.resized import on_resize
from poolproof.results.runs.model import Trial

_PER_SECOND = 2


class LiveScreen(Listener):
    """A screen of its own, which leaves the terminal as it was; what was said meanwhile is printed when it is gone.

    The console must write to the terminal itself, not to whatever `sys.stderr` is at the time.
    """

    wants_live = True

    def __init__(self, console: Console, state: LiveState, hint: str = "") -> None:
        self._console, self._state = console, state
        self._hint = hint
        self._lock = threading.RLock()
        self._said = _Said(state)
        self._warned: list[str] = []
        self._stack = contextlib.ExitStack()
        self._live = Live(
            console=console,
            screen=True,
            refresh_per_second=_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            get_renderable=self._render,
        )

    def __enter__(self) -> "LiveScreen":
        self._stack.callback(self._repeat, sys.stderr)
        self._stack.enter_context(contextlib.redirect_stderr(self._said))
        self._stack.callback(self._leave)
        self._live.__enter__()
        self._stack.enter_context(on_resize(self._live.refresh))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _leave(self) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone needs no tidying
            self._live.__exit__(None, None, None)

    def _repeat(self, stream: TextIO) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in (*self._warned, *self._said.lines):
                print(line, file=stream, flush=True)

    def refresh(self) -> None:
        """Draw now, not at the next half of a second."""
        self._live.refresh()

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        with self._lock:
            self._state.layout_begins(layout, trials_to_do)

    def trial_added(self, layout: str, workload: str) -> None:
        with self._lock:
            self._state.trial_added(layout, workload)

    def step(self, title: str) -> None:
        with self._lock:
            self._state.step(title)

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        with self._lock:
            self._state.trial_begins(layout, workload, number)

    def live(self, rates: LiveRates) -> None:
        with self._lock:
            self._state.live(rates)

    def trial_ends(self, trial: Trial) -> None:
        with self._lock:
            self._state.trial_ends(trial)

    def warning(self, message: str) -> None:
        self._warned.append(f"warning: {message}")
        with self._lock:
            self._state.warning(message)

    def _render(self) -> Group:
        with self._lock:
            width, height = self._console.size
            return Group(*screen_lines(self._state, self._hint, width, height))


class _Said(io.StringIO):
    """Takes what others write to standard error while the screen is there; also from a signal's handler, so no lock."""

    def __init__(self, state: LiveState) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._state = state

    def write(self, text: str) -> int:
        found = [line for line in text.splitlines() if line.strip()]
        self.lines += found
        if found:
            self._state.words = found[-1]
        return len(text)
