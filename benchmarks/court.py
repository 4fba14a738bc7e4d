"""Measure the same campaign again and again, and count wrong words and intervals: `python -m benchmarks.court`.

    python -m benchmarks.court [--lab] [--again] [--only fixed|until] [RUNS] [FOLDER]

Runs of two kinds alternate: with a fixed time (benchmarks/campaigns/court.yaml) and with `until` (court-until.yaml).
court-until.yaml has other layouts instead of those on btrfs: btrfs writes dirty data back every 30 s, so `until` would
measure each of their writes for at least 90 s. With `--only`, the runs of the other kind are left out: `--only until
12` makes six runs. `poolproof compare` then compares every two runs of the same kind: nothing changed between them, so
each `faster` and each `slower` is false. 14 runs make 42 pairs. As these pairs share runs, the tables also have a row
for the pairs that don't: the first run with the second, the third with the fourth, and so on. With `--lab`, both
campaigns are court-zfs.yaml, and each run has a new lab: ZFS layouts, four of which are converted into each other in
place. A difference is planted in each pair: the speeds of the second run are divided by 1.2, and the cells that are
then called slower are counted.

Needs root. The runs are kept in FOLDER (court-runs or court-lab-runs). `compare` uses the earlier runs in that folder,
so each pair is also judged without them, as the first pair of a user is. Runs that are complete there are not measured
again, so an interrupted court can be continued, and more runs can be added later. A run takes a few minutes, and longer
in a lab. With `--again`, the stopping rule decides again about the recorded trials of the runs with `until`
(`benchmarks/redecided.py`), to show what a change of the rule would have changed. Earlier runs are then not used.
"""

import argparse
import itertools
import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.own_program import poolproof
from benchmarks.redecided import redecided
from poolproof.api import load_run
from poolproof.cli.signals import end_in_order
from poolproof.errors import PoolproofError, RunError
from poolproof.results.compare.cell_comparison import ComparedCell, Side, compare
from poolproof.results.compare.measured import Measured
from poolproof.results.runs.loading import LoadedRun
from poolproof.statistics.comparison import LEAST_EFFECT, decide
from poolproof.statistics.shared_variance import variance_of

CAMPAIGNS = Path(__file__).parent / "campaigns"
KINDS = {"fixed": (), "until": ("--until", "5%", "--min", "3s", "--max", "6s", "--trials", "3..8")}
"""The options of `poolproof run` for each kind of run. `--min` is the default; the default of `--max`, 180 s, would
take hours.
"""

PLANTED = 0.2
_RUNS = 14
_DEVIATIONS = (0.01, 0.02, 0.04, 0.08)


@dataclass(frozen=True)
class Court:
    """Where the runs are measured.

    `campaigns`: the campaign for each kind of run.
    `options`: the options of `poolproof run`.
    `limit_s`: the longest time of a run, in seconds.
    """

    campaigns: Mapping[str, Path]
    folder: Path
    options: tuple[str, ...]
    limit_s: float


HERE = Court(
    {"fixed": CAMPAIGNS / "court.yaml", "until": CAMPAIGNS / "court-until.yaml"}, Path("court-runs"), (), 1800.0
)
LAB = Court(dict.fromkeys(KINDS, CAMPAIGNS / "court-zfs.yaml"), Path("court-lab-runs"), ("--lab",), 7200.0)


@dataclass(frozen=True)
class Pair:
    """Two runs of the same kind. `disjoint` is true for a pair none of whose runs is in another disjoint pair."""

    kind: str
    a: LoadedRun
    b: LoadedRun
    disjoint: bool = True


@dataclass(frozen=True)
class Judged:
    """The comparison of a pair. `false` has the cells that are called faster or slower, although nothing changed.

    `excluding` has the cells whose own 95% interval does not contain 0%. `found` is the number of cells that are
    called slower once the speeds of the second run are divided by 1.2. `undecided` is the number of cells without a
    word before that. `planted` has an entry for each cell.
    """

    pair: Pair
    cells: int
    tested: int
    false: tuple[str, ...]
    excluding: tuple[str, ...]
    undecided: int
    planted: tuple["Planted", ...]

    @property
    def found(self) -> int:
        return sum(each.is_found for each in self.planted)


@dataclass(frozen=True)
class Planted:
    """A cell with a planted difference.

    `deviation`: the standard deviation of the trials' logarithms, pooled over both runs. None if no run has two trials.
    `is_found`: whether the cell is called slower.
    `limit`: how the cell is tested, which may be the reason why it is not called slower.
    """

    deviation: float | None
    is_found: bool
    limit: str


def judge(pair: Pair, *, alone: bool = False) -> Judged:
    """Compare two runs of the same campaign; with `alone`, without the earlier runs in their folder.

    Raises: RunError: no cell has a valid result in both.
    """
    a, b = pair.a, pair.b
    if alone:
        a, b = (replace(run, record=replace(run.record, facts={**run.record.facts, "machine": ""})) for run in (a, b))
    cells = compare(Side(a), Side(b), effect=LEAST_EFFECT).cells
    differences = [cell.difference for cell in cells]
    planted = decide([replace(each, log=each.log - math.log1p(PLANTED)) for each in differences], LEAST_EFFECT)
    tested = [cell for cell in cells if cell.difference.error is not None]
    return Judged(
        pair=pair,
        cells=len(cells),
        tested=len(tested),
        false=tuple(_shown(cell) for cell in cells if cell.decision.word in ("faster", "slower")),
        excluding=tuple(_shown(cell) for cell in tested if not _contains_none(cell)),
        undecided=sum(cell.decision.word == "undecided" for cell in cells),
        planted=tuple(
            Planted(_deviation((cell.a, cell.b)), decision.word == "slower", _limit(cell))
            for cell, decision in zip(cells, planted, strict=True)
        ),
    )


def _deviation(sides: Sequence[Measured]) -> float | None:
    groups = [logs for side in sides for _, logs in side.log.logs if len(logs) > 1]
    return math.sqrt(statistics.fmean(variance_of(logs) for logs in groups)) if groups else None


def _limit(cell: ComparedCell) -> str:
    """Return how the cell is tested. If it is not, the reason without the values in parentheses."""
    untested = [side.untested for side in (cell.a, cell.b) if side.untested]
    if untested or cell.difference.error is None:
        return f"not tested: {min(untested, default='single trials').partition(' (')[0]}"
    if cell.difference.below or cell.difference.above:
        return "tested at the extremes"
    return "tested with the spread of the trials"


def _contains_none(cell: ComparedCell) -> bool:
    low, high = cell.difference.interval.low, cell.difference.interval.high
    return low is not None and high is not None and low <= 1 <= high


def _shown(cell: ComparedCell) -> str:
    return f"{cell.key.workload} on {cell.key.layout} {cell.decision.word} ×{math.exp(cell.difference.log):.2f}"


def runs_in(folder: Path, count: int, only: str | None = None) -> Iterator[tuple[str, Path]]:
    """Yield the kind and the run directory of each run; kinds alternate. `only`: leave out runs of another kind."""
    kinds = list(KINDS)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        if only in (None, kind):
            yield kind, folder / f"{number:03}-{kind}"


def pairs_of(runs: Sequence[tuple[str, LoadedRun]]) -> Iterator[Pair]:
    """Yield every two runs of the same kind, in the order in which they were measured."""
    for kind in KINDS:
        own = list(enumerate(run for each, run in runs if each == kind))
        for (i, a), (j, b) in itertools.combinations(own, 2):
            yield Pair(kind, a, b, disjoint=i % 2 == 0 and j == i + 1)


def _measured(court: Court, path: Path, kind: str) -> LoadedRun | None:
    """Return a finished run; measure it first, or the rest of it. None, with a message, if that fails."""
    known = load_run(path, lenient=True) if path.exists() else None
    if known is None:
        words = ("run", str(court.campaigns[kind]), "--out", str(path), "--plain", *court.options, *KINDS[kind])
    elif known.done < known.wanted:
        words = ("resume", str(path), "--plain")
    else:
        return known
    poolproof(words, court.limit_s, keep=True)
    try:
        run = load_run(path)
    except PoolproofError as error:
        print(f"{path.name} is left out: {error.message}", file=sys.stderr)
        return None
    if run.done < run.wanted:
        print(f"{path.name} is left out: {run.done} of {run.wanted} trials are done", file=sys.stderr)
        return None
    return run


def rows(found: Sequence[Judged]) -> Iterator[str]:
    """Yield the table: a row for each kind of pair, one for all, and one for the pairs that share no run."""
    yield (
        "| pairs | cells | pairs with a false conclusion | false conclusions "
        "| intervals without 0% | undecided | 20% found |"
    )
    yield "|---|---|---|---|---|---|---|"
    for kind in (*KINDS, "all", "disjoint"):
        own = [each for each in found if kind in ("all", each.pair.kind) or (kind == "disjoint" and each.pair.disjoint)]
        cells, tested = sum(each.cells for each in own), sum(each.tested for each in own)
        if not tested:
            continue
        wrong = sum(bool(each.false) for each in own)
        words, excluding = sum(len(each.false) for each in own), sum(len(each.excluding) for each in own)
        undecided, planted = sum(each.undecided for each in own), sum(each.found for each in own)
        yield (
            f"| {len(own)} {kind} | {cells} | {wrong} ({wrong / len(own):.0%}) | {words} ({words / cells:.1%}) "
            f"| {excluding} ({excluding / tested:.1%}) | {undecided / cells:.0%} | {planted / cells:.0%} |"
        )


def rows_by_deviation(found: Sequence[Judged]) -> Iterator[str]:
    """Yield a table of the cells whose planted difference was found, by the standard deviation of their trials."""
    yield "| standard deviation of the trials | cells | 20% found |"
    yield "|---|---|---|"
    cells = [cell for each in found for cell in each.planted]
    for low, high in itertools.pairwise((0.0, *_DEVIATIONS, math.inf)):
        own = [cell.is_found for cell in cells if cell.deviation is not None and low <= cell.deviation < high]
        if own:
            name = f"{low:.0%} to {high:.0%}" if high < math.inf else f"{low:.0%} or more"
            yield f"| {name} | {len(own)} | {sum(own) / len(own):.0%} |"


def rows_by_limit(found: Sequence[Judged]) -> Iterator[str]:
    """Yield a table of the cells whose planted difference was found or not, by how they are tested."""
    yield "| cells | found: fixed | found: until | not found: fixed | not found: until |"
    yield "|---|---|---|---|---|"
    counts = Counter((cell.limit, cell.is_found, each.pair.kind) for each in found for cell in each.planted)
    for limit in sorted({limit for limit, _, _ in counts}, reverse=True):
        numbers = (str(counts[limit, is_found, kind]) for is_found in (True, False) for kind in KINDS)
        yield f"| {limit} | {' | '.join(numbers)} |"


def main() -> None:
    """Measure the runs that are missing, then print a line for each false conclusion, and the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.court",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for flag in ("--lab", "--again"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("runs", type=int, nargs="?", default=_RUNS)
    parser.add_argument("folder", type=Path, nargs="?")
    given = parser.parse_args()
    end_in_order()
    court = LAB if given.lab else HERE
    folder: Path = given.folder or court.folder
    folder.mkdir(parents=True, exist_ok=True)
    found = [(kind, _measured(court, path, kind)) for kind, path in runs_in(folder, given.runs, given.only)]
    runs = [(kind, run) for kind, run in found if run is not None]
    pairs = list(pairs_of([(kind, redecided(run)) for kind, run in runs] if given.again else runs))
    titles = (("without earlier runs", True), ("with the earlier runs of the folder", False))
    for title, alone in titles[: 1 if given.again else 2]:
        print(f"\n{title}:\n")
        judged = []
        for pair in pairs:
            name = f"{pair.a.path.name} and {pair.b.path.name}"
            try:
                judged.append(judge(pair, alone=alone))
            except RunError as error:
                print(f"{name}: {error.message}", file=sys.stderr)
                continue
            for text in judged[-1].false:
                print(f"{name}: {text}")
        print("\n".join((*rows(judged), "", *rows_by_deviation(judged), "", *rows_by_limit(judged))))


if __name__ == "__main__":
    main()
