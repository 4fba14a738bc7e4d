"""The protocol of a fault module, the outcome of a fault, and campaigns and checks that several faults share."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.loop.command import Started, ask
from tests.loop.testbed import Testbed

CAMPAIGNS = {
    "directory": "layouts: {one: 'dir {data}', two: 'dir {data}'}",
    "ext4": "devices: {a: {file: 512M}}\nlayouts: {one: a | ext4, two: a | xfs}",
}
WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 16m, iodepth: 4}
measure: {trials: 1, time: 500ms, seed: 7}
"""
ONE_SICK_DISK = """
devices: {a: {emulate: nvme, size: 256M}, b: {file: 256M}}
layouts: {one: a | ext4, two: b | ext4}
workloads:
  reads: {rw: randread, bs: 16k, size: 32m, iodepth: 4}
measure: {trials: 1, time: 15s, seed: 7}
"""
"""A campaign in which the layout `one` uses the disk with the fault, and the layout `two` does not.

On a busy machine, a fault may be several seconds late.
"""

_THREE_TRIALS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 16m, iodepth: 4}
measure: {trials: 3, time: 1s, seed: 7}
"""
_MEET_S = 240.0
_POLL_S = 0.01
_LIMIT_S = 420.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of injecting a fault.

    `noticed_s`: the time, in seconds, until poolproof had ended or cleaned up.
    `kind`: the variant of the fault, or an empty string if the fault came too late.
    `why`: what was wrong afterwards.
    """

    leaks: int
    foreign_bytes: int
    lost_trials: int
    noticed_s: float
    why: str = ""
    kind: str = "-"

    @property
    def survived(self) -> bool:
        """True if nothing was left behind, lost, or written where it does not belong."""
        return not (self.leaks or self.foreign_bytes or self.lost_trials or self.why)


class Fault(Protocol):
    """A module in this package. The random numbers are seeded, so that a failure can be reproduced."""

    def inject(self, testbed: Testbed, chance: random.Random) -> None:
        """Start a run, and cause the fault."""

    def expect(self, testbed: Testbed, chance: random.Random) -> Outcome:
        """Check how poolproof reacted."""

    def clean(self, testbed: Testbed) -> None:
        """Remove what the fault itself created."""


def served_by(testbed: Testbed, before: str = "", after: str = "") -> str:
    """Return a folder to put on the PATH. Its `nbdkit` adds the given arguments when it serves an emulated disk."""
    folder, program = testbed.path / "programs", shutil.which("nbdkit")
    folder.mkdir()
    script = folder / "nbdkit"
    script.write_text(f'#!/bin/sh\n[ "$1" = -U ] || exec {program} "$@"\nexec {program} {before} "$@" {after}\n')
    script.chmod(0o755)
    return f"{folder}:"


def start_measuring(testbed: Testbed, text: str, *more: str, path: str = "") -> Started:
    """Start a campaign, and return one second after fio has started to measure."""
    started = Started(testbed.path, *testbed.words(testbed.campaign(text)), *more, path=path)
    started.wait_for_program("fio", "job.fio", _MEET_S)
    time.sleep(1.0)
    return started


def signal_programs(testbed: Testbed, name: str, number: signal.Signals) -> None:
    """Send a signal to every process with this name that belongs to the testbed."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            named = (folder / "comm").read_text().strip() == name
            if named and str(testbed.path) in (folder / "cmdline").read_text():
                os.kill(int(folder.name), number)
                found += 1
        except OSError:
            continue
    assert found, f"no {name} is running; finished trials: {testbed.trial_lines()}"


def trials(testbed: Testbed) -> list[dict[str, Any]]:
    """Return the finished trials of the run."""
    return [json.loads(line) for line in testbed.trial_lines()]


def noticed(
    testbed: Testbed, started: Started, begun: float, message: str, *, limit_s: float, fails: bool = True
) -> Outcome:
    """Wait for the end of a run in which layout `one` had a fault, and check what the run reported.

    A trial of `one` must have a finding that contains `message`. `two` must have a result.

    `fails`: whether the trial of `one` must have failed.
    """
    answer = started.wait(_LIMIT_S)
    took_s, found = time.monotonic() - begun, trials(testbed)
    texts = [finding["message"] for trial in found if trial["layout"] == "one" for finding in trial["findings"]]
    verdicts = {(trial["layout"], trial["verdict"] == "failed") for trial in found}
    wrong = []
    if answer.code != 0 or "Traceback" in answer.err:
        wrong.append(f"exit code {answer.code}: {answer.err}")
    if not any(message in text for text in texts):
        wrong.append(f"no finding has {message!r}: {texts}")
    if verdicts != {("one", fails), ("two", False)}:
        wrong.append(f"verdicts (failed?): {verdicts}")
    if took_s > limit_s:
        wrong.append(f"the run took another {took_s:.0f} s, and the limit is {limit_s:g} s")
    leaks = testbed.traces()
    return Outcome(len(leaks), 0, 0, took_s, "; ".join([*wrong, *leaks]))


def resumed(testbed: Testbed, *, run: Path | None = None, kept: Sequence[str] = (), path: str = "") -> tuple[int, str]:
    """Resume the run. Return how many of the `kept` lines were lost, and what was wrong."""
    folder = run or testbed.runs / "run"
    answer = ask("resume", str(folder), "--json", env={"PATH": path + os.environ["PATH"]})
    lines = (folder / "trials.jsonl").read_text().splitlines()
    lost = sum(line not in lines for line in kept)
    unfinished = [line for line in lines if '"interrupted":true' in line]
    wrong = "" if answer.code == 0 else f"resume: {answer.code}: {answer.out[-600:]}{answer.err}"
    return lost, wrong or ("a trial was not repeated" if unfinished else "")


def run_with_results_on(testbed: Testbed, point: Path, chance: random.Random) -> tuple[Started, list[str]]:
    """Start a campaign whose results are saved in `point`, and return at a random moment after the first trial.

    Returns the run, and the lines of the trials that have reached the disk.
    """
    words = testbed.words(testbed.campaign(CAMPAIGNS["ext4"] + _THREE_TRIALS))
    words[words.index("--out") + 1] = str(point / "run")
    started = Started(testbed.path, *words)
    file = point / "run" / "trials.jsonl"
    started.wait_for(file.exists, "no trial ended", _MEET_S)
    time.sleep(chance.uniform(0.0, 2.0))
    kept = file.read_text().splitlines()
    testbed.command("sync", str(file))
    return started, kept


def results_repaired(
    testbed: Testbed, point: Path, started: Started, begun: float, kept: Sequence[str], *, limit_s: float
) -> Outcome:
    """Wait for the end of a run whose results could not be written. Then repair their file system, and resume the run.

    `point`: where the file system is mounted.
    """
    answer = started.wait(limit_s * 4)
    took_s, wrong = time.monotonic() - begun, []
    if answer.code in (0, 70) or "cannot be written" not in answer.err + answer.out:
        wrong.append(f"{answer.code}: {answer.out}{answer.err}")
    if took_s > limit_s:
        wrong.append(f"noticed after {took_s:.0f} s")
    leaks = testbed.traces()
    device = testbed.command("findmnt", "-no", "SOURCE", str(point))
    testbed.command("umount", str(point))
    testbed.command("sh", "-c", 'e2fsck -fy "$0" >/dev/null 2>&1; [ $? -le 2 ]', device)
    testbed.command("mount", device, str(point))
    lost, failed = resumed(testbed, run=point / "run", kept=kept)
    leaks += testbed.traces()
    return Outcome(len(leaks), 0, lost, took_s, "; ".join([*wrong, *([failed] if failed else []), *leaks]))
