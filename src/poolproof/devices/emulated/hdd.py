"""Simulates a hard disk's service times: one actuator, a rotating platter, look-ahead for one stream, a write cache.

All random numbers come from one generator with a given seed, so the same requests at the same times always take equally
long. The file runs in nbdkit's embedded interpreter. It therefore uses only the standard library and supports Python
3.9.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class HddParameters:
    """The parameters of a hard disk. Times are in seconds, rates in bytes per second.

    Seeks and rotation: WD, Ultrastar DC HC310 SATA OEM specification 1.4, tables 5 to 7 (7200 rpm, single-track seek
    0.23 ms, average read seek 7.4 ms, average write seek 8.2 ms). For short seeks, the seek time grows with the square
    root of the distance, and for long seeks linearly: Ruemmler and Wilkes, "An introduction to disk drive modeling",
    IEEE Computer 27(3), 1994. If the linear part starts at a fifth of the stroke (`knee`), a `full_stroke_s` of 16.8 ms
    results in the average of 7.4 ms. For comparison, the IBM DDRS-39130, also at 7200 rpm, is specified at 15 to 16 ms.

    Media rate: 200 MB/s at the outer edge, as in large 7200 rpm disks, and half of that in the inner zone (Hitachi
    Deskstar 7K500 specification, table 10: 64.8 and 31.0 MB/s).
    """

    rotation_s: float = 60 / 7200
    track_to_track_s: float = 0.23e-3
    full_stroke_s: float = 16.8e-3
    knee: float = 0.2
    """The fraction of the full stroke beyond which the seek time grows linearly."""

    stroke: float = 0.2
    """The fraction of a real disk's stroke that the emulated disk uses, starting at the outer edge."""

    write_settle_s: float = 0.8e-3
    """The extra time in seconds that a seek takes before a write, compared with a seek before a read."""

    outer_rate: float = 200e6
    inner_rate: float = 100e6
    look_ahead_bytes: int = 4 << 20
    """The number of bytes that the disk reads ahead, and also the number that its buffer keeps behind the head."""

    skip_bytes: int = 2 << 20
    """The largest gap in bytes that the head crosses without a seek, because requests may arrive out of order."""

    interface_s: float = 20e-6
    """The service time of requests that the buffer or the cache serves."""

    cache_bytes: int = 32 << 20
    cache_writes: int = 128
    """The capacity of the write cache, in bytes and in writes. When it is full, further writes wait for space."""

    retry_share: float = 0.0
    """The fraction of media accesses that need retries."""

    retry_least_s: float = 0.3
    retry_most_s: float = 1.5
    """The minimum and maximum time that retries add to an access.

    Source: Disk Survey, "Disk error recovery" (2012), which quotes Seagate's figures for the Savvio 15K.3: up to 20
    recovery steps per read, and at most 1.5 s per block.
    """


@dataclass
class _Write:
    """A write in the cache: its remaining service time, its length, and the head's position after it."""

    work_s: float
    length: int
    end: int


@dataclass(frozen=True)
class _Front:
    """The position of the look-ahead: the offset of the next byte to read, and when the head reaches it.

    `start`: the offset at which the stream began. The buffer contains nothing before it.
    """

    offset: int
    at_s: float
    start: int


class Hdd:
    """A simulated hard disk of `size_bytes`.

    `read`, `write` and `flush` take the arrival time of a request and return its completion time, both in seconds on
    the same monotonic clock. Requests must be passed in the order of their arrival.
    """

    rotational = True

    def __init__(self, size_bytes: int, parameters: HddParameters, seed: int) -> None:
        self._size = size_bytes
        self._p = parameters
        self._random = random.Random(seed)
        self._now = 0.0
        self._free_at = 0.0
        self._head = 0
        self._front: _Front | None = None
        self._reads: deque[float] = deque()
        self._cache: deque[_Write] = deque()
        self._cached_bytes = 0

    def read(self, now_s: float, offset: int, length: int) -> float:
        """Return the completion time of a read that arrives at `now_s`."""
        self._destage_until(now_s)
        if self._continues(now_s, offset):
            return self._read_on(now_s, offset, offset + length)
        while self._reads and self._reads[0] <= now_s:
            self._reads.popleft()
        begun = max(now_s, self._free_at)
        positioning_s = self._position(self._head, offset, len(self._reads))
        done = begun + positioning_s + self._transfer(offset, length) + self._retries()
        self._head = offset + length
        self._front = _Front(self._head, done, offset)
        self._free_at = done
        self._reads.append(done)
        return done

    def write(self, now_s: float, offset: int, length: int, durable: bool = False) -> float:
        """Return the completion time of a write that arrives at `now_s`.

        A `durable` write (FUA) completes when the cache is empty. Any other write completes as soon as it fits into the
        cache.
        """
        self._destage_until(now_s)
        work_s = self._write_positioning(now_s, offset) + self._transfer(offset, length) + self._retries()
        self._cache.append(_Write(work_s, length, offset + length))
        self._cached_bytes += length
        if durable:
            return self._write_all(now_s)
        done = now_s + self._p.interface_s
        while self._cached_bytes > self._p.cache_bytes or len(self._cache) > self._p.cache_writes:
            done = max(done, self._write_one(now_s))
        return done

    def flush(self, now_s: float) -> float:
        """Return the time at which all writes acknowledged before `now_s` are on the media."""
        self._destage_until(now_s)
        return self._write_all(now_s)

    def seek_s(self, distance: float) -> float:
        """Return the seek time in seconds, or 0 if the head does not move.

        `distance`: the length of the seek as a fraction of the full stroke.
        """
        if distance <= 0:
            return 0.0
        knee = self._p.knee
        slope = 1 / (2 * math.sqrt(knee))
        longest = math.sqrt(knee) + (1 - knee) * slope
        reach = math.sqrt(distance) if distance <= knee else math.sqrt(knee) + (distance - knee) * slope
        return self._p.track_to_track_s + (self._p.full_stroke_s - self._p.track_to_track_s) * reach / longest

    def media_rate(self, offset: int) -> float:
        place = self._p.stroke * offset / self._size
        return self._p.outer_rate + (self._p.inner_rate - self._p.outer_rate) * place

    def _transfer(self, offset: int, length: int) -> float:
        return length / self.media_rate(offset)

    def _position(self, start: int, target: int, waiting: int) -> float:
        """Return the time in seconds that a seek and the rotational delay after it take.

        `waiting`: the number of requests in the disk's queue. The disk sorts them, which shortens seeks to 1/(n+1) of
        their distance for n requests.
        """
        distance = abs(target - start) / self._size * self._p.stroke / (1 + waiting)
        return self.seek_s(distance) + self._random.uniform(0, self._p.rotation_s)

    def _retries(self) -> float:
        if self._p.retry_share and self._random.random() < self._p.retry_share:
            return self._random.uniform(self._p.retry_least_s, self._p.retry_most_s)
        return 0.0

    def _continues(self, now_s: float, offset: int) -> bool:
        """True if a read at this offset continues the stream of earlier reads.

        Its data is then in the buffer, or so close ahead of the head that waiting for it is faster than seeking. The
        disk sorts reads that wait in its queue, so the first reads of a stream may arrive out of order.
        """
        if self._front is None:
            return False
        front, is_waiting = self._front.offset, now_s < self._free_at
        start = self._front.start - (self._p.skip_bytes if is_waiting else 0)
        return max(front - self._p.look_ahead_bytes, start) <= offset <= front + self._p.skip_bytes

    def _read_on(self, now_s: float, offset: int, end: int) -> float:
        """Return the completion time of a read that continues the stream, at the media rate, up to the offset `end`."""
        assert self._front is not None
        rate = self.media_rate(self._front.offset)
        at_s = max(self._front.at_s, now_s - self._p.look_ahead_bytes / rate)
        front = replace(self._front, at_s=at_s, start=min(self._front.start, offset))
        reached = front.at_s + (end - front.offset) / rate
        if end > front.offset:
            reached += self._retries()
            front = replace(front, offset=end, at_s=reached)
        self._front = front
        self._head = front.offset
        done = max(now_s + self._p.interface_s, reached)
        self._free_at = max(self._free_at, done)
        return done

    def _write_positioning(self, now_s: float, offset: int) -> float:
        """Return the time in seconds that it takes to position the head for a write.

        The head starts at the end of the last cached write or, if the cache is empty, at its current position. A write
        that (nearly) follows the last cached one takes no time.
        """
        if self._cache:
            tail = self._cache[-1].end
            if abs(offset - tail) <= self._p.skip_bytes:
                return 0.0
            return self._position(tail, offset, len(self._cache)) + self._p.write_settle_s
        if offset == self._head and self._front is None:
            # the next sector passed under the head while the disk was idle, and comes back after one rotation
            return self._p.rotation_s - max(0.0, now_s - self._free_at) % self._p.rotation_s
        return self._position(self._head, offset, 0) + self._p.write_settle_s

    def _destage_until(self, now_s: float) -> None:
        """Write cached data to the media in the idle time before `now_s`."""
        moment = max(self._now, self._free_at)
        while self._cache and moment < now_s:
            write = self._cache[0]
            spent = min(write.work_s, now_s - moment)
            moment += spent
            if spent < write.work_s:
                write.work_s -= spent
                self._front = None
            else:
                self._free_at = moment
                self._drop_first()
        self._now = max(self._now, now_s)

    def _write_one(self, now_s: float) -> float:
        self._free_at = max(now_s, self._free_at) + self._cache[0].work_s
        self._drop_first()
        return self._free_at

    def _write_all(self, now_s: float) -> float:
        while self._cache:
            self._write_one(now_s)
        return max(now_s + self._p.interface_s, self._free_at)

    def _drop_first(self) -> None:
        write = self._cache.popleft()
        self._cached_bytes -= write.length
        self._head = write.end
        self._front = None
