"""The first Ctrl-C, SIGTERM or SIGHUP stops the run and cleans up; later signals do not interrupt the clean-up."""

import signal
from types import FrameType

from poolproof.cli.output import say

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_in_order() -> None:
    """From now on, raise KeyboardInterrupt on the first signal, but only print a line on later ones."""
    for number in _SIGNALS:
        signal.signal(number, _first)


def end_by_exception() -> None:
    """From now on, raise KeyboardInterrupt on SIGTERM and SIGHUP too, because that removes temporary files."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def stop_if_asked() -> None:
    """Raise KeyboardInterrupt if a signal came but its KeyboardInterrupt was lost.

    Python discards an exception raised in the callback of a weak reference, and importing a module runs such callbacks.
    When planning imported modules, a Ctrl-C was lost this way about once in several hundred runs.
    """
    if signal.getsignal(signal.SIGINT) is _later:
        raise KeyboardInterrupt


def _first(number: int, frame: FrameType | None) -> None:
    del number, frame
    for each in _SIGNALS:
        signal.signal(each, _later)
    say("\npoolproof: stopping and cleaning up")
    raise KeyboardInterrupt


def _later(number: int, frame: FrameType | None) -> None:
    del number, frame
    say("poolproof: still cleaning up; please wait")
