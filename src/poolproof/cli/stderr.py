"""Lines for the user on standard error."""

import contextlib
import sys


def say(line: str) -> None:
    """Print a line on standard error. A closed terminal is ignored, so that it does not disturb a clean-up."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
