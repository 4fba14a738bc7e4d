"""A solid-state disk as service times: channels that work side by side, and one link that all data cross.

Only the standard library is used, and nothing newer than Python 3.9: nbdkit's embedded interpreter runs this file.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(frozen=True)
class SsdParameters:
    """What sets one solid-state disk apart from another. Times in seconds, the rate in bytes per second.

    A request takes one channel for `read_s` or `write_s`, whatever its length, then crosses the link. `flush_s` is the
    cost of making data durable after a write.
    """

    channels: int
    read_s: float
    write_s: float
    flush_s: float
    link_rate: float


class Ssd:
    """One solid-state disk. Each method takes the moment of arrival and gives the moment of completion.

    Times are seconds on any monotonic clock.
    """

    rotational = False

    def __init__(self, size_bytes: int, parameters: SsdParameters, seed: int) -> None:
        del size_bytes, seed  # an address costs the same as any other, and nothing is random
        self._p = parameters
        self._channels = [0.0] * parameters.channels
        self._link_free_at = 0.0
        self._written_at = 0.0
        self._dirty = False

    def read(self, now_s: float, offset: int, length: int) -> float:
        """A read that arrives at `now_s`: flash first, then the link."""
        del offset
        booked = self._book_link(now_s, length)
        return max(self._occupy(now_s, self._p.read_s) + length / self._p.link_rate, booked)

    def write(self, now_s: float, offset: int, length: int, durable: bool = False) -> float:
        """A write that arrives at `now_s`; `durable` (FUA) adds the cost of a flush."""
        del offset
        booked = self._book_link(now_s, length)
        done = max(self._occupy(now_s, self._p.write_s) + length / self._p.link_rate, booked)
        self._written_at = max(self._written_at, done)
        self._dirty = True
        return self.flush(done) if durable else done

    def flush(self, now_s: float) -> float:
        """Every write acknowledged before `now_s` is durable at the moment that is returned; free when none was."""
        if not self._dirty:
            return now_s
        self._dirty = False
        return max(now_s, self._written_at) + self._p.flush_s

    def _occupy(self, now_s: float, work_s: float) -> float:
        done = max(now_s, self._channels[0]) + work_s
        heapq.heapreplace(self._channels, done)
        return done

    def _book_link(self, now_s: float, length: int) -> float:
        """The moment by which the link has carried all that was asked of it so far."""
        self._link_free_at = max(now_s, self._link_free_at) + length / self._p.link_rate
        return self._link_free_at
