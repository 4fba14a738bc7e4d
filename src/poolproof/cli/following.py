"""Who listens to a run: a live screen on a terminal, plain lines elsewhere."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from poolproof.campaign.model import Campaign
from poolproof.measure.events import Listener
from poolproof.results.runs.directory import RunDirectory

if TYPE_CHECKING:
    from poolproof.presentation.terminal.live_state import LiveState


@contextlib.contextmanager
def listening(run: RunDirectory, campaign: Campaign, *, plain: bool) -> Iterator[Listener]:
    """A live screen of this process's own run on a terminal, unless lines are wanted."""
    from poolproof.presentation.terminal.live_state import LiveState

    state = LiveState(campaign, run.trials())
    if plain or not screen_is_possible():
        yield plain_lines(state)
        return
    with screen_of(state, "Ctrl-C ends the run in order") as screen:
        yield screen


@contextlib.contextmanager
def screen_of(state: "LiveState", hint: str) -> Iterator[Listener]:
    """The live screen of a state, on standard error, so that JSON stays alone. `hint` says how to end."""
    from rich.console import Console

    from poolproof.presentation.terminal.progress import LiveScreen

    with LiveScreen(Console(file=sys.stderr), state, hint) as screen:
        yield screen


def plain_lines(state: "LiveState") -> Listener:
    """Lines on standard error; the state is told what they are."""
    from poolproof.presentation.terminal.lines import PlainLines

    return PlainLines(sys.stderr, state)


def screen_is_possible() -> bool:
    """Whether standard error is a terminal on which the cursor can be moved and the marks can be written."""
    encoding = (sys.stderr.encoding or "").lower().replace("-", "")
    return sys.stderr.isatty() and encoding == "utf8" and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
