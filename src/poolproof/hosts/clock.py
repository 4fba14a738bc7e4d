"""Measure how far a host's wall clock is ahead of the clock that timestamps its counters.

Counters are timestamped with a clock that cannot be set: the monotonic clock on this machine, or the uptime on a remote
host. poolproof converts these timestamps to wall-clock time with an offset that it determines only once. A load
generator timestamps its reports with the current wall-clock time, which NTP or an administrator may have changed since
then. The measured difference makes the two comparable.
"""

import re
from dataclasses import dataclass

from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_LIMIT_S = 60.0
_TRIES = 3
_QUICK_S = 0.01
_ERROR_S = 0.02  # /proc/uptime has a resolution of 10 ms
_READ = ("/proc/uptime",)
_DATE = re.compile(r"(\d+)(\.\d+)?")


def clock_ahead_s(host: Host, dating: Host | None = None) -> float:
    """Return how far the wall clock of `host` is ahead of the clock that timestamps the counters, in seconds.

    `dating`: the host whose clock timestamps the counters. The default is `host` itself.

    The result is 0 if the difference is within the measurement error, or if `host` has no `date`. If its `date` does
    not support `%N`, as in some versions of busybox, the error includes half a second. Raises a HostUnreachable if the
    connection to a host was lost.
    """
    dating = dating or host
    found = [_reading(host, dating)]
    while len(found) < _TRIES and found[-1] is not None and found[-1].took_s > 2 * _QUICK_S:
        found.append(_reading(host, dating))
    best = min((each for each in found if each is not None), key=lambda each: each.error_s, default=None)
    return best.ahead_s if best is not None and abs(best.ahead_s) > best.error_s else 0.0


@dataclass(frozen=True)
class _Reading:
    """The difference between two clocks, its maximum error, and the time taken to read both clocks, in seconds."""

    ahead_s: float
    error_s: float
    took_s: float


def _reading(host: Host, dating: Host) -> _Reading | None:
    """Read both clocks once, or return None if the host has no `date`."""
    before_s = dating.read_files(_READ).at_s
    try:
        date = _DATE.match(host.run(["date", "+%s.%N"], timeout_s=_LIMIT_S).stdout)
    except CommandError:
        return None
    after_s = dating.read_files(_READ).at_s
    if date is None:
        return None
    rounded_s = 0.0 if date[2] else 0.5
    ahead_s = float(date[0]) + rounded_s - (before_s + after_s) / 2
    took_s = after_s - before_s
    return _Reading(ahead_s, took_s / 2 + rounded_s + _ERROR_S, took_s)
