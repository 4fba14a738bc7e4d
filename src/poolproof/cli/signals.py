"""The first Ctrl-C, SIGTERM or hang-up ends the run in order; the next ones can't disturb the taking down."""

import contextlib
import signal
import sys
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_in_order() -> None:
    """Turn the first signal into KeyboardInterrupt, and all later ones into a line that asks for patience."""
    for number in _SIGNALS:
        signal.signal(number, _first)


def _first(number: int, frame: FrameType | None) -> None:
    del number, frame
    for each in _SIGNALS:
        signal.signal(each, _later)
    _say("\npoolproof: stopping; taking everything down")
    raise KeyboardInterrupt


def _later(number: int, frame: FrameType | None) -> None:
    del number, frame
    _say("poolproof: still taking things down; this ends by itself")


def _say(line: str) -> None:
    """To whoever still listens: a closed terminal must not disturb the taking down."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
