"""A forged journal contains a command, a directory outside the run, or another program's process.

`clean` does nothing.
"""

import json
import random
import time
from typing import Any

from tests.faults.fault import CAMPAIGNS, WORKLOADS, Outcome
from tests.loop.command import ask
from tests.loop.testbed import Testbed

_PRECIOUS = b"precious\n"


def inject(testbed: Testbed, chance: random.Random) -> None:
    started = testbed.start(CAMPAIGNS["directory"] + WORKLOADS)
    testbed.wait_until_planned(started)
    started.kill()
    ask("clean", str(testbed.runs / "run"))
    precious = testbed.path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(_PRECIOUS)
    (testbed.path / "victim-poolproof").mkdir()
    pwned = str(precious / "pwned")
    undos: list[dict[str, Any]] = [
        {"kind": "command", "argv": ["sh", "-c", f"touch {pwned}"], "only_if": {"path": "/", "text": ""}},
        {"kind": "tree", "path": f"{testbed.path}/victim-poolproof/../precious"},
        {"kind": "tree", "path": str(precious)},
        {"kind": "daemon", "pidfile": str(precious / "file"), "marker": ""},
        {"kind": "mount", "mount_point": "/"},
        {"kind": "programs", "programs": ["sh"], "marker": "/"},
    ]
    line = {"line": "change", "number": 99, "title": "it", "argv": ["true"], "undo": chance.choice(undos), "schema": 1}
    with (testbed.runs / "run" / "journal.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    begun = time.monotonic()
    answer = ask("clean", str(testbed.runs / "run"))
    files = {path.name: path.read_bytes() for path in (testbed.path / "precious").iterdir()}
    foreign = 0 if files == {"file": _PRECIOUS} else sum(map(len, files.values())) or len(_PRECIOUS)
    why = "" if answer.code == 6 and "not performed" in answer.err else f"clean: {answer.code}: {answer.err}"
    return Outcome(len(testbed.traces()), foreign, 0, time.monotonic() - begun, why)


def clean(testbed: Testbed) -> None:
    (testbed.runs / "run" / "journal.jsonl").unlink()
