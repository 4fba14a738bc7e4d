"""A directory on a real disk in which a test runs campaigns, and the proof that nothing of them stays."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.loop.command import Answer, Started, ask
from tests.loop.traces import traces_of

_LIMIT_S = 180.0
SLOW_S = 0.3
Cells = dict[tuple[str, str], dict[str, Any]]


class Ground:
    """`path` is the test's own directory; runs keep their state in `work` and their results in `runs`."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="poolproof-live-", dir="/var/tmp"))
        self.work = self.path / "work"
        self.runs = self.path / "runs"
        self.data = self.path / "data"
        for folder in (self.work, self.runs, self.data):
            folder.mkdir()
        self._taken_down: list[list[str]] = []

    def campaign(self, text: str, name: str = "c") -> Path:
        """The text as a campaign file; `{data}` in it is a directory for `dir` layouts."""
        path = self.path / f"{name}.yaml"
        path.write_text(text.replace("{data}", str(self.data)))
        return path

    def words(self, campaign: Path, run: str = "run") -> list[str]:
        """The arguments that run the campaign into `runs/RUN`."""
        return ["run", str(campaign), "--out", str(self.runs / run), "--work", str(self.work), "--json"]

    def ask(self, text: str, run: str = "run") -> Answer:
        """Run a campaign text to its end, whatever that is."""
        return ask(*self.words(self.campaign(text), run))

    def cells(self, text: str, run: str = "run") -> Cells:
        """Run a campaign that is in order; its cells by layout and workload."""
        answer = self.ask(text, run)
        assert answer.code == 0, answer.out + answer.err
        return {(cell["layout"], cell["workload"]): cell for cell in answer.json["cells"]}

    def start(self, text: str, *, slow: str = "") -> Started:
        """Run a campaign beside the test. The program `slow` takes SLOW_S longer, so that its moment can be met."""
        path = f"{self._slowed(slow)}:" if slow else ""
        return Started(self.path, *self.words(self.campaign(text)), path=path)

    def _slowed(self, program: str) -> Path:
        folder = self.path / "slow"
        folder.mkdir()
        script = folder / program
        script.write_text(f'#!/bin/sh\nsleep {SLOW_S}\nexec {shutil.which(program)} "$@"\n')
        script.chmod(0o755)
        return folder

    def await_begun(self, started: Started, run: str = "run") -> None:
        """Wait until the plan is made, before anything is built: to tell their versions, programs run sooner."""
        started.await_that((self.runs / run / "run.json").exists, "no run.json")

    def resume(self, run: str = "run") -> Started:
        """Go on with a run beside the test."""
        return Started(self.path, "resume", str(self.runs / run), "--json")

    def trial_lines(self, run: str = "run") -> list[str]:
        """The finished trials of a run, as they stand on disk."""
        file = self.runs / run / "trials.jsonl"
        return file.read_text().splitlines() if file.exists() else []

    def label(self, run: str = "run") -> str:
        """The label of a run, which is in the name of everything that it makes."""
        label: str = json.loads((self.runs / run / "run.json").read_text())["label"]
        return label

    def command(self, *argv: str) -> str:
        """Run a program of the test's own; what it printed."""
        return subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=True).stdout.strip()

    def fio(self, **options: object) -> None:
        """Run fio by hand, without poolproof."""
        self.command("fio", "--eta=never", "--name=hand", *(f"--{name}={value}" for name, value in options.items()))

    def loop_mount(
        self, name: str, kind: str, size: str, *, direct_io: str = "on", within: Path | None = None, options: str = "rw"
    ) -> Path:
        """A file system by hand, on a loop device over a file `within` a directory; taken down at the end."""
        image, point = (within or self.path) / f"{name}.img", self.path / name
        point.mkdir()
        self.command("truncate", "-s", size, str(image))
        device = self.command("losetup", "--find", "--show", f"--direct-io={direct_io}", str(image))
        self._taken_down.append(["losetup", "--detach", device])
        self.command(f"mkfs.{kind}", "-q", device)
        self.command("mount", "-o", options, device, str(point))
        self._taken_down.append(["umount", str(point)])
        return point

    def mount_ram(self, name: str, size: str) -> Path:
        """A tmpfs of that size; taken down at the end."""
        point = self.path / name
        point.mkdir()
        self.command("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(point))
        self._taken_down.append(["umount", str(point)])
        return point

    def traces(self) -> list[str]:
        """What poolproof has left: in the work directory, in the data directory, and on the machine."""
        kept = [str(path) for folder in (self.work, self.data) for path in folder.glob("poolproof-*")]
        labels = [json.loads(file.read_text())["label"] for file in self.runs.glob("*/run.json")]
        return kept + traces_of(str(self.work)) + [trace for label in labels for trace in traces_of(label)]

    def close(self) -> None:
        """Take all down, also what a run that failed has left: it would be in the way of the tests that follow."""
        for run in self.runs.glob("*/run.json") if self.traces() else ():
            ask("clean", str(run.parent))
        for argv in reversed(self._taken_down):
            self.command(*argv)
        shutil.rmtree(self.path)
