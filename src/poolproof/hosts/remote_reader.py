"""Looks at small files of a far host, by a shell that stays there; a stream is one look after the other.

So a tick costs that host no process at all: what measures must not disturb. Each tells the host's own time, by its
uptime; `date` is asked once a minute.
"""

import threading
import time
from collections.abc import Iterator, Sequence

from poolproof.hosts import remote_shell as far_shell
from poolproof.hosts import remote_stream as far_stream
from poolproof.hosts.base import Tick
from poolproof.hosts.shells import Ask

_CLOCK_S = 60.0
_LOOK_S = 60.0
_LATE_IN_A_ROW = 20


class RemoteReader:
    """Looks at files, and knows the host's clock for `known_s` seconds after it was asked."""

    def __init__(self, known_s: float = _CLOCK_S) -> None:
        self._known_s = known_s
        self._zero_s, self._known_until = 0.0, 0.0

    def read_files(self, ask: Ask, paths: Sequence[str]) -> Tick | None:
        """What the files hold now; None where no shell can say.

        Raises:
            As `Shells.ask`.
        """
        asked_at = time.monotonic()
        request = far_shell.to_look(paths, clock=asked_at >= self._known_until)
        answer = ask(request, asked_at + _LOOK_S) if request else None
        if answer is None:
            return None
        zero_s = far_stream.clock(answer.stdout)
        if zero_s is not None:
            self._zero_s, self._known_until = zero_s, asked_at + self._known_s
        return far_stream.tick(answer.stdout, self._zero_s)


def ticks(ask: Ask, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Iterator[Tick]:
    """A look every `interval_s` seconds until `stop`; ends before that where no shell can say, or only too late.

    The clock is asked once, so that the times between ticks are the host's own.

    Raises:
        As `Shells.ask`.
    """
    looks, late = RemoteReader(known_s=float("inf")), 0
    while not stop.is_set() and late < _LATE_IN_A_ROW:
        asked_at = time.monotonic()
        tick = looks.read_files(ask, paths)
        if tick is None:
            return
        left_s = asked_at + interval_s - time.monotonic()
        late = 0 if left_s > 0 else late + 1
        yield tick
        stop.wait(max(0.0, left_s))
