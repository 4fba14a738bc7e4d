"""The program that serves a disk hangs. It is killed, the trial fails and names the program, and the run continues."""

import random
import signal
import time
from dataclasses import replace

from tests.faults.fault import ONE_SICK_DISK, Outcome, noticed, signal_programs, start_measuring, trials
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 150.0
"""The time limit, in seconds, from the fault to the end of the run.

It takes 70 s until the fault is noticed, and the second layout takes at least 15 s.
"""

_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    started = start_measuring(testbed, ONE_SICK_DISK)
    signal_programs(testbed, chance.choice(("nbdkit", "nbdfuse")), signal.SIGSTOP)
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    message = ", which serves the disk a (/dev/loop"  # and no other finding may blame the disk
    outcome = noticed(testbed, *_RUNNING.pop(str(testbed.path)), message, limit_s=LIMIT_S)
    texts = [finding["message"] for trial in trials(testbed) for finding in trial["findings"]]
    blamed = [text for text in texts if " returned " in text]
    return replace(outcome, why="; ".join(filter(None, [outcome.why, *blamed])))


def clean(testbed: Testbed) -> None:
    del testbed
