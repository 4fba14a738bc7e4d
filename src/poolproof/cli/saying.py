"""What is said beside the answer, on standard error."""

import contextlib
import sys


def say(line: str) -> None:
    """To whoever still listens: a closed terminal must not disturb what is being taken down."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
