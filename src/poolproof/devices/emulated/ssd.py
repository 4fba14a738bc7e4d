"""The service times of a solid-state disk: parallel channels, and one link for all data.

nbdkit's embedded interpreter runs this file, so it uses only the standard library and nothing newer than Python 3.9.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(frozen=True)
class SsdParameters:
    """The parameters of a solid-state disk. Times in seconds, the rate in bytes per second.

    A request occupies one channel for `read_s` or `write_s`, whatever its length, then crosses the link. `flush_s` is
    the time of the first flush after a write.
    """

    channels: int
    read_s: float
    write_s: float
    flush_s: float
    link_rate: float


class Ssd:
    """One solid-state disk. Each method takes the time of arrival and returns the time of completion.

    Times are seconds on any monotonic clock.
    """

    rotational = False

    def __init__(self, size_bytes: int, parameters: SsdParameters, seed: int) -> None:
        del size_bytes, seed  # all addresses cost the same, and nothing is random
        self._p = parameters
        self._channels = [0.0] * parameters.channels
        self._link_free_at = 0.0
        self._written_at = 0.0
        self._dirty = False

    def read(self, now_s: float, offset: int, length: int) -> float:
        """Return when a read that arrives at `now_s` completes."""
        del offset
        return self._serve(now_s, self._p.read_s, length)

    def write(self, now_s: float, offset: int, length: int, durable: bool = False) -> float:
        """Return when a write that arrives at `now_s` completes; `durable` (FUA) adds a flush."""
        del offset
        done = self._serve(now_s, self._p.write_s, length)
        self._written_at = max(self._written_at, done)
        self._dirty = True
        return self.flush(done) if durable else done

    def flush(self, now_s: float) -> float:
        """Return when all writes acknowledged before `now_s` are durable; at once if there were none."""
        if not self._dirty:
            return now_s
        self._dirty = False
        return max(now_s, self._written_at) + self._p.flush_s

    def _serve(self, now_s: float, work_s: float, length: int) -> float:
        """Occupy the first free channel, then the link, which all requests share."""
        transfer_s = length / self._p.link_rate
        self._link_free_at = max(now_s, self._link_free_at) + transfer_s
        worked = max(now_s, self._channels[0]) + work_s
        heapq.heapreplace(self._channels, worked)
        return max(worked + transfer_s, self._link_free_at)
