"""The first Ctrl-C, SIGTERM or hang-up ends the run in order; the next ones can't disturb the taking down."""

import signal
from types import FrameType

from poolproof.cli.saying import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_in_order() -> None:
    """Turn the first signal into KeyboardInterrupt, and all later ones into a line that asks for patience."""
    for number in _SIGNALS:
        signal.signal(number, _first)


def stop_if_asked() -> None:
    """Raise KeyboardInterrupt where a signal came and its own was lost.

    Python drops what is raised in the callback of a weak reference, and importing a module has some. A Ctrl-C while the
    plan was made, and modules were imported beside it, was seen to be lost, once in some hundreds.
    """
    if signal.getsignal(signal.SIGINT) is _later:
        raise KeyboardInterrupt


def _first(number: int, frame: FrameType | None) -> None:
    del number, frame
    for each in _SIGNALS:
        signal.signal(each, _later)
    say("\npoolproof: stopping; taking everything down")
    raise KeyboardInterrupt


def _later(number: int, frame: FrameType | None) -> None:
    del number, frame
    say("poolproof: still taking things down; this ends by itself")
