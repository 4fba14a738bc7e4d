"""An SSH connection stays open, but no data arrives any more.

The run ends with a message, and `resume` repeats the trial.
"""

import contextlib
import random
import time

from tests.faults.fault import Outcome, resumed, trials
from tests.loop.command import Started
from tests.loop.hosts.sshd import Sshd, sshd
from tests.loop.testbed import Testbed

LIMIT_S = 180.0
"""The time limit, in seconds, from the fault to the end of the run.

It takes 75 s until ssh gives up, plus the time to connect again and clean up.
"""

_CAMPAIGN = """
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 32m}}
measure: {trials: 2, time: 4s, seed: 7}
"""
_RUNNING: dict[str, tuple[Started, float, Sshd, contextlib.ExitStack]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    stack = contextlib.ExitStack()
    server = stack.enter_context(sshd())
    started = Started(
        testbed.path,
        *testbed.words(testbed.campaign(_CAMPAIGN)),
        *("--on", "far"),
        path=f"{server.client_folder()}:",
    )
    started.wait_for(lambda: any(testbed.work.glob("poolproof-*/job.fio")), "no trial began", 240.0)
    time.sleep(chance.uniform(0.5, 3.0))
    assert server.silence() > 0
    _RUNNING[str(testbed.path)] = started, time.monotonic(), server, stack


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    started, begun, server, stack = _RUNNING.pop(str(testbed.path))
    with stack:
        answer = started.wait(LIMIT_S * 2)
        took_s, kept = time.monotonic() - begun, [str(each["number"]) for each in trials(testbed)]
        wrong = [] if answer.code == 4 and "far" in answer.error["message"] else [f"{answer.code}: {answer.err}"]
        if took_s > LIMIT_S:
            wrong.append(f"noticed after {took_s:.0f} s")
        server.break_links()
        leaks = testbed.traces()
        lost, failed = resumed(testbed, path=f"{server.client_folder()}:")
        leaks += testbed.traces()
        if len(trials(testbed)) != 2 or not kept:
            wrong.append(f"trials before: {kept}, after resume: {len(trials(testbed))}")
    return Outcome(len(leaks), 0, lost, took_s, "; ".join([*wrong, *([failed] if failed else []), *leaks]))


def clean(testbed: Testbed) -> None:
    del testbed
