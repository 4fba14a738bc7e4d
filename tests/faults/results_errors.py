"""The disk with the results starts to return I/O errors for writes during a run.

The run ends with a message. When the disk works again, `resume` completes the run.
"""

import random
import time
from pathlib import Path

from tests.faults.fault import Outcome, results_repaired, run_with_results_on
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 60.0
"""The time limit, in seconds, from the fault to the end of the run."""

_RUNNING: dict[str, tuple[Path, Started, float, list[str]]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    trigger = testbed.path / "trigger"
    point = testbed.mount_with_errors("results", "ext4", "64M", trigger=trigger, options="errors=remount-ro")
    started, kept = run_with_results_on(testbed, point, chance)
    trigger.touch()
    _RUNNING[str(testbed.path)] = point, started, time.monotonic(), kept


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    point, started, begun, kept = _RUNNING.pop(str(testbed.path))
    started.wait(LIMIT_S * 4)
    (testbed.path / "trigger").unlink()
    return results_repaired(testbed, point, started, begun, kept, limit_s=LIMIT_S)


def clean(testbed: Testbed) -> None:
    del testbed
