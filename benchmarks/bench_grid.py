"""`cache-and-log` whole, 657 cells in a lab, unattended: `python -m benchmarks.bench_grid`; `--plan`: only the time.

The author's 648 cells of 180 s took 32.4 hours; a twentieth of that, 97 minutes, is the limit for all: lab, builds,
swaps, fills and draining. So every cell gets one trial, asked to be within 10 %, some a second one, which tells how
much trials differ here; and the rest of a budget decides the goal, etcd. A write trial
lasts three transaction groups, which are 5 s each: 441 of them alone would break the limit. In this lab they are 1 s
(zfs_txg_timeout=1). Nothing is exported and imported between trials, as in the author's: caches are warm, the cache
devices too, and what the ARC holds counts. It is 256 MiB (arc_max) beside files of 512 MiB; small sequential reads may
lie in it whole. (With 128 MiB, of which metadata in use took 114, OpenZFS 2.1.11 waited for room for ever.) The
campaign's question says all that, which stands at the head of its table and of its report.
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
_WRITES = ("write", "randwrite", "readwrite", "rw", "randrw")


def grid(budget_s: float) -> Campaign:
    """The experiment as it is run here."""
    text = CAMPAIGN.read_text(encoding="utf-8").replace("ashift=12", f"ashift=12 arc_max={_ARC_MAX}")
    asked = parse_campaign(text, str(CAMPAIGN))
    said = f"with transaction groups of {TXG_S} s (zfs_txg_timeout={TXG_S}), warm caches and an ARC of {_ARC_MAX}?"
    question = f"{asked.question.rstrip('?')}, {said}"
    return replace(asked, name=f"{asked.name}-grid", question=question, measure=_MEASURE, budget_s=budget_s, quick=None)


@dataclass(frozen=True)
class Expected:
    """Seconds of a whole run, by parts, for so much beside fio for each trial and so much for each layout."""

    reads: int
    writes: int
    layouts: int
    beside_s: float
    build_s: float
    lab_s: float

    @property
    def least_fio_s(self) -> float:
        """With each trial as short as it may be."""
        assert _MEASURE.until is not None, "it is asked above"
        return self.reads * _MEASURE.until.min_s + self.writes * max(_MEASURE.until.min_s, _TURNS * TXG_S)

    @property
    def trials(self) -> int:
        return self.reads + self.writes

    @property
    def least_s(self) -> float:
        """All of it, before the race for what is left."""
        return self.lab_s + self.layouts * self.build_s + self.least_fio_s + self.trials * self.beside_s

    @property
    def most_beside_s(self) -> float:
        """What may pass beside fio in each trial for the least to end within the limit."""
        return (LIMIT_S - self.lab_s - self.layouts * self.build_s - self.least_fio_s) / self.trials

    def lines(self) -> Iterator[str]:
        """What to expect, part by part."""
        yield f"{self.trials} cells: {self.reads} read, {self.writes} write"
        yield f"  fio, at least: {format_duration(self.least_fio_s)}"
        yield f"  beside it, {self.beside_s:g} s a trial: {format_duration(self.trials * self.beside_s)}"
        yield f"  {self.layouts} layouts, {self.build_s:g} s each: {format_duration(self.layouts * self.build_s)}"
        yield f"  the lab's start and end: {format_duration(self.lab_s)}"
        word = "within" if self.least_s <= LIMIT_S else "OVER"
        yield f"one trial of each: {format_duration(self.least_s)}, {word} the limit of {format_duration(LIMIT_S)}"
        yield f"  it holds as long as a trial takes no more than {self.most_beside_s:.1f} s beside fio"


def expected(campaign: Campaign, beside_s: float, build_s: float, lab_s: float) -> Expected:
    """By what the campaign asks for; etcd's log is written, too."""
    writes = sum(map(_writes, campaign.workloads))
    layouts = len(campaign.layouts)
    reads = len(campaign.workloads) - writes
    return Expected(reads * layouts, writes * layouts, layouts, beside_s, build_s, lab_s)


def _writes(workload: Workload) -> bool:
    return any(value in _WRITES for job in workload.jobs for name, value in job.options if name in ("rw", "readwrite"))


def spent(run: RunDirectory, campaign: Campaign, wall_s: float) -> Iterator[str]:
    """What a run took, part by part, against the limit and the author's schedule."""
    trials, begun_s = run.trials(), datetime.fromisoformat(run.record().begun_at).timestamp()
    parts = dict.fromkeys(part for trial in trials for part in trial.seconds)
    sums = {part: sum(trial.seconds.get(part, 0.0) for trial in trials) for part in parts}
    sums["build and fill"] = sum(took(trials, begun_s).builds.values())
    cells = len({trial.key[:2] for trial in trials})
    yield f"{cells} cells, {len(trials)} trials"
    yield from known(cells_of(trials, campaign))
    for part, seconds in sums.items():
        yield f"  {part}: {format_duration(seconds)}"
    yield f"  the rest, lab and race's builds among it: {format_duration(max(0.0, wall_s - sum(sums.values())))}"
    word = "within" if wall_s <= LIMIT_S else "OVER"
    yield f"wall time: {format_duration(wall_s)}, {word} the limit of {format_duration(LIMIT_S)}"
    yield f"the schedule of the seed takes {format_duration(FIXED_S)}: 1/{FIXED_S / wall_s:.1f} of it"


def known(cells: Sequence[Cell]) -> Iterator[str]:
    """How many cells have a figure, an interval, one within what was asked for; and the verdicts."""
    intervals = [cell for cell in cells if cell.figure is not None and cell.figure.low is not None]
    settled = sum(not cell.is_unsettled for cell in intervals)
    yield f"  {measured(cells)} with a figure, {len(intervals)} with an interval, {settled} known to within 10 %"
    verdicts = Counter(cell.verdict for cell in cells if cell.trials)
    yield f"  {', '.join(f'{verdict} {count}' for verdict, count in verdicts.most_common())}"


def measured(cells: Sequence[Cell]) -> int:
    """How many cells have a figure."""
    return sum(cell.figure is not None for cell in cells)


def main() -> int:
    """Tell what to expect; run it and tell what it took. 1 where it took longer, or a cell has no figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_grid", description=__doc__)
    parser.add_argument("--plan", action="store_true", help="only tell what to expect")
    parser.add_argument("--beside", type=float, default=4.0, help="expected seconds of a trial beside fio [4]")
    parser.add_argument("--build", type=float, default=45.0, help="expected seconds of building a layout [45]")
    parser.add_argument("--lab", type=float, default=120.0, help="expected seconds of the lab's start and end [120]")
    parser.add_argument("--budget", type=float, default=_BUDGET_S / 60, help="minutes of trials and builds [90]")
    parser.add_argument("--zfs", default="2.1", help="OpenZFS in the lab [2.1]")
    parser.add_argument("--out", type=Path, default=Path("runs") / f"bench-grid-{time.strftime('%Y%m%d-%H%M')}")
    asked = parser.parse_args()
    campaign = grid(asked.budget * 60)
    print("\n".join(expected(campaign, asked.beside, asked.build, asked.lab).lines()), flush=True)
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
