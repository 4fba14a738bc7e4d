"""Who listens to a run: a live screen on a terminal, plain lines elsewhere."""

import contextlib
import os
import sys
from collections.abc import Iterator

from poolproof.campaign.model import Campaign
from poolproof.measure.events import Listener
from poolproof.runs.directory import RunDirectory


@contextlib.contextmanager
def listening(run: RunDirectory, campaign: Campaign, *, plain: bool) -> Iterator[Listener]:
    """A live screen on a terminal, unless lines are wanted; always on standard error, so that JSON stays alone."""
    if plain or not screen_is_possible():
        from poolproof.report.lines import PlainLines

        yield PlainLines(sys.stderr)
        return
    from rich.console import Console

    from poolproof.report.live_state import LiveState
    from poolproof.report.progress import LiveScreen

    with LiveScreen(Console(file=sys.stderr), LiveState(campaign, run.trials())) as screen:
        yield screen


def screen_is_possible() -> bool:
    """Whether standard error is a terminal on which the cursor can be moved and the marks can be written."""
    encoding = (sys.stderr.encoding or "").lower().replace("-", "")
    return sys.stderr.isatty() and encoding == "utf8" and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
