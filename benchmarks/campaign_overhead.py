"""Compare a campaign of 12 one-second cells on `dir` with a shell loop that runs the same fio commands in turn."""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.result import Result
from poolproof import process
from poolproof.campaign.yaml import parse_campaign
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.job import render
from poolproof.load.fio.jobs import fill_job, jobs_of, placed

_LIMIT = 1.25
"""Before and after each trial, about 16 programs read the conditions, other programs' work and the counters, empty the
caches and sync, which takes about 0.3 s.
"""
_CELLS = 12
_PAIRS = 5
_TIME_LIMIT_S = 300.0
_CAMPAIGN = """
name: twelve
layouts:
  here: dir {data}
workloads:
  grid: {{rw: [read, randread, write, randwrite], bs: [4k, 64k, 1m], size: 64m}}
measure: {{time: 1s, trials: 1}}
"""
_LOOP = """
set -e
for job in "$1"/fill-*.fio; do fio --eta=never "$job" >/dev/null; done
for job in "$1"/job-*.fio; do fio --output-format=json+ --output="$1/fio.json" --eta=never "$job"; done
"""


def measure() -> Result:
    """Return the ratio of the median wall times of both."""
    with _folder() as folder:
        campaign = folder / "campaign.yaml"
        (folder / "data").mkdir()
        campaign.write_text(_CAMPAIGN.format(data=folder / "data"))
        _write_loop(folder, campaign)
        ways: dict[str, Callable[[int], float]] = {
            "poolproof": lambda number: _poolproof(folder, campaign, number),
            "loop": lambda _number: _loop(folder),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for pair in range(_PAIRS):
            for name in sorted(ways, reverse=pair % 2 == 1):
                seconds[name].append(ways[name](pair))
    ours, bare = statistics.median(seconds["poolproof"]), statistics.median(seconds["loop"])
    each = (ours - bare) / _CELLS
    detail = f"{ours:.2f} s against {bare:.2f} s, medians of {_PAIRS} each, in turn; {each:.2f} s more per cell"
    return Result(
        "a campaign of 12 cells compared with a shell loop over the same fio jobs", ours / bare, _LIMIT, "×", detail
    )


@contextmanager
def _folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="poolproof-bench-", dir="/var/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def _poolproof(folder: Path, campaign: Path, number: int) -> float:
    """Return how many seconds one `poolproof run` takes, from the start to the end of the program."""
    argv = [str(Path(sys.executable).with_name("poolproof")), "run", str(campaign)]
    argv += ["--out", str(folder / f"run-{number}"), "--work", str(folder), "--json"]
    return process.run(argv, timeout_s=_TIME_LIMIT_S).elapsed_s


def _loop(folder: Path) -> float:
    """Return how many seconds the shell loop takes.

    Its test files do not exist yet, so it fills them as poolproof does.
    """
    for directory in (folder / "bare").iterdir():
        shutil.rmtree(directory)
        directory.mkdir()
    begun = time.monotonic()
    process.run(["sh", "-c", _LOOP, "loop", str(folder)], timeout_s=_TIME_LIMIT_S)
    return time.monotonic() - begun


def _write_loop(folder: Path, campaign: Path) -> None:
    """Write the job files for the shell loop: a fill job for each set of files, then the twelve measured jobs."""
    asked = parse_campaign(campaign.read_text(), str(campaign))
    place = folder / "bare" / "files"
    place.mkdir(parents=True)
    fills = set()
    for number, workload in enumerate(asked.workloads):
        jobs = placed(jobs_of(workload, asked.measure.longest_s, LocalHost()), str(place))
        (folder / f"job-{number:02}.fio").write_text(render(jobs))
        fills.add(render(fill_job(jobs)))
    for number, text in enumerate(sorted(fills)):
        (folder / f"fill-{number:02}.fio").write_text(text)
