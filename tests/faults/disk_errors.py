"""In the middle of a trial, a disk starts to return I/O errors.

The trial fails and names the disk, and the run continues.
"""

import random
import time

from tests.faults.fault import ONE_SICK_DISK, Outcome, noticed, served_by, start_measuring
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 75.0
"""The time limit, in seconds, from the fault to the end of the run. The second layout alone takes at least 15 s."""

_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    trigger = testbed.path / "trigger"
    share = chance.choice((100, 50))
    path = served_by(testbed, "--filter=error", f"error=EIO error-rate={share}% error-file={trigger}")
    started = start_measuring(testbed, ONE_SICK_DISK, path=path)
    trigger.touch()
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    return noticed(testbed, *_RUNNING.pop(str(testbed.path)), "the disk a (/dev/loop", limit_s=LIMIT_S)


def clean(testbed: Testbed) -> None:
    del testbed
