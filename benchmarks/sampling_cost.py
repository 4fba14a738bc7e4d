"""Measure whether sampling the counters slows fio down.

The sampler is switched on and off during one long fio run.
"""

import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result
from poolproof import process
from poolproof.devices.model import Leaf
from poolproof.evidence.counters import Sampler
from poolproof.hosts.local import LocalHost
from poolproof.measure.trial import SAMPLE_S

_LIMIT_PER_CENT = 1.0
_LEAST_IOPS = 100_000
_PAIRS = 200
_PHASE_S = 0.26
_EDGE_S = 0.04  # an interval in which the sampler is switched belongs to neither phase
_WINDOW_S = 0.02
_MOST_LEAVES = 4
_SLACK_S = 60.0
_Z95 = 1.96


@dataclass(frozen=True)
class Phase:
    """A part of the run with or without the sampler, in seconds since 1970.

    `cpu_s`: the processor time that this process used.
    """

    sampled: bool
    begun_s: float
    ended_s: float
    cpu_s: float


def measure() -> Result:
    """Return the median slowdown over all pairs of adjacent phases, and its confidence interval."""
    with _folder() as folder, ThreadPoolExecutor(1) as pool:
        fio = pool.submit(_run_fio, folder)
        phases = _alternate(folder, fio)
        fio.result()
        rates = _rates(folder)
    pairs = _pairs(phases, rates)
    slower = sorted((1 - with_ / without) * 100 for with_, without in pairs)
    low, high = _median_bounds(slower)
    iops = statistics.median(without for _with, without in pairs)
    if iops < _LEAST_IOPS:
        raise SystemExit(f"the target reaches {iops:.0f} IOPS, too few to decide")
    detail = (
        f"median of {len(slower)} pairs at {iops / 1000:.0f}k IOPS, {len(_leaves())} leaves every "
        f"{SAMPLE_S * 1000:.0f} ms; the sampler takes {_cpu_per_cent(phases):.2f}% of one processor"
    )
    median = statistics.median(slower)
    return Result("slow-down of fio by sampling", median, _LIMIT_PER_CENT, "%", detail, low, high)


@contextmanager
def _folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="poolproof-bench-", dir="/dev/shm"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _run_fio(folder: Path) -> None:
    """Read a file in RAM at random, at hundreds of thousands of IOPS. fio logs its rate every 25 ms."""
    run_s = 2 * _PAIRS * _PHASE_S + 2
    argv = ["fio", "--name=ram", f"--filename={folder / 'file'}", "--size=64m", "--rw=randread", "--bs=4k"]
    argv += ["--ioengine=psync", "--time_based", f"--runtime={run_s:.0f}s", "--norandommap", "--thread"]
    argv += [f"--write_iops_log={folder / 'rate'}", f"--log_avg_msec={_WINDOW_S * 1000:.0f}", "--log_unix_epoch=1"]
    process.run([*argv, "--eta=never", f"--output={folder / 'out'}"], timeout_s=run_s + _SLACK_S)


def _alternate(folder: Path, fio: "Future[None]") -> list[Phase]:
    """Switch the sampler on and off, and return the phases.

    Each pair of phases is in the reverse order of the previous pair.
    """
    deadline = time.monotonic() + _SLACK_S
    while not (folder / "out").exists() and not fio.done() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    phases = []
    for pair in range(_PAIRS):
        phases += [_phase(sampled) for sampled in ((True, False) if pair % 2 else (False, True))]
    return phases


def _phase(sampled: bool) -> Phase:
    begun, cpu = time.time(), time.process_time()
    if sampled:
        with Sampler(LocalHost(), _leaves(), SAMPLE_S):
            time.sleep(_PHASE_S)
    else:
        time.sleep(_PHASE_S)
    return Phase(sampled, begun, time.time(), time.process_time() - cpu)


def _cpu_per_cent(phases: Sequence[Phase]) -> float:
    """Return the additional processor time that sampling takes in this process, in per cent of one core."""
    used = {
        sampled: sum(phase.cpu_s for phase in phases if phase.sampled is sampled)
        / sum(phase.ended_s - phase.begun_s for phase in phases if phase.sampled is sampled)
        for sampled in (True, False)
    }
    return 100 * (used[True] - used[False])


def _leaves() -> list[Leaf]:
    """Return some of this machine's block devices, as many as a typical layout has."""
    names = sorted(path.name for path in Path("/sys/class/block").iterdir())[:_MOST_LEAVES]
    return [Leaf(name, f"/dev/{name}", f"/sys/class/block/{name}/stat") for name in names]


def _rates(folder: Path) -> list[tuple[float, float]]:
    """Parse fio's log. Return the end of each interval in seconds since 1970, and its I/Os per second."""
    (log,) = folder.glob("rate_iops*.log")
    rows = [line.split(",") for line in log.read_text().splitlines()]
    return [(int(row[0]) / 1000, float(row[1])) for row in rows]


def _pairs(phases: Sequence[Phase], rates: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the mean rates with and without the sampler, for each pair of adjacent phases."""
    means = [_mean_rate(phase, rates) for phase in phases]
    pairs = []
    for first in range(0, len(phases), 2):
        a, b = means[first], means[first + 1]
        if a and b:
            pairs.append((a, b) if phases[first].sampled else (b, a))
    return pairs


def _mean_rate(phase: Phase, rates: Sequence[tuple[float, float]]) -> float | None:
    inside = [rate for at, rate in rates if phase.begun_s + _EDGE_S <= at - _WINDOW_S and at <= phase.ended_s - _EDGE_S]
    return statistics.fmean(inside) if inside else None


def _median_bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return a 95% confidence interval of the median that assumes no distribution. The values must be sorted.

    It is computed from the order statistics of the sign test.
    """
    reach = math.ceil(_Z95 * math.sqrt(len(values)) / 2)
    middle = len(values) // 2
    return values[max(0, middle - reach)], values[min(len(values) - 1, middle + reach)]
