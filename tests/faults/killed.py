"""poolproof is killed by SIGKILL at a random moment. `clean` removes what it left, and `resume` keeps its trials."""

import random
import time

from tests.faults.fault import CAMPAIGNS, WORKLOADS, Outcome
from tests.loop.command import ask
from tests.loop.testbed import Testbed

SHARE = 4
"""How many injections of this fault follow each other, of all faults."""

_LATEST_S = 5.0


def inject(testbed: Testbed, chance: random.Random) -> None:
    kind = chance.choice(sorted(CAMPAIGNS))
    started = testbed.start(CAMPAIGNS[kind] + WORKLOADS)
    testbed.wait_until_planned(started)
    time.sleep(chance.uniform(0.0, _LATEST_S))
    started.kill()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    kept, begun = testbed.trial_lines(), time.monotonic()
    run = str(testbed.runs / "run")
    cleaned = ask("clean", run)
    noticed_s = time.monotonic() - begun
    leaks = len(testbed.traces())
    resumed = ask("resume", run, "--json") if chance.random() < 0.5 else None
    lost = sum(line not in testbed.trial_lines() for line in kept)
    why = "" if cleaned.code == 0 else f"clean: {cleaned.err}"
    why = why if resumed is None or resumed.code == 0 else f"resume: {resumed.err}"
    return Outcome(leaks + (len(testbed.traces()) if resumed else 0), 0, lost, noticed_s, why)


def clean(testbed: Testbed) -> None:
    del testbed
