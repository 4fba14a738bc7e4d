"""Measure `poolproof query` and `poolproof runs --page` with 10,000 cells and 1,000,000 trials.

`python -m benchmarks.querying` generates the data and takes a few minutes.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import arguments
from benchmarks.result import Result

_TRIES = 3
_CELL_RUNS, _CELLS_IN_RUN, _TRIALS_OF_CELL = 50, 200, 3
_TRIALS, _TRIALS_IN_RUN = 1_000_000, 2_000
_FIRST_LIMIT_S, _QUERY_LIMIT_S, _PAGE_LIMIT_S, _MILLION_LIMIT_S, _LIMIT_MB = 10.0, 1.0, 10.0, 5.0, 1000.0
_TIME_LIMIT_S = 900.0
_LAYOUTS = tuple(f"layout-{number}" for number in range(10))
_BLOCKS = ("512", "4k", "8k", "16k", "64k")
_MODES = ("read", "randread", "write", "randwrite")
_SQL = (
    "select layout, setting(workload, 'bs') as bs, verdict, count(*), avg(iops), max(p99_ns) from trials group by all"
)
_REPORT = """
import os, resource, subprocess, sys, time
begun = time.monotonic()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
process.stdout.readline()
answered_s = time.monotonic() - begun
with open(f"/proc/{process.pid}/stat") as file:
    ticks = file.read().rpartition(")")[2].split()[11:13]
process.stdout.read()
code = process.wait(timeout=850)
busy_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
print(code, answered_s, time.monotonic() - begun, busy_s, megabytes)
"""


def measure() -> Iterator[Result]:
    """Yield the time until the answer is printed, in seconds.

    Each is the shortest of several, because other work on the machine lengthens them.
    """
    folder = Path(tempfile.mkdtemp(prefix="poolproof-bench-", dir="/var/tmp"))
    try:
        yield from _of_cells(folder)
        yield from _of_trials(folder)
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class _Cost:
    """The cost of one command.

    `answered_s`, `busy_s`: the wall time and the processor time until it prints its first line, in seconds.
    `ended_s`: the wall time until it ends, in seconds.
    `megabytes`: its memory, in units of 10^6 bytes.
    """

    answered_s: float
    ended_s: float
    busy_s: float
    megabytes: float


def _of_cells(folder: Path) -> Iterator[Result]:
    runs = folder / "cells"
    chance = random.Random(1)
    for number in range(_CELL_RUNS):
        _write_run(runs / f"run-{number:03d}", number, _CELLS_IN_RUN * _TRIALS_OF_CELL, chance)
    cells = "select layout, count(*), avg(iops_high - iops_low) from cells group by all"
    cold = _command(folder, "query", str(runs), cells, "--csv")
    yield _seconds("query over 10,000 cells, the first", cold, _FIRST_LIMIT_S)
    costs = [_command(folder, "query", str(runs), cells, "--csv") for _ in range(_TRIES)]
    yield _seconds("the same query once more", min(costs, key=lambda cost: cost.answered_s), _QUERY_LIMIT_S)
    page = str(folder / "page.html")
    _command(folder, "runs", str(runs), "--page", page)  # Vega's script is bundled once and then cached
    costs = [_command(folder, "runs", str(runs), "--page", page) for _ in range(_TRIES)]
    yield _seconds("page over 10,000 cells", min(costs, key=lambda cost: cost.answered_s), _PAGE_LIMIT_S)


def _of_trials(folder: Path) -> Iterator[Result]:
    runs = folder / "trials"
    chance = random.Random(2)
    for number in range(_TRIALS // _TRIALS_IN_RUN):
        _write_run(runs / f"run-{number:03d}", number, _TRIALS_IN_RUN, chance)
    cold = _command(folder, "query", str(runs), _SQL, "--csv")
    yield _seconds("query over 1,000,000 trials, the first", cold, _MILLION_LIMIT_S)
    costs = [_command(folder, "query", str(runs), _SQL, "--csv") for _ in range(_TRIES)]
    yield _seconds("the same once more", min(costs, key=lambda cost: cost.answered_s), _MILLION_LIMIT_S)
    most = max(cost.megabytes for cost in (cold, *costs))
    yield Result("memory of these", most, _LIMIT_MB, " MB", "the largest resident set, copies in columns included")


def _seconds(name: str, cost: _Cost, limit_s: float) -> Result:
    detail = f"{cost.busy_s:.2f} s of the processors; ended after {cost.ended_s:.2f} s, {cost.megabytes:.0f} MB"
    return Result(name, cost.answered_s, limit_s, " s", detail)


def _command(folder: Path, *words: str) -> _Cost:
    """Run the command in a separate process, so that its memory can be measured, and with its own cache."""
    program = str(Path(sys.executable).with_name("poolproof"))
    argv = [sys.executable, "-c", _REPORT, program, *words]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S, env=environment)
    code, *costs = done.stdout.split()
    if code != "0":
        raise RuntimeError(f"poolproof {words[0]} exited with {code}")
    return _Cost(*map(float, costs))


def _write_run(path: Path, number: int, trials: int, chance: random.Random) -> None:
    """Write a run with ten layouts, access modes and block sizes. Its lines are about 1.7 kB, as in real runs."""
    path.mkdir(parents=True)
    (path / "run.json").write_text(json.dumps(_record(number)), encoding="utf-8")
    workloads = [f"grid[rw={mode},bs={block}]" for mode in _MODES for block in _BLOCKS]
    places = [(layout, workload) for layout in _LAYOUTS for workload in workloads]
    with (path / "trials.jsonl").open("w", encoding="utf-8") as file:
        for index in range(trials):
            layout, workload = places[index % len(places)]
            file.write(_line(layout, workload, index // len(places) + 1, chance))


def _record(number: int) -> dict[str, object]:
    layouts = "".join(f"  {name}: btrfs raid1 a b\n" for name in _LAYOUTS)
    grid = f"{{rw: [{', '.join(_MODES)}], bs: [{', '.join(f'{json.dumps(block)}' for block in _BLOCKS)}]}}"
    campaign = (
        f"name: bench\ndevices: {{a: {{file: 2G}}, b: {{file: 2G}}}}\nlayouts:\n{layouts}workloads:\n  grid: {grid}\n"
    )
    return {
        "poolproof": "0.1.0", "campaign": campaign, "label": "abcd1234", "state_dir": "/s", "ram_dir": "/r", "seed": 1,
        "host": "local", "begun_at": f"2026-{1 + number // 28 % 12:02d}-{1 + number % 28:02d}T10:00:00+00:00",
        "facts": {"kernel": f"Linux 6.{number // 20}", "machine": "one"},
        "versions": {"poolproof": "0.1.0", "fio": f"fio-3.{33 + number // 25}"}, "schema": 1,
    }  # fmt: skip


_TEMPLATE = json.dumps(
    {
        "layout": "LAYOUT", "workload": "WORKLOAD", "number": "NUMBER", "verdict": "VERDICT", "findings": [
            {"rule": "few-samples", "effect": "notes", "fix": "a longer run: 1,000 I/Os for a p99, 10,000 for a p99.9",
             "message": "402 reads were timed: the p99 depends on the slowest 4 alone, but at least ten are needed",
             "weight": 20},
            {"rule": "shared-file-numjobs", "effect": "EFFECT", "weight": 90,
             "message": "8 jobs wrote 6.65 GiB to one file; 344 MiB reached the disks (5.1% of 6.65 GiB)",
             "fix": "directory= instead of filename= (a file per job), or offset_increment=8m size=8m"},
        ],
        "metric": "iops", "figures": {
            "iops": "A", "bandwidth_bytes": "B", "read_iops": "A", "write_iops": 0, "read_bandwidth_bytes": "B",
            "write_bandwidth_bytes": 0, "p50_ns": "C", "p99_ns": "D", "p999_ns": "D", "sync_p50_ns": None,
            "sync_p99_ns": None},
        "account": {
            "fio_read_bytes": "E", "fio_write_bytes": 0, "leaf_read_bytes": "E", "leaf_write_bytes": 0,
            "leaf_drained_write_bytes": 28672, "write_factor": 2.0, "window_s": 2.6489663124, "drain_s": 0.0181720256,
            "idle_s": 0.2405490875, "idle_read_bytes_per_s": 0.0, "idle_write_bytes_per_s": 0.0},
        "leaves": [
            {"device": name, "read_bytes": "E", "write_bytes": 0, "drained_write_bytes": 28672, "read_ios": 408,
             "write_ios": 0, "flush_ios": 0, "utilisation": 0.76564, "latency_s": 0.0197401960, "below_device": None,
             "below_read_bytes": None, "below_drained_write_bytes": None} for name in ("a", "b")],
        "stored_bytes": {"a": 895488000, "b": 895488000}, "begun_at": "2026-11-21T23:15:18.544+00:00",
        "seconds": {"cool": 0.164696, "settle": 0.040269, "fio": 2.648643, "drain": 0.018172},
        "source": "", "columns": {}, "schema": 1,
    },
    separators=(",", ":"),
)  # fmt: skip


def _line(layout: str, workload: str, number: int, chance: random.Random) -> str:
    verdict, effect = ("refuted", "refutes") if chance.random() < 0.1 else ("sound", "notes")
    iops = chance.lognormvariate(7, 0.05)
    text = _TEMPLATE.replace("LAYOUT", layout).replace("WORKLOAD", workload).replace('"NUMBER"', str(number))
    text = text.replace("VERDICT", verdict).replace("EFFECT", effect).replace('"A"', f"{iops:.6f}")
    text = (
        text.replace('"B"', f"{iops * 4096:.1f}")
        .replace('"C"', f"{1e9 / iops:.1f}")
        .replace('"D"', f"{3e9 / iops:.1f}")
    )
    return text.replace('"E"', str(int(iops * 40960))) + "\n"


if __name__ == "__main__":
    arguments(__doc__)
    begun = time.monotonic()
    for result in measure():
        print(result.line(), flush=True)
    print(f"{time.monotonic() - begun:.0f} s")
