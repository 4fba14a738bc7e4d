"""The figures of a cell over runs of the same campaign on the same machine, in the order of their dates.

A change is marked where `compare` of the run with the last one before it that has a figure would say slower or faster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.metrics import MetricId
from poolproof.presentation.charts.metrics import figure_words
from poolproof.results.compare.measured import Measured, measured
from poolproof.results.compare.run_differences import run_differences
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import LEAST_EFFECT, ComparisonDecision, Difference, decide, difference
from poolproof.statistics.intervals import Interval
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class NamedRun:
    """A run with its name in the list."""

    name: str
    run: LoadedRun

    @property
    def machine(self) -> str:
        """What identifies its machine."""
        return self.run.record.facts.get("machine") or self.run.record.host

    @property
    def begun_at(self) -> str:
        return self.run.record.begun_at


@dataclass(frozen=True)
class ChangePoint:
    """A figure compared with the one before: the decision, the ratio of speeds, and the number of that earlier run."""

    decision: ComparisonDecision
    speed: Interval
    since: int

    @property
    def is_marked(self) -> bool:
        """True if it changed significantly."""
        return self.decision.word in ("slower", "faster")


@dataclass(frozen=True)
class Point:
    """A cell in one run, by the run's number. `change` is None for the first figure and if it does not count.

    `text` is the figure in words; `unsettled`: it is not known to within the tolerance that was asked for.
    """

    run: int
    figure: Interval | None
    verdict: Verdict
    reason: str
    change: ChangePoint | None = None
    text: str = ""
    unsettled: bool = False


@dataclass(frozen=True)
class CellHistory:
    """A cell over its runs."""

    campaign: str
    machine: str
    layout: str
    workload: str
    metric: MetricId
    points: tuple[Point, ...]


_Key = tuple[str, str, str, str]
"""Campaign, machine, layout, workload."""


def in_order(runs: Iterable[NamedRun]) -> tuple[NamedRun, ...]:
    """Sort by date, then by name: the order in which `series_of` numbers the runs."""
    return tuple(sorted(runs, key=lambda each: (each.begun_at, each.name)))


def series_of(runs: Sequence[NamedRun]) -> tuple[CellHistory, ...]:
    """Return every cell of the runs, which are in order."""
    points: dict[_Key, list[Point]] = {}
    metrics: dict[_Key, MetricId] = {}
    last: dict[_Key, tuple[int, Measured]] = {}
    for number, named in enumerate(runs):
        here = {(named.run.campaign.name, named.machine, cell.layout, cell.workload): cell for cell in named.run.cells}
        found = {key: measured(named.run, cell.key, cell.metric) for key, cell in here.items()}
        now = {key: each for key, each in found.items() if isinstance(each, Measured)}
        changes = _changes(now, last)
        for key, cell in here.items():
            metrics.setdefault(key, cell.metric)
            why = found[key]
            reason = why if isinstance(why, str) else ""
            points.setdefault(key, []).append(_point(number, cell, reason, changes.get(key)))
        last |= {key: (number, each) for key, each in now.items()}
    return tuple(CellHistory(*key, metrics[key], tuple(own)) for key, own in points.items())


def _point(number: int, cell: Cell, reason: str, change: ChangePoint | None) -> Point:
    text = figure_words(cell, cell.metric)
    return Point(number, cell.figure, cell.verdict, reason, change, text, cell.is_unsettled and cell.figure is not None)


def _changes(now: Mapping[_Key, Measured], last: Mapping[_Key, tuple[int, Measured]]) -> dict[_Key, ChangePoint]:
    """Decide together what is compared with the same earlier run, as `compare` does."""
    groups: dict[int, dict[_Key, Difference]] = {}
    for key, each in now.items():
        if key in last and last[key][1].metric == each.metric:
            since, before = last[key]
            groups.setdefault(since, {})[key] = difference(each.log, before.log)
    found = {}
    for since, differences in groups.items():
        decisions = decide(list(differences.values()), LEAST_EFFECT)
        for (key, apart), decision in zip(differences.items(), decisions, strict=True):
            found[key] = ChangePoint(decision, apart.interval, since)
    return found


def unlike_before(runs: Sequence[NamedRun]) -> Iterator[tuple[str, ...]]:
    """Yield for each run how it differs from the previous run of the same campaign and machine."""
    before: dict[tuple[str, str], LoadedRun] = {}
    for named in runs:
        key = (named.run.campaign.name, named.machine)
        earlier = before.get(key)
        found = run_differences(earlier, named.run) if earlier is not None else ()
        yield tuple(f"{each.what}: {each.a} → {each.b}" for each in found)
        before[key] = named.run
