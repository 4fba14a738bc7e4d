"""The layouts of a run in order, ties as ties, with what each gives beside speed.

Every two layouts are compared (Welch's test on logarithms, Holm over all pairs). A layout's place is then a range: from
1 + the number of layouts that are surely better, to the last place that leaves room for those that are surely worse.
A layout whose figure did not settle is tested against none, and may have any place.
All ranges hold the true places together with 95 % confidence. Source: Mogstad, Romano, Shaikh and Wilhelm (2024),
Inference for Ranks, Review of Economic Studies 91, 476-518.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Metric
from poolproof.campaign.nearest import listed
from poolproof.errors import RunError, UsageError
from poolproof.results.compare.decision import ComparisonDecision, decide
from poolproof.results.compare.finished import FinishedRun, Measured, metrics_of
from poolproof.results.compare.goal import Goal
from poolproof.results.compare.reasons import in_groups
from poolproof.results.compare.safety import Safety, safety
from poolproof.results.compare.welch import Difference, LogMean, difference, mixture
from poolproof.results.runs.summary import WORST_FIRST
from poolproof.rules.model import Verdict

LEAST_EFFECT = 0.02
"""The least difference that matters, as a share, where nobody says another."""


@dataclass(frozen=True)
class Entry:
    """A layout that counts, before it has a place. `cells` by workload."""

    layout: str
    cells: Mapping[str, Measured]
    score: LogMean

    @property
    def unsteady(self) -> tuple[str, ...]:
        """The workloads under which it did not settle: nothing is tested of it then."""
        return tuple(name for name, each in self.cells.items() if each.unsteady)

    @property
    def verdict(self) -> Verdict:
        """The worst of its cells'."""
        return min((each.cell.verdict for each in self.cells.values()), key=WORST_FIRST.index)


@dataclass(frozen=True)
class Ranked:
    """A layout with its place, `first` to `last`: the same number where nothing ties with it.

    `to_leader` is its speed beside that of the layout that leads by its mean; None for that one itself.
    """

    entry: Entry
    first: int
    last: int
    to_leader: Difference | None
    safety: Safety


@dataclass(frozen=True)
class Pair:
    """Two layouts, the better mean first. `decision` is faster where they are apart."""

    better: str
    worse: str
    difference: Difference
    decision: ComparisonDecision

    @property
    def is_tie(self) -> bool:
        """Whether nothing tells the two apart."""
        return self.decision.word != "faster"


@dataclass(frozen=True)
class Excluded:
    """A layout that has no place, and why."""

    layout: str
    why: str


@dataclass(frozen=True)
class Ranking:
    """`metrics` by workload. `ranked` stands by mean, the best first."""

    run: FinishedRun
    goal: Goal
    metrics: Mapping[str, Metric]
    effect: float
    ranked: tuple[Ranked, ...]
    pairs: tuple[Pair, ...]
    excluded: tuple[Excluded, ...]

    @property
    def best(self) -> tuple[Ranked, ...]:
        """Those that may be the best: with 95 % confidence the true best is among them."""
        return tuple(each for each in self.ranked if each.first == 1)

    @property
    def safer(self) -> tuple[Ranked, ...]:
        """For each number of failing disks that the leader would not survive, the fastest layout that does."""
        chosen: dict[str, Ranked] = {}
        settled = [each for each in self.ranked if not each.entry.unsteady]
        survived = self.ranked[0].safety.redundancy
        if survived is None:
            return ()
        for level in sorted({each.safety.redundancy or 0 for each in settled}):
            if level > survived:
                fastest = next(each for each in settled if (each.safety.redundancy or 0) >= level)
                chosen.setdefault(fastest.entry.layout, fastest)
        return tuple(chosen.values())


def rank(run: FinishedRun, goal: Goal, *, metric: Metric | None, effect: float) -> Ranking:
    """The run's layouts by the goal; each workload by its own metric, or all by `metric`.

    Raises:
        RunError: no layout has all figures that the goal asks for.
        UsageError: the metric was measured in no trial.
    """
    _check_metric(metric, run, goal)
    own = {workload.name: workload.metric for workload in run.campaign.workloads}
    metrics = {name: metric or own[name] for name in goal.weights}
    entries, excluded = _entries(run, goal, metrics)
    if not entries:
        reasons = "; ".join(in_groups((each.layout, each.why) for each in excluded))
        raise RunError(f"no layout can be ranked: {reasons or 'the run has none'}", f"poolproof show {run.path}")
    pairs = _pairs(entries, effect)
    layouts = {layout.name: layout for layout in run.campaign.layouts}
    ranked = tuple(
        Ranked(
            entry=entry,
            first=1 + sum(pair.worse == entry.layout and not pair.is_tie for pair in pairs),
            last=len(entries) - sum(pair.better == entry.layout and not pair.is_tie for pair in pairs),
            to_leader=None if entry is entries[0] else difference(entry.score, entries[0].score),
            safety=safety(layouts[entry.layout], run.campaign),
        )
        for entry in entries
    )
    return Ranking(run, goal, metrics, effect, ranked, pairs, tuple(excluded))


def _entries(run: FinishedRun, goal: Goal, metrics: Mapping[str, Metric]) -> tuple[list[Entry], list[Excluded]]:
    """Layouts with a figure for every workload of the goal, the best mean first, unsettled ones last; then the rest."""
    entries, excluded = [], []
    for layout in run.campaign.layouts:
        found = {name: run.measured(layout.name, name, metrics[name]) for name in goal.weights}
        cells = {name: each for name, each in found.items() if isinstance(each, Measured)}
        if len(cells) == len(found):
            score = mixture((goal.weights[name], each.log) for name, each in cells.items())
            entries.append(Entry(layout.name, cells, score))
        else:
            excluded.append(Excluded(layout.name, _why(found, alone=goal.only is not None)))
    return sorted(entries, key=lambda entry: (bool(entry.unsteady), -entry.score.mean)), excluded


def _why(found: Mapping[str, Measured | str], *, alone: bool) -> str:
    whys = [(name, each) for name, each in found.items() if isinstance(each, str)]
    return whys[0][1] if alone else "; ".join(in_groups(whys, between=" "))


def _pairs(entries: Sequence[Entry], effect: float) -> tuple[Pair, ...]:
    both = list(itertools.combinations(entries, 2))
    differences = [difference(better.score, worse.score) for better, worse in both]
    return tuple(
        Pair(better.layout, worse.layout, apart, decision)
        for (better, worse), apart, decision in zip(both, differences, decide(differences, effect), strict=True)
    )


def _check_metric(metric: Metric | None, run: FinishedRun, goal: Goal) -> None:
    if metric is None:
        return
    cells = {key: cell for key, cell in run.cells.items() if key[1] in goal.weights}
    found = metrics_of(cells.values())
    if metric not in found:
        names = listed(sorted(found)) if found else "none"
        raise UsageError(f"--metric {metric}: no trial of the goal measured it", f"measured: {names}")
