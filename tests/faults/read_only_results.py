"""The file system with the results becomes read-only during a run.

The run ends with a message. `resume` completes it.
"""

import random
import time
from pathlib import Path

from tests.faults.fault import CAMPAIGNS, Outcome, resumed
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 60.0
"""The time limit, in seconds, from the fault to the end of the run."""

_WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 16m, iodepth: 4}
measure: {trials: 3, time: 1s, seed: 7}
"""
_RUNNING: dict[str, tuple[Started, float, list[str]]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    point = testbed.loop_mount("results", "ext4", "64M", options="errors=remount-ro")
    words = testbed.words(testbed.campaign(CAMPAIGNS["ext4"] + _WORKLOADS))
    words[words.index("--out") + 1] = str(point / "run")
    started = Started(testbed.path, *words)
    file = point / "run" / "trials.jsonl"
    started.wait_for(file.exists, "no trial ended", 240.0)
    time.sleep(chance.uniform(0.0, 2.0))
    kept = file.read_text().splitlines()
    device = testbed.command("findmnt", "-no", "SOURCE", str(point))
    # what the kernel does after an I/O error in the metadata
    Path(f"/sys/fs/ext4/{Path(device).name}/trigger_fs_error").write_text("1")
    _RUNNING[str(testbed.path)] = started, time.monotonic(), kept


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    started, begun, kept = _RUNNING.pop(str(testbed.path))
    answer = started.wait(LIMIT_S * 4)
    took_s, point, wrong = time.monotonic() - begun, testbed.path / "results", []
    if answer.code in (0, 70) or "cannot be written" not in answer.err + answer.out:
        wrong.append(f"{answer.code}: {answer.out}{answer.err}")
    if took_s > LIMIT_S:
        wrong.append(f"noticed after {took_s:.0f} s")
    leaks = testbed.traces()
    device = testbed.command("findmnt", "-no", "SOURCE", str(point))
    testbed.command("umount", str(point))
    testbed.command("sh", "-c", 'e2fsck -fy "$0" >/dev/null 2>&1; [ $? -le 2 ]', device)
    testbed.command("mount", device, str(point))
    lost, failed = resumed(testbed, run=point / "run", kept=kept)
    leaks += testbed.traces()
    return Outcome(len(leaks), 0, lost, took_s, "; ".join([*wrong, *([failed] if failed else []), *leaks]))


def clean(testbed: Testbed) -> None:
    del testbed
