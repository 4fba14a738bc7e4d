"""A load generator that runs a Python script. The script writes and syncs a file, and prints its results as JSON."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.campaign.model import Workload
from poolproof.hosts.base import Host
from poolproof.load.generator import Status
from poolproof.load.model import Extent, Load, LoadPart
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.process import Completed
from poolproof.steps import Step
from poolproof.undos import UndoPrograms

_SCRIPT = """\
import json, os, sys, time
path, count, block, report = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
begun, bins = time.monotonic(), {}
with open(path, "r+b" if os.path.exists(path) else "wb") as file:
    for _ in range(count):
        start = time.perf_counter_ns()
        file.write(os.urandom(block))
        took = max(1, time.perf_counter_ns() - start)
        shift = max(0, took.bit_length() - 3)
        took = took >> shift << shift
        bins[took] = bins.get(took, 0) + 1
    file.flush()
    os.fsync(file.fileno())
seconds = time.monotonic() - begun
text = json.dumps({"bytes": count * block, "ios": count, "seconds": seconds, "at_s": time.time(), "bins": bins})
with open(report, "w") as file:
    file.write(text)
"""
_LIMIT_S = 60.0


@dataclass
class SilentReport:
    """The live report of a program that reports nothing while it is running."""

    begun_at_s: float = 0.0
    clock_ahead_s: float = 0.0
    statuses: list[Status] = field(default_factory=list)

    def read_on(self) -> None:
        return

    def read_all(self) -> None:
        return

    def documents(self, _statuses: Sequence[Status]) -> str:
        return ""

    def outcomes(self, _statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        return ()


class Toy:
    """A `LoadGenerator` whose loads have a single part.

    The part's `source` is the path of its file.
    """

    name = "toy"
    programs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("python3",)
    load_file = "toy.txt"
    report_file = "toy.json"
    bin_width = 0.25

    def version(self, _host: Host) -> str:
        return "toy-1"

    def ask_ahead(self, _host: Host) -> None:
        return

    def prepare(self, workload: Workload, _longest_s: float, _host: Host) -> Load:
        return Load((self.described(workload.name, dict(workload.jobs[0].options)),), self.name)

    def check_permitted(self, _workload: Workload) -> None:
        return

    def described(self, name: str, options: Mapping[str, str]) -> LoadPart:
        mib = int(options.get("mib", "1"))
        return LoadPart(
            name,
            writes=True,
            block_bytes=1 << 20,
            max_block_bytes=1 << 20,
            size_bytes=mib << 20,
            syncs=options.get("sync") != "0",
        )

    def check(self, _loads: Mapping[str, Load], _host: Host) -> None:
        return

    def sets_runtime(self, _workload: Workload) -> bool:
        return False

    def danger(self, _part: LoadPart) -> str:
        return self.name

    def text(self, load: Load) -> str:
        return "".join(f"{part.name}: write {part.size_bytes} bytes to {part.source}\n" for part in load.parts)

    def read_back(self, text: str) -> Load:
        name, size, path = re.findall(r"(.*): write (\d+) bytes to (.*)", text)[0]
        return self.on_device(Load((self.described(name, {"mib": str(int(size) >> 20)}),), self.name), path)

    def in_directory(self, load: Load, directory: str) -> Load:
        return self.on_device(load, f"{directory}/toy.data")

    def on_device(self, load: Load, path: str) -> Load:
        (part,) = load.parts
        return replace(load, parts=(replace(part, extents=(Extent(path, 0, part.size_bytes or 0),), source=path),))

    def on_bare_disk(self, load: Load, path: str, _size_bytes: int | None) -> Load:
        return self.on_device(load, path)

    def lasting(self, load: Load, _seconds: float) -> Load:
        return load

    def file_set(self, _workload: Workload, load: Load, *, writers_apart: bool) -> str:
        return f"toy-{load.parts[0].size_bytes}{'-written' * writers_apart}"

    def fill_load(self, load: Load) -> Load:
        return load

    def device_fill_load(self, path: str, size_bytes: int) -> Load:
        return self.on_device(Load((LoadPart("fill", writes=True, size_bytes=size_bytes),), self.name), path)

    def fill(self, host: Host, load: Load, scratch: str, _size_bytes: int) -> None:
        self.run(host, load, scratch, status_s=None, before=lambda: None)

    def cleanup_step(self, scratch: str) -> Step:
        return Step("run the toy", ("true",), UndoPrograms(("python3",), marker=f"{scratch}/"))

    def run(
        self,
        host: Host,
        load: Load,
        scratch: str,
        *,
        status_s: float | None,  # noqa: ARG002 - it reports only at its end
        before: Callable[[], None],
        read_only: bool = False,  # noqa: ARG002 - `danger` says that it always writes
    ) -> tuple[str, Completed]:
        (part,) = load.parts
        before()
        count = (part.size_bytes or 0) // part.block_bytes
        argv = [sys.executable, "-c", _SCRIPT, str(part.source), str(count), str(part.block_bytes), _report(scratch)]
        return self.text(load), host.run(argv, timeout_s=_LIMIT_S, check=False)

    def interrupt(self, _host: Host, _scratch: str) -> None:
        return

    def kill(self, _host: Host, _scratch: str) -> tuple[str, ...]:
        return ()

    def run_delays(self, _host: Host, _scratch: str) -> str:
        return ""

    def live_report(self, _host: Host, _scratch: str) -> SilentReport:
        return SilentReport()

    def whole_report(self, host: Host, scratch: str) -> str:
        return host.read(_report(scratch))

    def outcomes(self, text: str) -> tuple[Outcome, ...]:
        if not text:
            return ()
        told = json.loads(text)
        seconds, bins = told["seconds"], {int(latency): count for latency, count in told["bins"].items()}
        wrote = Direction(
            io_bytes=told["bytes"],
            ios=told["ios"],
            runtime_ms=round(seconds * 1000),
            bandwidth_bytes=told["bytes"] / seconds,
            iops=told["ios"] / seconds,
            clat=Latency(samples=told["ios"], mean_ns=seconds / told["ios"] * 1e9, bins_ns=bins),
        )
        return (Outcome("toy-1", (PartOutcome("toy", write=wrote, syncs=1),), timestamp_ms=round(told["at_s"] * 1000)),)

    def ended_well(self, completed: Completed, *, interrupted: bool) -> bool:
        return completed.returncode == 0 or interrupted


def _report(scratch: str) -> str:
    return f"{scratch}/toy.json"


GENERATOR = Toy()
