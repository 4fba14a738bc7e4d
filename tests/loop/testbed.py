"""A directory on a real disk in which a test runs campaigns, and a check that they leave nothing behind."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.loop.command import Answer, Started, ask
from tests.loop.leftovers import leftovers_of

_PARENT = Path("/var/tmp")
_PREFIX = "poolproof-live-"
_LIMIT_S = 180.0
SLOW_S = 0.3
Cells = dict[tuple[str, str], dict[str, Any]]


def judged(entry: Mapping[str, Any], *expected: str) -> str:
    """Return the verdict of a cell or trial, ignoring the `expected` rules and the effects of other programs."""
    about = [each for each in entry["findings"] if not each.get("metrics") or entry.get("metric") in each["metrics"]]
    causes = {finding["rule"] for finding in about if finding["effect"] != "notes"}
    explained = entry["verdict"] == "suspect" and causes and causes <= {"other-work", *expected}
    return "sound" if explained else str(entry["verdict"])


class Testbed:
    """The directory `path` for one test. Runs use `work` for their state, and `runs` for their results."""

    __test__ = False

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_PARENT))
        self.work = self.path / "work"
        self.runs = self.path / "runs"
        self.data = self.path / "data"
        for folder in (self.work, self.runs, self.data):
            folder.mkdir()
        self._undo_commands: list[list[str]] = []

    def campaign(self, text: str, name: str = "c") -> Path:
        """Write a campaign file. `{data}` in its text is replaced with the path of a directory for `dir` layouts."""
        path = self.path / f"{name}.yaml"
        path.write_text(text.replace("{data}", str(self.data)))
        return path

    def words(self, campaign: Path, run: str = "run") -> list[str]:
        """Return the arguments of poolproof that run the campaign and save the results in `runs/RUN`."""
        return ["run", str(campaign), "--out", str(self.runs / run), "--work", str(self.work), "--json"]

    def ask(self, text: str, run: str = "run") -> Answer:
        """Run a campaign to its end, and return the answer, whether it succeeds or fails."""
        return ask(*self.words(self.campaign(text), run))

    def cells(self, text: str, run: str = "run") -> Cells:
        """Run a campaign that must succeed, and return its cells, keyed by layout and workload."""
        answer = self.ask(text, run)
        assert answer.code == 0, answer.out + answer.err
        return {(cell["layout"], cell["workload"]): cell for cell in answer.json["cells"]}

    def start(self, text: str, *, slow: str = "") -> Started:
        """Start a campaign in the background.

        The program named `slow` takes SLOW_S seconds longer, so that the test can interrupt it.
        """
        path = f"{self._slowed(slow)}:" if slow else ""
        return Started(self.path, *self.words(self.campaign(text)), path=path)

    def _slowed(self, program: str) -> Path:
        folder = self.path / "slow"
        folder.mkdir()
        script = folder / program
        script.write_text(f'#!/bin/sh\nsleep {SLOW_S}\nexec {shutil.which(program)} "$@"\n')
        script.chmod(0o755)
        return folder

    def wait_until_planned(self, started: Started, run: str = "run") -> None:
        """Wait until the run is planned but nothing is built yet.

        Before that, programs are run only to print their versions.
        """
        started.wait_for((self.runs / run / "run.json").exists, "no run.json")

    def resume(self, run: str = "run") -> Started:
        """Resume a run in the background."""
        return Started(self.path, "resume", str(self.runs / run), "--json")

    def trial_lines(self, run: str = "run") -> list[str]:
        """Return the finished trials of a run, as lines of the file on the disk."""
        file = self.runs / run / "trials.jsonl"
        return file.read_text().splitlines() if file.exists() else []

    def label(self, run: str = "run") -> str:
        """Return the label of a run, which is part of the names of everything that the run creates."""
        label: str = json.loads((self.runs / run / "run.json").read_text())["label"]
        return label

    def command(self, *argv: str) -> str:
        """Run a program for the test itself, and return its output."""
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S)
        assert done.returncode == 0, f"{argv} failed with exit code {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def fio(self, **options: object) -> None:
        """Run fio directly, without poolproof."""
        self.command("fio", "--eta=never", "--name=hand", *(f"--{name}={value}" for name, value in options.items()))

    def loop_mount(
        self,
        name: str,
        kind: str,
        size: str,
        *,
        direct_io: str = "on",
        within: Path | None = None,
        options: str = "rw",
        create: Sequence[str] = (),
    ) -> Path:
        """Mount a new file system on a loop device, whose file is in `within`. It is removed at the end of the test.

        `create`: further arguments for mkfs.
        """
        device = self.loop_device((within or self.path) / f"{name}.img", size, direct_io)
        return self._mounted(device, name, kind, options, create)

    def loop_device(self, image: Path, size: str, direct_io: str = "on") -> str:
        """Create a file and a loop device for it, and return the device. It is detached at the end of the test."""
        self.command("truncate", "-s", size, str(image))
        return self._attached(image, direct_io)

    def mount_with_errors(self, name: str, kind: str, size: str, *, trigger: Path, options: str = "rw") -> Path:
        """Mount a new file system on a disk that returns EIO for each write while the file `trigger` exists.

        The disk is a loop device, whose file nbdkit serves. It is removed at the end of the test.
        """
        folder = self.path / f"{name}-served"
        folder.mkdir()
        image, actions = folder / "disk", ("pwrite", "zero", "trim")
        errors = [word for each in actions for word in (f"error-{each}=EIO", f"error-{each}-rate=100%")]
        server = ["nbdkit", "-s", "--exit-with-parent", "--filter=error", "memory", size, *errors]
        served = ["nbdfuse", str(image), "--command", *server, f"error-file={trigger}"]
        self.command("sh", "-c", '"$@" >/dev/null 2>&1 &', "sh", *served)
        deadline = time.monotonic() + _LIMIT_S
        while not folder.is_mount():
            assert time.monotonic() < deadline, f"{served} does not mount {folder}"
            time.sleep(0.05)
        self._undo_commands.append(["umount", str(folder)])
        return self._mounted(self._attached(image, "off"), name, kind, options)

    def _attached(self, image: Path, direct_io: str) -> str:
        device = self.command("losetup", "--find", "--show", f"--direct-io={direct_io}", str(image))
        self._undo_commands.append(["losetup", "--detach", device])
        return device

    def _mounted(self, device: str, name: str, kind: str, options: str, create: Sequence[str] = ()) -> Path:
        point = self.path / name
        point.mkdir()
        self.command(f"mkfs.{kind}", "-q", *create, device)
        self.command("mount", "-o", options, device, str(point))
        self._undo_commands.append(["umount", str(point)])
        return point

    def mount_ram(self, name: str, size: str) -> Path:
        """Mount a tmpfs of the given size. It is removed at the end of the test."""
        point = self.path / name
        point.mkdir()
        self.command("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(point))
        self._undo_commands.append(["umount", "--lazy", str(point)])  # a loop device is detached later if it is open
        return point

    def traces(self) -> list[str]:
        """Return everything that poolproof has left in the work directory, in the data directory and on the machine."""
        kept = [str(path) for folder in (self.work, self.data) for path in folder.glob("poolproof-*")]
        labels = [json.loads(file.read_text())["label"] for file in self.runs.glob("*/run.json")]
        return kept + leftovers_of(str(self.work)) + [trace for label in labels for trace in leftovers_of(label)]

    def close(self) -> None:
        """Remove everything, including what a failed run has left, because that would disturb later tests."""
        for run in self.runs.glob("*/run.json") if self.traces() else ():
            ask("clean", str(run.parent))
        for argv in reversed(self._undo_commands):
            self.command(*argv)
        shutil.rmtree(self.path)


def remove_dead_testbeds() -> None:
    """Remove the testbeds of killed test processes, with what their runs have left on the machine.

    The mounts of a dead run would make tests fail: mkfs.btrfs, for example, examines every mounted loop device.
    """
    for path in _PARENT.glob(f"{_PREFIX}*"):
        pid = path.name.removeprefix(_PREFIX).partition("-")[0]
        if Path("/proc", pid).exists():
            continue
        print(f"removing {path}, which a killed test process has left")
        answer = ask("clean", "--work", str(path / "work"))
        if answer.code == 0 or not path.exists():
            with contextlib.suppress(FileNotFoundError):  # another test session that has just started removes it too
                shutil.rmtree(path)
        else:  # it is still running, for example
            print(answer.out + answer.err)
