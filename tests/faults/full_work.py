"""The work directory fills up while a layout is built.

The layout fails, and no program that serves its disk is left.
"""

import random
import time

from tests.faults.fault import Outcome
from tests.loop.command import Answer, Started, ask
from tests.loop.testbed import Testbed

LIMIT_S = 120.0
"""The time limit, in seconds, from planning to the end of the run, including cleanup."""

_CAMPAIGN = """
devices: {a: {emulate: nvme, size: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 32m}}
measure: {trials: 1, time: 1s, seed: 7}
"""
_ENDED: dict[str, tuple[Answer, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    small = testbed.mount_ram("small", "1m")
    (small / "ballast").write_bytes(bytes((1024 - chance.choice((0, 4, 8, 12, 16))) * 1024 - 4096))
    words = testbed.words(testbed.campaign(_CAMPAIGN))
    words[words.index("--work") + 1] = str(small)
    started = Started(testbed.path, *words)
    started.wait_for((testbed.runs / "run" / "run.json").exists, "no run.json", 240.0)
    begun = time.monotonic()
    _ENDED[str(testbed.path)] = started.wait(), time.monotonic() - begun


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    answer, took_s = _ENDED.pop(str(testbed.path))
    (testbed.path / "small" / "ballast").unlink()
    wrong = [] if answer.code in (0, 4, 5, 6) else [f"{answer.code}: {answer.out}{answer.err}"]
    if took_s > LIMIT_S:
        wrong.append(f"it took {took_s:.0f} s")
    if (testbed.runs / "run" / "run.json").exists():
        cleaned = ask("clean", str(testbed.runs / "run"))
        wrong += [] if cleaned.code == 0 else [f"clean: {cleaned.err}"]
    leaks = [*testbed.traces(), *(str(path) for path in (testbed.path / "small").iterdir())]
    return Outcome(len(leaks), 0, 0, took_s, "; ".join([*wrong, *leaks]))


def clean(testbed: Testbed) -> None:
    del testbed
