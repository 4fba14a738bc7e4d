"""Two campaigns use the same existing directory at the same time.

The second is refused, and neither affects the other.
"""

import random
import time

from tests.faults.fault import Outcome, start_measuring
from tests.loop.command import Started, ask
from tests.loop.testbed import Testbed

LIMIT_S = 60.0
"""The time limit, in seconds, until the second campaign is refused."""

_CAMPAIGN = """
layouts: {one: 'dir {data}'}
workloads: {writes: {rw: randwrite, bs: 16k, size: 32m}}
measure: {trials: 1, time: 45s, seed: 7}
"""
_RUNNING: dict[str, tuple[Started, float]] = {}
_OWN = b"a file of the user\n"


def inject(testbed: Testbed, chance: random.Random) -> None:
    del chance
    (testbed.data / "own").write_bytes(_OWN)
    _RUNNING[str(testbed.path)] = start_measuring(testbed, _CAMPAIGN, "--share-host"), time.monotonic()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    started, begun = _RUNNING.pop(str(testbed.path))
    shares = chance.choice((("--share-host",), ()))
    second = ask(*testbed.words(testbed.path / "c.yaml", "second"), *shares)
    took_s, wrong = time.monotonic() - begun, []
    if second.code != 4 or "another poolproof run" not in second.out + second.err:
        wrong.append(f"the second run: {second.code}: {second.out}{second.err}")
    if (testbed.runs / "second" / "trials.jsonl").exists():
        wrong.append("the second run measured something")
    first = started.wait(240.0)
    if first.code != 0:
        wrong.append(f"the first run: {first.code}: {first.err}")
    kept = {path.name: path.read_bytes() for path in testbed.data.iterdir()}
    foreign = 0 if kept == {"own": _OWN} else max(1, sum(map(len, kept.values())))
    leaks = testbed.traces()
    return Outcome(len(leaks), foreign, 0, took_s, "; ".join([*wrong, *leaks]))


def clean(testbed: Testbed) -> None:
    del testbed
