"""Kill runs on ZFS, md, LVM and LUKS at random moments, and print what they leave behind.

    python -m tests.lab.kills [N] [SEED] [ZFS]

In a lab with one OpenZFS series (default: 2.1), N runs (default: 20) are killed with SIGKILL while a layout is built,
measured or removed. After each kill, `clean` must leave nothing in the lab. After every second kill, `resume` must
finish the run and keep all trials that were finished before. The exit code is 1 if a kill was not survived. The same
seed repeats the random choices, but not the exact moments.
"""

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import arguments

from tests.loop.command import Started

from .machine import Machine, leftovers, new_name, poolproof

LAYOUTS = {
    "zfs": "layouts: {one: zfs mirror a b, two: zfs mirror a b | zvol 64M | ext4}",
    "log": "layouts: {one: zfs mirror a b, two: zfs mirror a b log c}",
    "raidz": "layouts: {one: 'zfs raidz a b c', two: 'zfs a cache c'}",
    "md": "layouts: {one: 'md raid1 a b | xfs', two: 'md raid5 a b c | ext4'}",
    "lvm": "layouts: {one: 'lvm linear a b | ext4', two: 'lvm cache a cachevol c | ext4'}",
    "luks": "layouts: {one: a | luks | ext4, two: 'btrfs raid1 (a | luks) (b | luks)'}",
}
"""One campaign for each technology that needs a kernel module."""

_REST = """
devices: {a: {file: 400M}, b: {file: 400M}, c: {file: 400M}}
workloads:
  reads: {rw: randread, bs: 16k, size: 16m, iodepth: 4}
  writes: {rw: randwrite, bs: 16k, size: 16m, fdatasync: 8, ioengine: psync}
measure: {trials: 1, time: 1s, seed: 7}
"""
_LIMIT_S = 900.0
_POLL_S = 0.01


@dataclass(frozen=True)
class Killed:
    """A run that was killed.

    `why`: what was wrong afterwards.
    `lost`: the number of trials that had been finished before, but were lost.
    """

    layer: str
    phase: str
    lost: int
    cleaned_s: float
    why: str


def _lines(run: Path, name: str, word: str = "") -> list[str]:
    path = run / name
    return [line for line in path.read_text().splitlines(keepends=True) if word in line] if path.exists() else []


def _building(run: Path, chance: random.Random) -> Callable[[], bool]:
    changes = chance.randrange(14)
    return lambda: len(_lines(run, "journal.jsonl", '"line":"change"')) >= changes


def _measuring(run: Path, chance: random.Random) -> Callable[[], bool]:
    trials = chance.randrange(1, 4)
    return lambda: len(_lines(run, "trials.jsonl")) >= trials


def _removing(run: Path, chance: random.Random) -> Callable[[], bool]:
    undone = chance.randrange(1, 10)
    return lambda: len(_lines(run, "journal.jsonl", '"line":"undone"')) >= undone


_PHASES = {"build": _building, "trial": _measuring, "teardown": _removing}


def kill(lab: Machine, folder: Path, layer: str, phase: str, chance: random.Random) -> Killed:
    """Start a run, kill it at a random moment of the given phase, clean up, and possibly resume it."""
    campaign, run = folder / "campaign.yaml", folder / "run"
    campaign.write_text(f"name: kills\n{LAYOUTS[layer]}{_REST}")
    started = Started(folder, "run", str(campaign), "--on", lab.on, "--out", str(run), "--plain")
    reached, deadline = _PHASES[phase](run, chance), time.monotonic() + _LIMIT_S
    while started.running and time.monotonic() < deadline and not ((run / "run.json").exists() and reached()):
        time.sleep(_POLL_S)
    time.sleep(chance.uniform(0.0, 3.0))
    ended = not started.running
    started.kill()
    if ended:
        answer = started.wait()
        return Killed(
            layer, "ended before", 0, 0.0, "" if answer.code == 0 else f"run: {answer.code}: {answer.err[-600:]}"
        )
    kept, begun = _lines(run, "trials.jsonl", "}\n"), time.monotonic()
    cleaned = poolproof("clean", str(run), "--json")
    took_s = time.monotonic() - begun
    why = "" if cleaned.code == 0 else f"clean: {cleaned.code}: {cleaned.out}{cleaned.err}"
    why += leftovers(lab)
    if not why and chance.random() < 0.5:
        resumed = poolproof("resume", str(run), "--json")
        why += "" if resumed.code == 0 else f"resume: {resumed.code}: {resumed.out[-600:]}{resumed.err[-600:]}"
        why += leftovers(lab)
    after = _lines(run, "trials.jsonl")
    return Killed(layer, phase, sum(line not in after for line in kept), took_s, why)


def _main() -> int:
    words = arguments(__doc__)
    count, seed, series = int(words[0]) if words else 20, int(words[1]) if words[1:] else 1, (*words[2:3], "2.1")[0]
    chance, found = random.Random(seed), list[Killed]()
    lab = Machine.start(new_name(), "--zfs", series, "--cpus=1")
    begun = time.monotonic()
    try:
        for number in range(count):
            layer, phase = chance.choice(sorted(LAYOUTS)), chance.choice(sorted(_PHASES))
            with tempfile.TemporaryDirectory() as folder:
                found.append(kill(lab, Path(folder), layer, phase, chance))
            each = found[-1]
            text = f"{number + 1}: {each.layer}, {each.phase}: {each.why or 'nothing left'}, {each.lost} trials lost"
            print(f"{text}, clean {each.cleaned_s:.1f} s, {time.monotonic() - begun:.0f} s so far", flush=True)
    finally:
        lab.remove()
    killed = [each for each in found if each.cleaned_s]
    bad = [each for each in found if each.why or each.lost]
    longest = max((each.cleaned_s for each in killed), default=0.0)
    survived = f"{len(killed)} killed, {len(killed) - len(bad)} survived"
    print(f"OpenZFS {series}, seed {seed}: {survived}, longest cleanup {longest:.1f} s")
    print(
        json.dumps({"layers": Counter(each.layer for each in killed), "phases": Counter(each.phase for each in killed)})
    )
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(_main())
