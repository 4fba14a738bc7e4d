"""Signal handling: the first Ctrl-C or other signal stops the run. Further signals don't interrupt the cleanup.

A run that was started with `nohup` ignores SIGHUP. Ctrl-Z does not suspend a run.
"""

import signal
import sys
import threading
from types import FrameType

from poolproof.cli.output import say
from poolproof.process import ENDING_SIGNALS

_MAY_BE_IGNORED = frozenset(ENDING_SIGNALS) - {signal.SIGINT, signal.SIGTERM}
_SOON_S = 0.01


def end_in_order() -> None:
    """Install signal handlers that raise KeyboardInterrupt on the first signal.

    On further signals, they print a line. If SIGHUP is ignored, as `nohup` arranges, it stays ignored. The same applies
    to SIGQUIT, which shells ignore for a command in the background, and to the rarer signals.
    """
    for number in _handled():
        signal.signal(number, _first)
    _refuse_to_stop()


def end_by_exception() -> None:
    """Let SIGTERM, SIGHUP and the others raise KeyboardInterrupt, as Ctrl-C does, so that temporary files are removed.

    If SIGHUP is ignored, as `nohup` arranges, it stays ignored.
    """
    for number in _handled():
        if number != signal.SIGINT:  # Python's own handler raises KeyboardInterrupt
            signal.signal(number, signal.default_int_handler)


def stop_if_asked() -> None:
    """Raise a KeyboardInterrupt if a signal has arrived but the KeyboardInterrupt that it raised was lost.

    Python discards exceptions raised in the callback of a weak reference, and importing a module runs such callbacks.
    When planning still imported modules, about one Ctrl-C in several hundred runs was lost in this way.
    """
    if signal.getsignal(signal.SIGINT) is _later:
        raise KeyboardInterrupt


def raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """Raise a KeyboardInterrupt again that Python has discarded, as in `stop_if_asked`. This is an unraisable hook."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    if signal.getsignal(signal.SIGINT) is _later:
        end_in_order()
    threading.Timer(_SOON_S, _interrupt).start()  # here, it would be discarded again


def _refuse_to_stop() -> None:
    """Print a line instead of stopping at Ctrl-Z, and write to the terminal even in the background (`stty tostop`).

    While poolproof is suspended, the load generator would continue, but nothing would monitor the free space.
    """
    if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
        signal.signal(signal.SIGTSTP, _stay)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def _stay(number: int, frame: FrameType | None) -> None:
    del number, frame
    say("\npoolproof: cannot be suspended, because the programs that it started would continue; Ctrl-C stops it")


def _handled() -> list[signal.Signals]:
    """Return the signals that stop the command: all of `ENDING_SIGNALS`, except those that are ignored."""
    is_ignored = {each for each in _MAY_BE_IGNORED if signal.getsignal(each) == signal.SIG_IGN}
    return [each for each in ENDING_SIGNALS if each not in is_ignored]


def _interrupt() -> None:
    """Send SIGINT to the main thread. Unlike `_thread.interrupt_main`, this also ends a wait of the main thread."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGINT)


def _first(number: int, frame: FrameType | None) -> None:
    del number, frame
    for each in _handled():
        signal.signal(each, _later)
    say("\npoolproof: stopping and cleaning up")
    raise KeyboardInterrupt


def _later(number: int, frame: FrameType | None) -> None:
    del number, frame
    say("poolproof: still cleaning up; please wait")
