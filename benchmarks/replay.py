"""Replay the stopping rule on recorded long trials: `python -m benchmarks.replay [RECORDING…] [--proof]`.

Each cell is measured once more from its recording, as in a live run. Trials run in rounds, each until it has converged,
and are repeated until the cell has converged. The typical variance is estimated from all cells of the campaign so far.
The time and the results are then compared with the full runs, which are the complete recordings of all trials. A trial
that would need more time than was recorded counts as not converged. To use each recorded trial as the first one, the
replay is repeated with the trials in rotated order.
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
from benchmarks.result import Result
from poolproof.statistics.shared_variance import VariancePrior, fit_prior
from poolproof.stopping.across import across
from poolproof.stopping.model import IMPRECISE, AcrossTrials, StoppingDecision, StoppingRule, TrialMean

FIXED_S = 180.0
"""The time per cell in the original schedule, in seconds."""
PROOF = StoppingRule(until=0.10, min_s=2.0, max_s=8.0, trials_min=1, trials_max=2)
"""The stopping rule for the results in docs/benchmarks.md, with short trials as for a first look at a grid."""
_NOTHING = "nothing is recorded yet: python -m benchmarks.record benchmarks/campaigns/long-*.yaml"

CellName = tuple[str, str, str]


@dataclass(frozen=True)
class Full:
    """The result of a cell's full runs: the mean, and its confidence interval across trials (None if unknown)."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Replayed:
    """One replay of a cell.

    `between`: the result of the stopping rule.
    `settled`: whether the cell and each of its trials converged.
    """

    cell: CellName
    full: Full
    between: AcrossTrials
    decisions: tuple[StoppingDecision, ...]

    @property
    def seconds(self) -> float:
        """Return the total time that the replayed trials took, in seconds."""
        return math.fsum(decision.used_s for decision in self.decisions)

    @property
    def settled(self) -> bool:
        return self.between.is_precise and all(decision.converged for decision in self.decisions)

    @property
    def reaches(self) -> bool:
        """True if the confidence interval, widened to the extremes of all trials, contains the full runs' mean."""
        low, high, mean = self.between.low, self.between.high, self.between.mean
        bounds = [bound for each in self.decisions for bound in (each.lowest, each.highest) if bound is not None]
        if low is None or high is None or not bounds:
            return bool(self.covers)
        return low * min(1.0, min(bounds) / mean) <= self.full.mean <= high * max(1.0, max(bounds) / mean)

    @property
    def only_imprecise(self) -> bool:
        """True if the rate did not change in any of the trials."""
        return all(reason.name in IMPRECISE for decision in self.decisions for reason in decision.reasons)

    @property
    def error(self) -> float:
        """Return the relative error, compared with the full runs."""
        return abs(self.between.mean / self.full.mean - 1)

    @property
    def covers(self) -> bool | None:
        """True if the confidence interval contains the mean of the full runs. None without an interval."""
        low, high = self.between.low, self.between.high
        return None if low is None or high is None else low <= self.full.mean <= high


Winners = tuple[Replayed, Replayed]
"""A workload's fastest layout according to the full runs, and its fastest layout according to the replay."""


class _Cell:
    """A cell during its replay: its recorded trials in a certain order, and the decisions on those replayed so far."""

    def __init__(self, cell: CellName, trials: Sequence[Recorded], rule: StoppingRule) -> None:
        self.cell, self._trials, self._rule = cell, trials, rule
        self.decisions: list[StoppingDecision] = []

    def play_next(self) -> bool:
        """Replay one more trial. Return False if there are no more."""
        if len(self.decisions) == len(self._trials):
            return False
        trial = self._trials[len(self.decisions)]
        most_s = max(self._rule.min_s, min(self._rule.max_s, trial.seconds))
        rule = replace(self._rule, turnover_s=trial.turnover_s, max_s=most_s)
        self.decisions.append(play(trial.values, trial.interval_s, rule))
        return True

    @property
    def means(self) -> list[TrialMean]:
        return [_mean_of(each.mean, each) for each in self.decisions if each.mean is not None]

    def between(self, spread: VariancePrior | None) -> AcrossTrials:
        return across(self.means, self._rule, spread)


def _mean_of(mean: float, decision: StoppingDecision) -> TrialMean:
    error = None if decision.error_share is None else decision.error_share * mean
    return TrialMean(mean, decision.low, decision.high, error, decision.freedom)


def replay(cells: dict[CellName, list[Recorded]], rule: StoppingRule, *, alone: bool = False) -> list[Replayed]:
    """Replay the cells of one campaign, layout by layout, in rounds.

    `alone`: whether to ignore the variance of the other cells.
    """
    playing = [_Cell(cell, trials, rule) for cell, trials in cells.items()]
    for layout in dict.fromkeys(layout for _, _, layout in cells):
        own = [each for each in playing if each.cell[2] == layout]
        for _ in range(rule.trials_max):
            for each in own:
                if len(each.decisions) < rule.trials_min or not each.between(_spread(playing, alone)).done:
                    each.play_next()
    spread = _spread(playing, alone)
    between_full = fit_prior([trial.mean for trial in trials] for trials in cells.values())
    return [
        Replayed(each.cell, full_of(cells[each.cell], rule, between_full), each.between(spread), tuple(each.decisions))
        for each in playing
    ]


def _spread(playing: Sequence[_Cell], alone: bool) -> VariancePrior | None:
    return None if alone else fit_prior([mean.mean for mean in each.means] for each in playing)


def full_of(trials: Sequence[Recorded], rule: StoppingRule, spread: VariancePrior | None) -> Full:
    """Return the result of a cell's full runs.

    Each trial counts as one sample, and the typical variance is that of all cells.
    """
    as_planned = replace(rule, trials_min=len(trials), trials_max=max(len(trials), rule.trials_max))
    between = across(_means(trials), as_planned, spread)
    return Full(between.mean, between.low, between.high)


def _means(trials: Sequence[Recorded]) -> list[TrialMean]:
    return [TrialMean(trial.mean) for trial in trials]


def cells_of(name: str, trials: Iterable[Recorded]) -> dict[CellName, list[Recorded]]:
    """Return the trials of each cell, leaving out trials that neither read nor wrote anything."""
    cells: dict[CellName, list[Recorded]] = {}
    for trial in trials:
        if trial.mean > 0:
            cells.setdefault((name, trial.workload, trial.layout), []).append(trial)
    return cells


def by_campaign(paths: Iterable[Path]) -> dict[str, dict[CellName, list[Recorded]]]:
    """Return the cells of each recorded campaign. The layouts of a campaign may be in several files."""
    campaigns: dict[str, dict[CellName, list[Recorded]]] = {}
    for path in paths:
        head, trials = recordings.read(path)
        campaigns.setdefault(head.campaign, {}).update(cells_of(head.campaign, trials))
    return campaigns


def rotations(cells: dict[CellName, list[Recorded]]) -> Iterator[dict[CellName, list[Recorded]]]:
    """Yield the cells several times, each time with a different trial first."""
    for shift in range(max(len(trials) for trials in cells.values())):
        yield {cell: trials[shift % len(trials) :] + trials[: shift % len(trials)] for cell, trials in cells.items()}


def report(rounds: Sequence[Sequence[Replayed]], rule: StoppingRule) -> Iterator[str]:
    """Yield the lines of the report on the campaigns, each of which was replayed in several orders."""
    replayed = [each for round_ in rounds for each in round_]
    cells = len({each.cell for each in replayed})
    orders = len(replayed) / cells
    seconds = math.fsum(each.seconds for each in replayed) / orders
    known = [each for each in replayed if each.settled]
    stated, stood, changed, reached = held_by_kind(replayed)
    yield f"{cells} cells, {orders:g} orders of their trials; until {rule.until:.1%} with {rule.confidence:.0%}"
    ratio = FIXED_S * cells / seconds
    yield f"device time: {seconds:.0f} s, {seconds / cells:.1f} s per cell: 1/{ratio:.1f} of {FIXED_S:g} s each"
    trials = statistics.fmean(len(each.decisions) for each in replayed)
    usual_s = _median(decision.used_s for each in replayed for decision in each.decisions)
    yield f"trials: {trials:.2f} per cell, {usual_s:.1f} s each (median)"
    yield f"converged: {len(known) / len(replayed):.0%} of cells; else {_reasons(replayed)}"
    yield f"error relative to the full runs: median {_median(each.error for each in replayed):.2%}, {_errors(known)}"
    yield f"coverage: {_share(stated)} of converged cells; of the others with an interval"
    yield f"  {_share(stood)} if trials are only imprecise, {_share(changed)} if the rate of one changes,"
    yield f"  {_share(reached)} of these with the interval widened to the extremes of the trials"
    yield from _winners(rounds)


def held_by_kind(replayed: Iterable[Replayed]) -> tuple[list[bool], list[bool], list[bool], list[bool]]:
    """Return, as four lists, whether each confidence interval contains the true value.

    The first three are for cells that converged, for cells that are only imprecise, and for all others. The fourth is
    for those that converged and all others except the imprecise ones, with intervals widened to the extremes of their
    trials.
    """
    kinds: tuple[list[bool], list[bool], list[bool], list[bool]] = ([], [], [], [])
    for each in replayed:
        if each.covers is not None:
            kinds[0 if each.settled else 1 if each.only_imprecise else 2].append(each.covers)
            if not each.only_imprecise:
                kinds[3].append(each.reaches)
    return kinds


def claims(rounds: Sequence[Sequence[Replayed]]) -> list[Result]:
    """Return the claims that a replay must fulfil, each with its value and its limit."""
    replayed = [each for round_ in rounds for each in round_]
    cells = len({each.cell for each in replayed})
    seconds = math.fsum(each.seconds for each in replayed) / len(replayed)
    of_known, imprecise, changing, _ = held_by_kind(replayed)
    held = [*of_known, *imprecise, *changing]
    known = [each for each in replayed if each.settled]
    told_held = f"{_share(held)}; of converged cells {_share(of_known)}"
    covered = 100 * sum(held) / len(held)
    told, wrong = _told_and_wrong(rounds)
    pairs = len({best.cell[:2] for best, _ in told})
    off = [each for each in known if each.error > PROOF.until]
    of_all = f"of {len(known)} replays that converged, of {len(replayed)}"
    replays = f"{cells} cells, {len(replayed) / cells:g} orders of their trials"
    return [
        Result("device time per cell", seconds, FIXED_S / 15, " s", f"1/{FIXED_S / seconds:.1f} of 180 s; {replays}"),
        Result("median error", 100 * _median(each.error for each in replayed), 3.0, "%", _errors(known)),
        Result("coverage off 95%", abs(covered - 95), 3.0, " points", told_held),
        Result("converged, but off by more", 100 * len(off) / max(1, len(known)), 5.0, "%", of_all),
        Result("wrong winners", len(wrong), 0, "", f"of {pairs} workloads whose layouts differ in the full runs"),
    ]


def _winners(rounds: Sequence[Sequence[Replayed]]) -> Iterator[str]:
    """Yield how often the replay finds the same fastest layout, and how often it finds a wrong one."""
    told, wrong = _told_and_wrong(rounds)
    pairs = list(_pairs(rounds))
    yield f"top-1 agreement: {sum(best is chosen for best, chosen, _ in pairs)} of {len(pairs)} workloads and orders"
    yield f"wrong winners if the layouts differ in the full runs: {len(wrong)} of {len(told)}"
    yield from sorted({f"  {best.cell[1]}: {chosen.cell[2]}, not {best.cell[2]}" for best, chosen in wrong})


def _told_and_wrong(rounds: Sequence[Sequence[Replayed]]) -> tuple[list[Winners], list[Winners]]:
    told = [(best, chosen) for best, chosen, group in _pairs(rounds) if _is_separated(best, group)]
    return told, [(best, chosen) for best, chosen in told if best is not chosen]


def _pairs(rounds: Sequence[Sequence[Replayed]]) -> Iterator[tuple[Replayed, Replayed, Sequence[Replayed]]]:
    """For each workload, yield the fastest layout in the full runs, the fastest one in the replay, and all layouts."""
    for round_ in rounds:
        for group in _by_workload(round_):
            yield _best(group), max(group, key=lambda each: each.between.mean), group


def _by_workload(replayed: Sequence[Replayed]) -> Iterable[list[Replayed]]:
    groups: dict[tuple[str, ...], list[Replayed]] = {}
    for each in replayed:
        groups.setdefault(each.cell[:2], []).append(each)
    return groups.values()


def _best(group: Sequence[Replayed]) -> Replayed:
    return max(group, key=lambda each: each.full.mean)


def _is_separated(best: Replayed, group: Sequence[Replayed]) -> bool:
    """True if, in the full runs, the confidence interval of the best layout is above those of all others."""
    low = best.full.low
    others = [each.full.high for each in group if each is not best]
    return low is not None and bool(others) and all(high is not None and high < low for high in others)


def _reasons(replayed: Sequence[Replayed]) -> str:
    within: Counter[str] = Counter(reason.name for each in replayed for d in each.decisions for reason in d.reasons)
    within["trials disagree"] = sum(each.between.disagree for each in replayed)
    within["trials too few"] = sum(not each.between.is_precise for each in replayed)
    return ", ".join(f"{name} {count}" for name, count in within.most_common() if count)


def _errors(known: Sequence[Replayed]) -> str:
    if not known:
        return "no cell converged"
    ranked = sorted(each.error for each in known)
    return (
        f"of converged cells {_median(ranked):.2%}, nine in ten within {ranked[math.ceil(0.9 * len(ranked)) - 1]:.2%}"
    )


def _median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def _share(held: Sequence[bool]) -> str:
    return f"{sum(held)}/{len(held)} = {sum(held) / len(held):.1%}" if held else "0 of 0"


def _rows(replayed: Sequence[Replayed]) -> Iterator[str]:
    """Yield a line for each cell, with its result and the time that it took."""
    for each in replayed:
        between = each.between
        interval = "" if between.low is None else f" [{between.low:.4g}, {between.high:.4g}]"
        spans = "+".join(f"{decision.used_s:g}" for decision in each.decisions)
        names = ",".join(sorted({reason.name for decision in each.decisions for reason in decision.reasons}))
        word = "converged" if each.settled else f"not converged {names}".strip()
        yield f"{' '.join(each.cell)}: {between.mean:.4g}{interval} in {spans} s, full {each.full.mean:.4g}; {word}"


def rounds_of(rule: StoppingRule) -> list[list[Replayed]]:
    """Return all recordings, replayed with this stopping rule in each order of their trials."""
    return _rounds(recordings.paths(recordings.FOLDER), rule)


def measure() -> list[Result]:
    """Return the results for all recordings with the stopping rule of docs/benchmarks.md."""
    return claims(rounds_of(PROOF))


def _rounds(paths: Iterable[Path], rule: StoppingRule, *, alone: bool = False) -> list[list[Replayed]]:
    campaigns = by_campaign(paths).values()
    return [replay(turned, rule, alone=alone) for cells in campaigns for turned in rotations(cells)]


def main() -> int:
    """Print the report on the given recordings, or on all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--until", type=float, default=3.0, help="per cent [3]")
    parser.add_argument("--confidence", type=float, default=95.0, help="per cent [95]")
    parser.add_argument("--min", type=float, default=3.0, help="minimum length of a trial in seconds [3]")
    parser.add_argument(
        "--max", type=float, default=180.0, help="maximum length of a trial in seconds, limited by the recording [180]"
    )
    parser.add_argument("--trials", default="2..6", help="the minimum and maximum number of trials per cell [2..6]")
    parser.add_argument("--alone", action="store_true", help="do not use the variance of other cells")
    parser.add_argument(
        "--proof", action="store_true", help="also print the documented results, with the rule used there"
    )
    parser.add_argument("--cells", action="store_true", help="also print a line for each cell")
    asked = parser.parse_args()
    least, _, most = asked.trials.partition("..")
    rule = StoppingRule(
        until=asked.until / 100,
        confidence=asked.confidence / 100,
        min_s=asked.min,
        max_s=asked.max,
        trials_min=int(least),
        trials_max=int(most or least),
    )
    paths = asked.recordings or recordings.paths(recordings.FOLDER)
    if not paths:
        print(_NOTHING)
        return 1
    rule = PROOF if asked.proof else rule
    rounds = _rounds(paths, rule, alone=asked.alone)
    if asked.cells:
        print("\n".join(line for round_ in rounds for line in _rows(round_)))
    print("\n".join(report(rounds, rule)))
    results = claims(rounds) if asked.proof else []
    print("".join(f"{result.line()}\n" for result in results), end="")
    return int(not all(result.is_ok for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
