"""In the middle of a trial, a disk disappears. The trial fails and names the disk, and the run continues."""

import random
import signal
import time

from tests.faults.fault import ONE_SICK_DISK, Outcome, noticed, signal_programs, start_measuring
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 75.0
"""The time limit, in seconds, from the fault to the end of the run. The second layout alone takes at least 15 s."""

_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    started = start_measuring(testbed, ONE_SICK_DISK)
    time.sleep(chance.uniform(0.0, 2.0))
    signal_programs(testbed, "nbdkit", signal.SIGKILL)
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    return noticed(testbed, *_RUNNING.pop(str(testbed.path)), "the disk a (/dev/loop", limit_s=LIMIT_S)


def clean(testbed: Testbed) -> None:
    del testbed
