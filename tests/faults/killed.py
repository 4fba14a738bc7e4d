"""poolproof is killed with SIGKILL at a random moment. `clean` removes what is left, and `resume` keeps its trials.

The moment is in one of five phases: while a layout is built, filled, remounted, measured or removed.
"""

import random
import time
from collections.abc import Callable

from tests.faults.fault import Outcome
from tests.loop.command import Started, ask
from tests.loop.testbed import Testbed

SHARE = 0
"""The number of times that this fault is injected is set by `--kills` instead."""

LAYERS = {
    "dir": "layouts: {one: 'dir {data}', two: 'dir {data}'}",
    "ext4": "devices: {a: {file: 512M}}\nlayouts: {one: a | ext4, two: a | ext4 noatime}",
    "xfs": "devices: {a: {file: 512M}}\nlayouts: {one: a | xfs, two: a | xfs noatime}",
    "btrfs": "devices: {a: {file: 512M}, b: {file: 512M}}\nlayouts: {one: btrfs raid1 a b, two: btrfs a b}",
    "mergerfs": (
        "devices: {a: {file: 512M}, b: {file: 512M}}\nlayouts: {one: mergerfs (a | ext4) (b | xfs), two: a | xfs}"
    ),
    "emulated": "devices: {a: {emulate: nvme, size: 256M}}\nlayouts: {one: a | ext4, two: a}",
    "qcow2": "devices: {a: {qcow2: 512M}}\nlayouts: {one: a | ext4, two: a}",
}
"""One campaign for each layer that needs no kernel module except those for loop devices and FUSE."""

_WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 32m, iodepth: 4}
  writes: {rw: randwrite, bs: 16k, size: 32m, iodepth: 4, end_fsync: 1}
measure: {trials: 1, time: 1s, seed: 7}
"""
_LIMIT_S = 120.0
_POLL_S = 0.002


def _await(started: Started, condition: Callable[[], bool]) -> None:
    """Wait until the condition is true or poolproof has ended."""
    deadline = time.monotonic() + _LIMIT_S
    while started.running and not condition() and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _lines(testbed: Testbed, word: str) -> int:
    journal = testbed.runs / "run" / "journal.jsonl"
    return sum(word in line for line in journal.read_text().splitlines()) if journal.exists() else 0


def _building(testbed: Testbed, started: Started, chance: random.Random) -> None:
    changes = chance.randrange(8)
    _await(started, lambda: _lines(testbed, '"line":"change"') >= changes)
    time.sleep(chance.uniform(0.0, 0.2))


def _filling(testbed: Testbed, started: Started, chance: random.Random) -> None:
    del testbed
    _await(started, lambda: started.runs("fio", "fill.fio"))
    time.sleep(chance.uniform(0.0, 0.2))


def _cooling(testbed: Testbed, started: Started, chance: random.Random) -> None:
    """Wait for the time between two trials, when the layout is unmounted and mounted again."""
    _await(started, lambda: bool(testbed.trial_lines()))
    time.sleep(chance.uniform(0.0, 0.4))


def _measuring(testbed: Testbed, started: Started, chance: random.Random) -> None:
    trials = chance.randrange(2)
    _await(started, lambda: len(testbed.trial_lines()) >= trials and started.runs("fio", "job.fio"))
    time.sleep(chance.uniform(0.0, 1.0))


def _removing(testbed: Testbed, started: Started, chance: random.Random) -> None:
    undone = chance.randrange(1, 9)
    _await(started, lambda: _lines(testbed, '"line":"undone"') >= undone)
    time.sleep(chance.uniform(0.0, 0.1))


_PHASES = {"build": _building, "fill": _filling, "cool": _cooling, "trial": _measuring, "teardown": _removing}
_KIND: dict[str, str] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    layer, phase = chance.choice(sorted(LAYERS)), chance.choice(sorted(_PHASES))
    started = testbed.start(LAYERS[layer] + _WORKLOADS)
    _await(started, (testbed.runs / "run" / "run.json").exists)
    _PHASES[phase](testbed, started, chance)
    # a run that had just ended was not killed
    _KIND[str(testbed.path)] = f"{layer}, {phase}" if started.running else ""
    started.kill()


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    kept, begun = testbed.trial_lines(), time.monotonic()
    kind, run = _KIND.pop(str(testbed.path)), str(testbed.runs / "run")
    cleaned = ask("clean", run)
    noticed_s = time.monotonic() - begun
    leaks = testbed.traces()
    resumed = ask("resume", run, "--json") if chance.random() < 0.5 else None
    lost = sum(line not in testbed.trial_lines() for line in kept)
    why = "" if cleaned.code == 0 else f"clean: {cleaned.err}"
    why = why if resumed is None or resumed.code == 0 else f"resume: {resumed.code}: {resumed.out[-600:]}{resumed.err}"
    leaks += testbed.traces() if resumed else []
    return Outcome(len(leaks), 0, lost, noticed_s, why or "; ".join(leaks), kind=kind)


def clean(testbed: Testbed) -> None:
    del testbed
