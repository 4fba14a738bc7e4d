"""How a run is followed on standard error: a live screen on a terminal, plain lines elsewhere."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from poolproof.campaign.model import Campaign
from poolproof.measure.events import Listener
from poolproof.results.runs.directory import RunDirectory

if TYPE_CHECKING:
    from poolproof.presentation.terminal.progress import RunProgress
    from poolproof.results.runs.model import Trial


@contextlib.contextmanager
def listening(run: RunDirectory, campaign: Campaign, *, plain: bool) -> Iterator[Listener]:
    """Follow a run of this process."""
    with following(campaign, run.trials(), plain=plain, hint="Ctrl-C stops the run and cleans up") as progress:
        yield progress


@contextlib.contextmanager
def following(
    campaign: Campaign, done: Sequence["Trial"], *, plain: bool, hint: str, begun_s: float | None = None
) -> Iterator["RunProgress"]:
    """Show progress on standard error. `plain` forces lines; `hint` says how to stop; `begun_s` is the run's start."""
    from poolproof.presentation.terminal.progress import PlainLines, RunProgress

    if plain or not _screen_is_possible():
        yield PlainLines(sys.stderr, campaign, done, begun_s=begun_s)
        return
    from rich.console import Console

    from poolproof.presentation.terminal.live_screen import live_screen

    progress = RunProgress(campaign, done, begun_s=begun_s)
    with live_screen(Console(file=sys.stderr), progress, hint):
        yield progress


def _screen_is_possible() -> bool:
    """True if standard error is a terminal that can move the cursor and print the marks."""
    encoding = (sys.stderr.encoding or "").lower().replace("-", "")
    return sys.stderr.isatty() and encoding == "utf8" and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
