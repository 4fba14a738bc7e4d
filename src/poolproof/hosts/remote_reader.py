"""Read small files of a remote host in a persistent shell; a stream is one reading after another.

A reading starts no process there, so the measurement is not disturbed. Its time is the host's own: the uptime, with
`date` read once a minute.
"""

import threading
import time
from collections.abc import Iterator, Sequence

from poolproof.hosts import remote_shell, remote_stream
from poolproof.hosts.base import Tick
from poolproof.hosts.shells import Ask

_CLOCK_S = 60.0
_READ_S = 60.0
_LATE_IN_A_ROW = 20


class RemoteReader:
    """Reads files, and keeps the host's clock for `known_s` seconds after it was read."""

    def __init__(self, known_s: float = _CLOCK_S) -> None:
        self._known_s = known_s
        self._zero_s, self._known_until = 0.0, 0.0

    def read_files(self, ask: Ask, paths: Sequence[str]) -> Tick | None:
        """Return the contents of the files; None if no shell can read them.

        Raises:
            As `Shells.ask`.
        """
        started = time.monotonic()
        request = remote_shell.read_request(paths, clock=started >= self._known_until)
        answer = ask(request, started + _READ_S) if request else None
        if answer is None:
            return None
        zero_s = remote_stream.clock(answer.stdout)
        if zero_s is not None:
            self._zero_s, self._known_until = zero_s, started + self._known_s
        return remote_stream.tick(answer.stdout, self._zero_s)


def ticks(ask: Ask, paths: Sequence[str], interval_s: float, stop: threading.Event) -> Iterator[Tick]:
    """Yield a reading every `interval_s` seconds until `stop`; end earlier if no shell can read, or only too slowly.

    The clock is read only once, so that the times between ticks come from the host's uptime.

    Raises:
        As `Shells.ask`.
    """
    reader, late = RemoteReader(known_s=float("inf")), 0
    while not stop.is_set() and late < _LATE_IN_A_ROW:
        started = time.monotonic()
        tick = reader.read_files(ask, paths)
        if tick is None:
            return
        left_s = started + interval_s - time.monotonic()
        late = 0 if left_s > 0 else late + 1
        yield tick
        stop.wait(max(0.0, left_s))
