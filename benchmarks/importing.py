"""Measure `poolproof import` on generated data: 3,000 JSON files of 8 kB, and a latency log of 100 MB."""

import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result

_TRIES = 3
_FILES = 3000
_FILES_LIMIT_S = 4.0
_LOG_BYTES = 100_000_000
_LOG_LIMIT_S = 3.0
_LOG_LIMIT_MB = 500.0
_TIME_LIMIT_S = 120.0
_MODES = ("randread", "randwrite", "read", "write", "randrw")
_BLOCKS = ("4k", "16k", "64k", "1m")
_DEPTHS = (1, 2, 4, 8, 16)
_PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
_REPORT = """
import resource, subprocess, sys, time
begun = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True, timeout=100)
wall_s, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * 1024 / 1e6)
"""


def measure() -> list[Result]:
    """Return wall times in relation to their limits.

    Each is the shortest of several, because other work on the machine lengthens them.
    """
    folder = Path(tempfile.mkdtemp(prefix="poolproof-bench-", dir="/var/tmp"))
    try:
        return [*_of_files(folder), *_of_log(folder)]
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class _Cost:
    """The cost of one import: processor time and wall time in seconds, and memory in megabytes (10^6 bytes)."""

    busy_s: float
    wall_s: float
    megabytes: float


def _of_files(folder: Path) -> Iterator[Result]:
    tree = folder / "tree"
    mean_bytes = _write_tree(tree)
    costs = [_import(tree, folder / f"run-{number}") for number in range(_TRIES)]
    yield _time("import of 3,000 JSON files", costs, _FILES_LIMIT_S, f"{_FILES} files of {mean_bytes} bytes")


def _of_log(folder: Path) -> Iterator[Result]:
    log = folder / "big_clat.1.log"
    _write_log(log)
    costs = [_import(log, folder / f"log-{number}") for number in range(_TRIES)]
    yield _time("import of a latency log", costs, _LOG_LIMIT_S, f"{log.stat().st_size / 1e6:.0f} MB")
    most = max(cost.megabytes for cost in costs)
    detail = f"{most:.0f} MB of {_LOG_LIMIT_MB:g} MB, the largest resident set"
    yield Result("memory of that import", most / _LOG_LIMIT_MB, 1.0, "×", detail)


def _time(name: str, costs: Sequence[_Cost], limit_s: float, of_what: str) -> Result:
    busy_s, wall_s = min(cost.busy_s for cost in costs), min(cost.wall_s for cost in costs)
    detail = f"{wall_s:.2f} s of {limit_s:g} s, {busy_s:.2f} s of the processors; {of_what}, the best of {_TRIES}"
    return Result(name, wall_s / limit_s, 1.0, "×", detail)


def _import(source: Path, out: Path) -> _Cost:
    """Run the import in a separate process, so that its memory can be measured."""
    program = str(Path(sys.executable).with_name("poolproof"))
    argv = [sys.executable, "-c", _REPORT, program, "import", str(source), "--out", str(out)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S)
    return _Cost(*map(float, done.stdout.split()))


def _write_tree(tree: Path) -> int:
    """Write results in the way that bench-fio does, and return the mean size of a file in bytes."""
    chance = random.Random(1)
    total = 0
    for index in range(_FILES):
        mode, rest = _MODES[index % 5], index // 5
        bs, rest = _BLOCKS[rest % 4], rest // 4
        depth, run = _DEPTHS[rest % 5], rest // 5
        path = tree / ("mirror", "raidz", "stripe")[run % 3] / bs / f"run-{run // 3 + 1}" / f"{mode}-{depth}-1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(fio_document(mode, bs, depth, index, chance), indent=4)
        path.write_text(text, encoding="utf-8")
        total += len(text)
    return total // _FILES


def fio_document(mode: str, bs: str, depth: int, index: int, chance: random.Random) -> dict[str, object]:
    """Return the JSON output of a 60 s run of fio 3.33, with depth / latency I/Os per second."""
    options = {"name": "bench", "rw": mode, "bs": bs, "iodepth": str(depth), "numjobs": "1", "direct": "1",
               "ioengine": "libaio", "size": "100g", "runtime": "60", "filename": "/mnt/pool/file"}  # fmt: skip
    reads = {"randrw": ("read", "write")}.get(mode, (mode.removeprefix("rand"),))
    job: dict[str, object] = {"jobname": "bench", "groupid": 0, "error": 0, "job options": options}
    for name in ("read", "write", "trim"):
        job[name] = _direction(depth / len(reads) if name in reads else 0.0, bs, chance)
    job |= {"sync": {"total_ios": 0, "lat_ns": _latency(0, 0)}, "job_runtime": 60000, "usr_cpu": 1.0, "sys_cpu": 2.0}
    job |= {"iodepth_level": {str(depth): 100.0}, "latency_us": {str(2**power): 0.0 for power in range(1, 11)}}
    head = {
        "fio version": "fio-3.33",
        "timestamp": 1_700_000_000 + index,
        "timestamp_ms": 1000 * (1_700_000_000 + index),
    }
    return {**head, "jobs": [job], "disk_util": [{"name": "sda", "read_ios": 1, "write_ios": 1, "util": 99.0}]}


def _direction(depth: float, bs: str, chance: random.Random) -> dict[str, object]:
    lat_ns = chance.uniform(0.5e6, 5e6)
    iops = depth / (lat_ns / 1e9)
    block = int(bs.rstrip("km")) * (1024 if bs.endswith("k") else 1024**2)
    ios = int(iops * 60)
    rate = iops * block
    return {
        "io_bytes": ios * block, "io_kbytes": ios * block // 1024, "bw_bytes": int(rate), "bw": int(rate / 1024),
        "iops": iops, "runtime": 60000 if ios else 0, "total_ios": ios, "short_ios": 0, "drop_ios": 0,
        "slat_ns": _latency(ios, 2000), "clat_ns": _latency(ios, lat_ns - 2000), "lat_ns": _latency(ios, lat_ns),
        "bw_min": int(rate / 1100), "bw_max": int(rate / 950), "bw_mean": rate / 1024, "bw_dev": rate / 1e5,
        "bw_samples": 119, "iops_min": int(iops * 0.9), "iops_max": int(iops * 1.1), "iops_mean": iops,
        "iops_stddev": iops / 50, "iops_samples": 119,
    }  # fmt: skip


def _latency(count: int, mean_ns: float) -> dict[str, object]:
    if not count:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    found: dict[str, object] = {
        "min": int(mean_ns / 3),
        "max": int(mean_ns * 9),
        "mean": mean_ns,
        "stddev": mean_ns / 4,
    }
    found["N"] = count
    if mean_ns > 10_000:
        found["percentile"] = {f"{per_cent:.6f}": int(mean_ns * (0.5 + per_cent / 100)) for per_cent in _PERCENTILES}
    return found


def _write_log(path: Path) -> None:
    """Write a log of random reads' completion latencies, one per line."""
    chance = random.Random(2)
    values = [int(chance.lognormvariate(11.5, 0.6)) for _ in range(100_000)]
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < _LOG_BYTES:
            piece = range(number, number + 10_000)
            file.writelines(
                f"{at // 12}, {values[at * 7 % 100_000]}, 0, 4096, {at * 4096 % 2**36}, 0\n" for at in piece
            )
            number += 10_000
