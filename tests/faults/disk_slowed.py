"""In the middle of a trial, a disk becomes slow. The trial keeps its result, with a note that names the disk."""

import random
import time

from tests.faults.fault import ONE_SICK_DISK, Outcome, noticed, served_by, start_measuring
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 120.0
"""The time limit, in seconds, from the fault to the end of the run. The two trials alone take at least 29 s."""

_RUNNING: dict[str, tuple[Started, float]] = {}
_MEGABIT = 1 << 20


def inject(testbed: Testbed, chance: random.Random) -> None:
    rate = testbed.path / "rate"
    rate.write_text("10G\n")
    path = served_by(testbed, "--filter=rate", f"rate=10G rate-file={rate}")
    started = start_measuring(testbed, ONE_SICK_DISK, path=path)
    time.sleep(1.5)
    rate.write_text(f"{chance.randrange(4, 9) * _MEGABIT}\n")  # at most 64 reads per second
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    running = _RUNNING.pop(str(testbed.path))
    return noticed(testbed, *running, "a slowed down", limit_s=LIMIT_S, fails=False)


def clean(testbed: Testbed) -> None:
    del testbed
