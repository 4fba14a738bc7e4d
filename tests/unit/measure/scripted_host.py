"""A host that replays the answers of a real machine during a real run of two layouts under two workloads.

The record in `captured/two-layouts.json.gz` contains all answers in their order, keyed by command, file or set of
files. To record it again on this machine as root, with real loop files, mkfs.ext4 and fio: `python -m
tests.unit.measure.scripted_host`.
"""

import contextlib
import gzip
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from poolproof.campaign.yaml import parse_campaign
from poolproof.devices import loop
from poolproof.evidence import other_work
from poolproof.facts import conditions
from poolproof.hosts.base import FileMissing, Host, Tick
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.generator import FORGET
from poolproof.measure import free_space, own_storage
from poolproof.measure.conduct import conduct
from poolproof.measure.model import Listener
from poolproof.measure.plan import BuildDirectories, RunPlan, make_plan
from poolproof.process import CommandFailed, Completed
from poolproof.provision import owned, swappable
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import RunRecord

RECORD = Path(__file__).parent / "captured" / "two-layouts.json.gz"
SEED = 7
CAMPAIGN = """\
devices: {a: file:96M, b: file:96M}
layouts: {one: a | ext4, two: b | ext4}
workloads:
  reads: {rw: randread, bs: 16k, iodepth: 4, size: 8m}
  writes: {rw: write, bs: 256k, size: 8m}
measure: {time: 500ms, trials: 1}
"""
_DIRECTORIES = BuildDirectories("scripted", "/var/tmp/poolproof-scripted", "/dev/shm/poolproof-scripted")
_MOUNT_TABLES = ("/proc/self/mountinfo", "/proc/self/mounts")

_ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            conditions.SCRIPT,
            other_work.SCRIPT,
            free_space.FREE,
            owned.IS_REAL,
            FORGET,
            swappable.LISTS,
            loop.IS_ATTACHED,
            own_storage.IDENTIFY,
        ),
        "",
    ),
    swappable.PARENTS: "0\n 0 0 755 root root /\n",
}
"""The answers to questions that are not in the record: nothing exists, a path contains no links, root owns it,
and a loop device is attached to its file.

The kernel log is empty.
"""

Argv = tuple[str, ...]
_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")


class Script(msgspec.Struct):
    """The recorded answers, in their original order. A file that could not be read is None."""

    commands: list[tuple[Argv, Completed]] = msgspec.field(default_factory=list)
    files: list[tuple[str, str | None]] = msgspec.field(default_factory=list)
    ticks: list[tuple[Argv, Tick]] = msgspec.field(default_factory=list)
    streams: list[list[Tick]] = msgspec.field(default_factory=list)


def script() -> Script:
    """Return the record, changed so that the disks are not rotational.

    The recorded virtual disk reports that it is rotational, but it is an SSD.
    """
    found = msgspec.json.decode(gzip.decompress(RECORD.read_bytes()), type=Script)
    found.files = [(path, "0\n" if path.endswith("/queue/rotational") else text) for path, text in found.files]
    return found


class RecordingHost(LocalHost):
    """This machine, with all of its answers recorded."""

    name = "scripted"

    def __init__(self) -> None:
        self.script = Script()

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        completed = super().run(argv, timeout_s=timeout_s, stdin=stdin, check=False)
        self.script.commands.append((tuple(argv), completed))
        if check and completed.returncode != 0:
            raise CommandFailed(completed)
        return completed

    def read(self, path: str) -> str:
        try:
            text = super().read(path)
        except FileMissing:
            self.script.files.append((path, None))
            raise
        self.script.files.append((path, text))
        return text

    def read_files(self, paths: Sequence[str]) -> Tick:
        tick = super().read_files(paths)
        self.script.ticks.append((tuple(paths), tick))
        return tick

    @contextlib.contextmanager
    def stream(self, paths: Sequence[str], interval_s: float) -> Iterator[Iterator[Tick]]:
        seen: list[Tick] = []
        self.script.streams.append(seen)

        def noted(ticks: Iterator[Tick]) -> Iterator[Tick]:
            for tick in ticks:
                seen.append(tick)
                yield tick

        with super().stream(paths, interval_s) as ticks:
            yield noted(ticks)


@dataclass(eq=False)
class ScriptedHost:
    """A host that answers from the script. The last answer to a question is repeated.

    `ran`: the commands that were run so far.
    `mounted`: the mount points that are currently mounted. The mount tables contain only these.
    `instead`: a function that can answer a command in place of the script, or raise an error. If it returns None, the
    script answers.
    """

    script: Script
    instead: Callable[[Argv], Completed | None] | None = None
    name: str = "scripted"
    ran: list[Argv] = field(default_factory=list)
    mounted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._commands, self._files, self._ticks = defaultdict(list), defaultdict(list), defaultdict(list)
        for argv, completed in reversed(self.script.commands):
            self._commands[argv].append(completed)
        for path, text in reversed(self.script.files):
            self._files[path].append(text)
        for paths, tick in reversed(self.script.ticks):
            self._ticks[paths].append(tick)
        self._streams = list(reversed(self.script.streams))

    _commands: dict[Argv, list[Completed]] = field(init=False)
    _files: dict[str, list[str | None]] = field(init=False)
    _ticks: dict[Argv, list[Tick]] = field(init=False)

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0 and (stdin is None or stdin)
        key = tuple(argv)
        self.ran.append(key)
        answer = "" if key[0] == "dmesg" else _ANSWERS.get(key[2]) if len(key) > 2 else None
        known = None if answer is None else Completed(key, 0, answer, "", 0.0)
        completed = (self.instead and self.instead(key)) or known or self._next(self._commands, key)
        assert completed is not None, key
        if completed.returncode == 0 and key[0] in ("mount", "umount"):
            self.mounted = {*self.mounted, key[-1]} if key[0] == "mount" else self.mounted - {key[-1]}
        if check and completed.returncode != 0:
            raise CommandFailed(completed)
        return completed

    def read(self, path: str) -> str:
        text = self._next(self._files, path) if path in self._files else None
        if text is None:
            raise FileMissing(f"{path} cannot be read")
        return self._mount_table(path) if path in _MOUNT_TABLES else text

    def _mount_table(self, path: str) -> str:
        """Return all recorded lines, except those for mounts of the run that are not currently mounted."""
        lines = dict.fromkeys(line for text in self._recorded(path) for line in text.splitlines())
        gone = {argv[-1] for argv, _ in self.script.commands if argv[0] == "mount"} - self.mounted
        return "".join(f"{line}\n" for line in lines if not gone.intersection(line.split()))

    def _recorded(self, path: str) -> Iterator[str]:
        return (text for recorded, text in self.script.files if recorded == path and text is not None)

    def read_files(self, paths: Sequence[str]) -> Tick:
        return self._next(self._ticks, tuple(paths))

    @contextlib.contextmanager
    def stream(self, paths: Sequence[str], interval_s: float) -> Iterator[Iterator[Tick]]:
        assert paths and interval_s > 0
        yield iter(self._streams.pop())

    def _next(self, answers: dict[_Key, list[_Answer]], key: _Key) -> _Answer:
        with self._lock:
            assert answers[key], f"the script has no answer to {key}"
            return answers[key].pop() if len(answers[key]) > 1 else answers[key][0]


@dataclass
class Run:
    """A planned run on a host, and the directory for its results."""

    plan: RunPlan
    host: Host
    directory: RunDirectory

    def conduct(self, listener: Listener | None = None) -> None:
        conduct(self.plan, self.host, self.directory, listener or Listener())


def planned(host: ScriptedHost | RecordingHost, path: Path, text: str = CAMPAIGN) -> Run:
    campaign = parse_campaign(text, "scripted.yaml")
    plan = make_plan(campaign, host, _DIRECTORIES, SEED, frozenset())
    record = RunRecord(
        poolproof="0",
        campaign=text,
        label=plan.site.label,
        state_dir=plan.site.state_dir,
        ram_dir=plan.site.ram_dir,
        seed=SEED,
        host=host.name,
        begun_at="",
        facts={},
        versions={},
    )
    return Run(plan, host, RunDirectory.create(path, text, record))


def record() -> None:
    """As root, do a real run and write the record."""
    host = RecordingHost()
    planned(host, Path(f"/tmp/scripted-{time.time():.0f}")).conduct()
    RECORD.write_bytes(gzip.compress(msgspec.json.encode(host.script), mtime=0))


if __name__ == "__main__":
    record()
