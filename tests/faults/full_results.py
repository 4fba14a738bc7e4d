"""The file system with the results fills up during a run.

The run ends with a message, and `resume` completes it later.
"""

import random
import time

from tests.faults.fault import CAMPAIGNS, WORKLOADS, Outcome
from tests.loop.command import Answer, ask
from tests.loop.testbed import Testbed

_ENDED: dict[str, tuple[Answer, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    testbed.mount_ram("small", "2m")
    results = testbed.path / "small" / "run"
    (testbed.path / "small" / "ballast").write_bytes(bytes(chance.randrange(1900, 2000) * 1024))
    words = testbed.words(testbed.campaign(CAMPAIGNS["ext4"] + WORKLOADS))
    words[words.index("--out") + 1] = str(results)
    begun = time.monotonic()
    _ENDED[str(testbed.path)] = ask(*words), time.monotonic() - begun


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    answer, took_s = _ENDED.pop(str(testbed.path))
    (testbed.path / "small" / "ballast").unlink()
    leaks, run, why = len(testbed.traces()), testbed.path / "small" / "run", ""
    if answer.code not in (0, 1, 7) or "Traceback" in answer.err or "bug in poolproof" in answer.err:
        why = f"run: {answer.code}: {answer.err}"
    elif (run / "run.json").exists() and (resumed := ask("resume", str(run), "--json")).code != 0:
        why = f"resume: {resumed.code}: {resumed.err}"
    return Outcome(leaks + len(testbed.traces()), 0, 0, took_s, why)


def clean(testbed: Testbed) -> None:
    del testbed
