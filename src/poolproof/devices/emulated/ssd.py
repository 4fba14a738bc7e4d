"""Simulates the service times of a solid-state disk: parallel channels that share one link.

The file runs in nbdkit's embedded interpreter. It therefore uses only the standard library and supports Python 3.9.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(frozen=True)
class SsdParameters:
    """The parameters of a solid-state disk. Times are in seconds, and the link rate is in bytes per second.

    A request occupies one channel for `read_s` or `write_s`, whatever its length, and then crosses the link. The first
    flush after a write takes `flush_s`. Further flushes take no time.
    """

    channels: int
    read_s: float
    write_s: float
    flush_s: float
    link_rate: float


class Ssd:
    """A simulated solid-state disk.

    Each method takes the arrival time of a request and returns its completion time, both in seconds on the same
    monotonic clock.
    """

    rotational = False

    def __init__(self, size_bytes: int, parameters: SsdParameters, seed: int) -> None:
        del size_bytes, seed  # all addresses take the same time, and nothing is random
        self._p = parameters
        self._channels = [0.0] * parameters.channels
        self._link_free_at = 0.0
        self._written_at = 0.0
        self._dirty = False

    def read(self, now_s: float, offset: int, length: int) -> float:
        """Return the completion time of a read that arrives at `now_s`."""
        del offset
        return self._serve(now_s, self._p.read_s, length)

    def write(self, now_s: float, offset: int, length: int, durable: bool = False) -> float:
        """Return the completion time of a write that arrives at `now_s`. A `durable` write (FUA) includes a flush."""
        del offset
        done = self._serve(now_s, self._p.write_s, length)
        self._written_at = max(self._written_at, done)
        self._dirty = True
        return self.flush(done) if durable else done

    def flush(self, now_s: float) -> float:
        """Return the time at which all earlier writes are durable, or `now_s` if they already are."""
        if not self._dirty:
            return now_s
        self._dirty = False
        return max(now_s, self._written_at) + self._p.flush_s

    def _serve(self, now_s: float, work_s: float, length: int) -> float:
        """Return the completion time of a request. It uses the channel that is free first, and then the shared link."""
        transfer_s = length / self._p.link_rate
        self._link_free_at = max(now_s, self._link_free_at) + transfer_s
        worked = max(now_s, self._channels[0]) + work_s
        heapq.heapreplace(self._channels, worked)
        return max(worked + transfer_s, self._link_free_at)
