"""The run directory is deleted during a run. The run ends with a message, and removes its layout."""

import random
import shutil
import time

from tests.faults.fault import CAMPAIGNS, WORKLOADS, Outcome
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 60.0
"""The time limit, in seconds, from the fault to the end of the run."""

_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    started = testbed.start(CAMPAIGNS["ext4"] + WORKLOADS)
    run = testbed.runs / "run"
    started.wait_for((run / "cells").exists, "no trial began", 240.0)
    time.sleep(chance.uniform(0.0, 1.0))
    while run.exists():  # poolproof may add a file meanwhile
        shutil.rmtree(run, ignore_errors=True)
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    started, begun = _RUNNING.pop(str(testbed.path))
    answer = started.wait(LIMIT_S * 4)
    took_s, wrong = time.monotonic() - begun, testbed.traces()
    leaks = len(wrong)
    if answer.code in (0, 70) or "was deleted" not in answer.err + answer.out:
        wrong.append(f"{answer.code}: {answer.out}{answer.err}")
    if took_s > LIMIT_S:
        wrong.append(f"noticed after {took_s:.0f} s")
    return Outcome(leaks, 0, 0, took_s, "; ".join(wrong))


def clean(testbed: Testbed) -> None:
    del testbed
