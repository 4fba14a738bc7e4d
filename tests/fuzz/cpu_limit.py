"""A limit on the processor time that each input may take, so that other programs on the machine do not count."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LIMIT_S = 5


@contextmanager
def cpu_limit() -> Iterator[Callable[[], None]]:
    """Yield a function that starts the limit anew. An input that takes longer than 5 s raises a TimeoutError."""
    before = signal.signal(signal.SIGPROF, _too_long)
    try:
        yield lambda: _set(LIMIT_S)
    finally:
        _set(0)
        signal.signal(signal.SIGPROF, before)


def _set(seconds: int) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"the input took more than {LIMIT_S} s of processor time")
