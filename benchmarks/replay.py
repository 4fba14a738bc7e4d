"""Replay the stopping rule on recorded long trials: `python -m benchmarks.replay [RECORDING…]`.

Each cell is measured again from its recording as a live run would: trials in rounds, each until its figure is known,
further ones until the cell's is, the typical spread of trials taken from all cells of the campaign. What that spent and
said is held against the full runs: all seconds of all trials. A trial that would have gone on after its recording ends
is counted as unsettled there. Each order in which the recorded trials could have come is replayed once.
"""

import argparse
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import recordings
from benchmarks.playing import play
from benchmarks.recordings import Recorded
from poolproof.stopping.across import across
from poolproof.stopping.model import Between, Decision, Rule, Spread, TrialMean
from poolproof.stopping.spread import spread_of

FIXED_S = 180.0
"""Seconds of a cell in the schedule of the seeds."""

CellName = tuple[str, str, str]


@dataclass(frozen=True)
class Full:
    """The full runs of a cell: mean of all, and its interval over trials (None with one)."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Replayed:
    """One cell replayed once. `between` is what the rule says of it, `settled` whether every trial settled."""

    cell: CellName
    full: Full
    between: Between
    decisions: tuple[Decision, ...]

    @property
    def seconds(self) -> float:
        """Device-seconds spent."""
        return math.fsum(decision.used_s for decision in self.decisions)

    @property
    def settled(self) -> bool:
        return self.between.known and all(decision.settled for decision in self.decisions)

    @property
    def error(self) -> float:
        """Relative to the full runs."""
        return abs(self.between.mean / self.full.mean - 1)

    @property
    def covers(self) -> bool | None:
        """Whether the stated interval holds the mean of the full runs; None where none is stated."""
        low, high = self.between.low, self.between.high
        return None if low is None or high is None else low <= self.full.mean <= high


class _Cell:
    """A cell while it is replayed: its recorded trials in some order, and what was decided of those played."""

    def __init__(self, cell: CellName, trials: Sequence[Recorded], rule: Rule) -> None:
        self.cell, self._trials, self._rule = cell, trials, rule
        self.decisions: list[Decision] = []

    def play_next(self) -> bool:
        """Play one more trial; whether there was one."""
        if len(self.decisions) == len(self._trials):
            return False
        trial = self._trials[len(self.decisions)]
        rule = replace(self._rule, turnover_s=trial.turnover_s, max_s=max(self._rule.min_s, trial.seconds))
        self.decisions.append(play(trial.values, trial.interval_s, rule))
        return True

    @property
    def means(self) -> list[TrialMean]:
        return [TrialMean(d.mean, d.low, d.high) for d in self.decisions if d.mean is not None]

    def between(self, spread: Spread | None) -> Between:
        return across(self.means, self._rule, spread)


def replay(cells: dict[CellName, list[Recorded]], rule: Rule, *, alone: bool = False) -> list[Replayed]:
    """Each cell of one campaign, in rounds. `alone`: no cell tells another how much trials differ."""
    playing = [_Cell(cell, trials, rule) for cell, trials in cells.items()]
    for _ in range(rule.trials_min):
        for each in playing:
            each.play_next()
    spread = None
    ahead = True
    while ahead:
        spread = None if alone else spread_of([each.means for each in playing])
        played = [each.play_next() for each in playing if not each.between(spread).done]
        ahead = any(played)
    return [
        Replayed(each.cell, full_of(cells[each.cell], rule), each.between(spread), tuple(each.decisions))
        for each in playing
    ]


def full_of(trials: Sequence[Recorded], rule: Rule) -> Full:
    """What the full runs of a cell say, trials as units."""
    between = across([TrialMean(trial.mean) for trial in trials], rule)
    return Full(between.mean, between.low, between.high)


def cells_of(name: str, trials: Iterable[Recorded]) -> dict[CellName, list[Recorded]]:
    """The trials of each cell that moved anything."""
    cells: dict[CellName, list[Recorded]] = {}
    for trial in trials:
        if trial.mean > 0:
            cells.setdefault((name, trial.workload, trial.layout), []).append(trial)
    return cells


def rotations(cells: dict[CellName, list[Recorded]]) -> Iterator[dict[CellName, list[Recorded]]]:
    """The same cells with each of their trials first, once."""
    for shift in range(max(len(trials) for trials in cells.values())):
        yield {cell: trials[shift % len(trials) :] + trials[: shift % len(trials)] for cell, trials in cells.items()}


def report(rounds: Sequence[Sequence[Replayed]], rule: Rule) -> Iterator[str]:
    """The lines that the proof consists of, from campaigns replayed in each of their orders."""
    replayed = [each for round_ in rounds for each in round_]
    cells = len({each.cell for each in replayed})
    orders = len(replayed) / cells
    seconds = math.fsum(each.seconds for each in replayed) / orders
    known = [each for each in replayed if each.settled]
    stated = [each.covers for each in known if each.covers is not None]
    wide = [each.covers for each in replayed if not each.settled and each.covers is not None]
    yield f"{cells} cells, {orders:g} orders of their trials; until {rule.until:.1%} with {rule.confidence:.0%}"
    ratio = FIXED_S * cells / seconds
    yield f"device time: {seconds:.0f} s, {seconds / cells:.1f} s a cell: 1/{ratio:.1f} of {FIXED_S:g} s each"
    trials = statistics.fmean(len(each.decisions) for each in replayed)
    yield f"trials: {trials:.2f} a cell, of {_median(d.used_s for r in replayed for d in r.decisions):.1f} s (median)"
    yield f"known: {len(known) / len(replayed):.0%} of cells; {_reasons(replayed)}"
    yield f"error against the full runs: median {_median(each.error for each in replayed):.2%}, {_errors(known)}"
    yield f"coverage: {_share(stated)} of known cells, {_share(wide)} of the others that have an interval"
    yield from _winners(rounds)


def _winners(rounds: Sequence[Sequence[Replayed]]) -> Iterator[str]:
    """Whether the fastest layout of each workload is the same, and whether one is wrong where the full runs tell."""
    groups = [group for round_ in rounds for group in _by_workload(round_)]
    pairs = [(_best(group), max(group, key=lambda each: each.between.mean), group) for group in groups]
    told = [(best, chosen) for best, chosen, group in pairs if _is_separated(best, group)]
    wrong = [f"  {best.cell[1]}: {chosen.cell[2]}, not {best.cell[2]}" for best, chosen in told if best is not chosen]
    yield f"top-1 agreement: {sum(best is chosen for best, chosen, _ in pairs)} of {len(pairs)} workloads and orders"
    yield f"wrong winners where the full runs tell the layouts apart: {len(wrong)} of {len(told)}"
    yield from sorted(set(wrong))


def _by_workload(replayed: Sequence[Replayed]) -> Iterable[list[Replayed]]:
    groups: dict[tuple[str, ...], list[Replayed]] = {}
    for each in replayed:
        groups.setdefault(each.cell[:2], []).append(each)
    return groups.values()


def _best(group: Sequence[Replayed]) -> Replayed:
    return max(group, key=lambda each: each.full.mean)


def _is_separated(best: Replayed, group: Sequence[Replayed]) -> bool:
    """Whether the interval of the full runs of the best lies above all others."""
    low = best.full.low
    others = [each.full.high for each in group if each is not best]
    return low is not None and bool(others) and all(high is not None and high < low for high in others)


def _reasons(replayed: Sequence[Replayed]) -> str:
    within: Counter[str] = Counter(reason.name for each in replayed for d in each.decisions for reason in d.reasons)
    within["trials disagree"] = sum(each.between.disagree for each in replayed)
    within["trials too few"] = sum(not each.between.known for each in replayed)
    return ", ".join(f"{name} {count}" for name, count in within.most_common() if count)


def _errors(known: Sequence[Replayed]) -> str:
    if not known:
        return "no cell known"
    ranked = sorted(each.error for each in known)
    return f"of known ones {_median(ranked):.2%}, nine in ten within {ranked[math.ceil(0.9 * len(ranked)) - 1]:.2%}"


def _median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def _share(held: Sequence[bool | None]) -> str:
    return f"{sum(map(bool, held))}/{len(held)} = {sum(map(bool, held)) / len(held):.1%}" if held else "0 of 0"


def _rows(replayed: Sequence[Replayed]) -> Iterator[str]:
    """A line a cell: what it took and said."""
    for each in replayed:
        between = each.between
        interval = "" if between.low is None else f" [{between.low:.4g}, {between.high:.4g}]"
        spans = "+".join(f"{decision.used_s:g}" for decision in each.decisions)
        names = ",".join(sorted({reason.name for decision in each.decisions for reason in decision.reasons}))
        word = "known" if each.settled else f"unsettled {names}".strip()
        yield f"{' '.join(each.cell)}: {between.mean:.4g}{interval} in {spans} s, full {each.full.mean:.4g}; {word}"


def main() -> int:
    """Print the report over all recordings."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--until", type=float, default=3.0, help="per cent [3]")
    parser.add_argument("--confidence", type=float, default=95.0, help="per cent [95]")
    parser.add_argument("--min", type=float, default=3.0, help="seconds of a trial [3]")
    parser.add_argument("--alone", action="store_true", help="no cell tells another how much trials differ")
    parser.add_argument("--cells", action="store_true", help="a line for each cell too")
    asked = parser.parse_args()
    rule = Rule(until=asked.until / 100, confidence=asked.confidence / 100, min_s=asked.min)
    paths = asked.recordings or recordings.paths(recordings.FOLDER)
    if not paths:
        print("nothing is recorded yet: python -m benchmarks.record benchmarks/campaigns/long-*.yaml")
        return 1
    rounds: list[list[Replayed]] = []
    for path in paths:
        head, trials = recordings.read(path)
        for cells in rotations(cells_of(head.campaign, trials)):
            rounds.append(replay(cells, rule, alone=asked.alone))
    if asked.cells:
        print("\n".join(line for round_ in rounds for line in _rows(round_)))
    print("\n".join(report(rounds, rule)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
