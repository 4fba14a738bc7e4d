"""Run all 657 cells of `cache-and-log` in a lab: `python -m benchmarks.bench_grid`.

With `--plan`, only the expected time is printed.

In the original benchmark, 648 cells of 180 s each took 32.4 hours. This benchmark must finish in a twentieth of that,
97 minutes, including everything: starting the lab, building and converting layouts, filling files and draining. Each
cell therefore gets one trial with a tolerance of 10%. Some cells get a second trial, which shows how much trials vary.
The rest of the budget is spent on the goal, etcd.

A trial that writes lasts three transaction groups. If they lasted 5 s each, the 441 write trials alone would exceed the
limit, so transaction groups last 1 s in this lab (zfs_txg_timeout=1). As in the original, pools are not exported and
imported between trials: caches are warm, including cache devices, and reads from the ARC are accepted. The ARC is 256
MiB (arc_max) and files are 512 MiB, so small sequential reads may come entirely from the ARC. (With an ARC of 128 MiB,
of which metadata used 114 MiB, OpenZFS 2.1.11 waited for memory forever.) The campaign's question mentions all this. It
is printed above the table and in the report.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from benchmarks.quick_txg_lab import TXG_S, run_in_lab
from poolproof.campaign.model import Campaign, Measure, Until, Workload
from poolproof.campaign.yaml import parse_campaign
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.summary import Cell, cells_of
from poolproof.results.runs.timing import took
from poolproof.units import format_duration

CAMPAIGN = Path(__file__).parents[1] / "experiments" / "cache-and-log.yaml"
LIMIT_S = 97 * 60.0
FIXED_S = 648 * 180.0
_TURNS = 3
_ARC_MAX = "256M"
_MEASURE = Measure(trials=1, cold=False, most_trials=6, until=Until(tolerance=0.10, min_s=1.2, max_s=30.0))
_BUDGET_S = 90 * 60.0
_PARTS = {"cool": "drop caches", "settle": "watch the idle disks"}
_WRITES = ("write", "randwrite", "readwrite", "rw", "randrw")


def grid(budget_s: float) -> Campaign:
    """Return the campaign of the experiment, adapted to this benchmark."""
    text = CAMPAIGN.read_text(encoding="utf-8").replace("ashift=12", f"ashift=12 arc_max={_ARC_MAX}")
    asked = parse_campaign(text, str(CAMPAIGN))
    said = f"with transaction groups of {TXG_S} s (zfs_txg_timeout={TXG_S}), warm caches and an ARC of {_ARC_MAX}?"
    question = f"{asked.question.rstrip('?')}, {said}"
    return replace(asked, name=f"{asked.name}-grid", question=question, measure=_MEASURE, budget_s=budget_s, quick=None)


@dataclass(frozen=True)
class Expected:
    """The expected duration of each part of the run, in seconds.

    `other_s`: the time per trial for everything except fio.
    """

    reads: int
    writes: int
    layouts: int
    other_s: float
    build_s: float
    lab_s: float

    @property
    def least_fio_s(self) -> float:
        """Return how long fio runs, in seconds, if each trial is as short as possible."""
        assert _MEASURE.until is not None, "it is asked above"
        return self.reads * _MEASURE.until.min_s + self.writes * max(_MEASURE.until.min_s, _TURNS * TXG_S)

    @property
    def trials(self) -> int:
        return self.reads + self.writes

    @property
    def least_s(self) -> float:
        """Return the time, in seconds, that everything takes except the trials that use up the rest of the budget."""
        return self.lab_s + self.layouts * self.build_s + self.least_fio_s + self.trials * self.other_s

    @property
    def most_other_s(self) -> float:
        """Return the time per trial, in seconds and without fio, that the limit leaves."""
        return (LIMIT_S - self.lab_s - self.layouts * self.build_s - self.least_fio_s) / self.trials

    def lines(self) -> Iterator[str]:
        """Yield the expected time of each part of the run."""
        yield f"{self.trials} cells: {self.reads} read, {self.writes} write"
        yield f"  fio, at least: {format_duration(self.least_fio_s)}"
        yield f"  everything else, {self.other_s:g} s per trial: {format_duration(self.trials * self.other_s)}"
        yield f"  {self.layouts} layouts, {self.build_s:g} s each: {format_duration(self.layouts * self.build_s)}"
        yield f"  the lab's start and end: {format_duration(self.lab_s)}"
        word = "within" if self.least_s <= LIMIT_S else "OVER"
        yield f"one trial of each: {format_duration(self.least_s)}, {word} the limit of {format_duration(LIMIT_S)}"
        yield f"  the limit allows up to {self.most_other_s:.1f} s per trial for everything except fio"


def expected(campaign: Campaign, other_s: float, build_s: float, lab_s: float) -> Expected:
    """Return the expected time for what the campaign requires. The etcd workload counts as one that writes."""
    writes = sum(map(_writes, campaign.workloads))
    layouts = len(campaign.layouts)
    reads = len(campaign.workloads) - writes
    return Expected(reads * layouts, writes * layouts, layouts, other_s, build_s, lab_s)


def _writes(workload: Workload) -> bool:
    return any(value in _WRITES for job in workload.jobs for name, value in job.options if name in ("rw", "readwrite"))


def spent(run: RunDirectory, campaign: Campaign, wall_s: float) -> Iterator[str]:
    """Yield the time that each part of a run took, compared with the limit and with the original schedule."""
    trials, begun_s = run.trials(), datetime.fromisoformat(run.record().begun_at).timestamp()
    parts = dict.fromkeys(part for trial in trials for part in trial.seconds)
    sums = {part: sum(trial.seconds.get(part, 0.0) for trial in trials) for part in parts}
    sums["build and fill"] = sum(took(trials, begun_s).builds.values())
    cells = len({trial.key[:2] for trial in trials})
    yield f"{cells} cells, {len(trials)} trials"
    yield from known(cells_of(trials, campaign))
    for part, seconds in sums.items():
        yield f"  {_PARTS.get(part, part)}: {format_duration(seconds)}"
    yield f"  the rest, including the lab and rebuilt layouts: {format_duration(max(0.0, wall_s - sum(sums.values())))}"
    word = "within" if wall_s <= LIMIT_S else "OVER"
    yield f"wall time: {format_duration(wall_s)}, {word} the limit of {format_duration(LIMIT_S)}"
    yield f"the original schedule takes {format_duration(FIXED_S)}: 1/{FIXED_S / wall_s:.1f} of it"


def known(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the numbers of cells with a result, with an interval and with the required precision, and the verdicts."""
    intervals = [cell for cell in cells if cell.figure is not None and cell.figure.low is not None]
    settled = sum(not cell.did_not_converge for cell in intervals)
    yield f"  {measured(cells)} with a result, {len(intervals)} with an interval, {settled} precise to within 10%"
    verdicts = Counter(cell.verdict for cell in cells if cell.trials)
    yield f"  {', '.join(f'{verdict} {count}' for verdict, count in verdicts.most_common())}"


def measured(cells: Sequence[Cell]) -> int:
    """Return the number of cells with a result."""
    return sum(cell.figure is not None for cell in cells)


def main() -> int:
    """Print the expected time, run the grid, and print how long it took.

    Return 1 if it took too long, or if a cell has no result.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_grid", description=__doc__)
    parser.add_argument("--plan", action="store_true", help="only print the expected time")
    parser.add_argument("--other", type=float, default=4.0, help="expected seconds per trial, except for fio [4]")
    parser.add_argument("--build", type=float, default=45.0, help="expected seconds of building a layout [45]")
    parser.add_argument("--lab", type=float, default=120.0, help="expected seconds of the lab's start and end [120]")
    parser.add_argument("--budget", type=float, default=_BUDGET_S / 60, help="minutes of trials and builds [90]")
    parser.add_argument("--zfs", default="2.1", help="OpenZFS in the lab [2.1]")
    parser.add_argument("--out", type=Path, default=Path("runs") / f"bench-grid-{time.strftime('%Y%m%d-%H%M')}")
    asked = parser.parse_args()
    campaign = grid(asked.budget * 60)
    print("\n".join(expected(campaign, asked.other, asked.build, asked.lab).lines()), flush=True)
    if asked.plan:
        return 0
    begun = time.monotonic()
    code = run_in_lab(campaign, f"grid-{os.getpid()}", asked.zfs, asked.out, ["--plain"], 4 * LIMIT_S)
    wall_s = time.monotonic() - begun
    if not (asked.out / "run.json").is_file():
        return code or 1
    run = RunDirectory.open(asked.out)
    print("\n".join(spent(run, campaign, wall_s)))
    whole = len(campaign.layouts) * len(campaign.workloads)
    return code or int(wall_s > LIMIT_S or measured(cells_of(run.trials(), campaign)) < whole)


if __name__ == "__main__":
    raise SystemExit(main())
