"""The entry point of the program `poolproof`. It handles Ctrl-C before the command has begun and after it has ended.

It imports only a few modules of Python, because Python prints a traceback if Ctrl-C arrives while it imports one.
"""

import os
import signal
import sys

TYPE_CHECKING = False  # type checkers take it for True
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_INTERRUPTED = 130


def main() -> None:
    """Run the command line, as `poolproof.cli.main.main` does.

    Until the command begins, nothing has to be cleaned up, so Ctrl-C ends the process at once. When the command has
    ended, Ctrl-C no longer changes its exit code.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from poolproof.cli.main import main as run
    from poolproof.cli.signals import raise_again

    sys.unraisablehook = raise_again
    try:
        run()
    except KeyboardInterrupt:  # while an error was being printed
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(number: int, frame: "FrameType | None") -> "NoReturn":
    del number, frame
    os.write(2, b"poolproof: interrupted\n")
    os._exit(_INTERRUPTED)
