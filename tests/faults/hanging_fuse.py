"""A FUSE file system (mergerfs) hangs. It is killed, the trial fails and names it, and the run continues."""

import random
import signal
import time

from tests.faults.fault import Outcome, noticed, signal_programs, start_measuring
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 150.0
"""The time limit, in seconds, from the fault to the end of the run.

It takes 70 s until the fault is noticed, and the second layout takes at least 15 s.
"""

_CAMPAIGN = """
devices: {a: {file: 256M}, b: {file: 256M}}
layouts: {one: mergerfs (a | ext4) (b | ext4), two: b | ext4}
workloads:
  reads: {rw: randread, bs: 16k, size: 32m, iodepth: 4}
measure: {trials: 1, time: 15s, seed: 7}
"""
_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    started = start_measuring(testbed, _CAMPAIGN)
    time.sleep(chance.uniform(0.0, 2.0))
    signal_programs(testbed, "mergerfs", signal.SIGSTOP)
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    running = _RUNNING.pop(str(testbed.path))
    return noticed(testbed, *running, "did not answer for 60 s and was killed", limit_s=LIMIT_S)


def clean(testbed: Testbed) -> None:
    del testbed
