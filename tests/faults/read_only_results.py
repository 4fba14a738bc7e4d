"""The file system with the results becomes read-only during a run.

The run ends with a message. `resume` completes it.
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
    point = testbed.loop_mount("results", "ext4", "64M", options="errors=remount-ro")
    started, kept = run_with_results_on(testbed, point, chance)
    device = testbed.command("findmnt", "-no", "SOURCE", str(point))
    # what the kernel does after an I/O error in the metadata
    Path(f"/sys/fs/ext4/{Path(device).name}/trigger_fs_error").write_text("1")
    _RUNNING[str(testbed.path)] = point, started, time.monotonic(), kept


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    return results_repaired(testbed, *_RUNNING.pop(str(testbed.path)), limit_s=LIMIT_S)


def clean(testbed: Testbed) -> None:
    del testbed
