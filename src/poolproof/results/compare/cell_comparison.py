"""Compare two runs or two layouts, cell by cell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.names import choices, did_you_mean
from poolproof.errors import RunError, UsageError, as_word
from poolproof.metrics import MetricId
from poolproof.results.compare.earlier_runs import NOT_INCLUDED, EarlierRuns, RunVariance, earlier_runs
from poolproof.results.compare.measured import Measured, measured
from poolproof.results.compare.run_differences import RunDifference, layout_difference, run_differences
from poolproof.results.runs.in_place import are_in_place, family_of, with_margin
from poolproof.results.runs.loading import LoadedRun, metrics_of
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import ComparisonDecision, Difference, decide, holm
from poolproof.statistics.intervals import CONFIDENCE

_LISTED = 4


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a run, or one of its layouts.

    Raises a UsageError if the run does not contain the layout.
    """

    run: LoadedRun
    layout: str | None = None

    def __post_init__(self) -> None:
        names = [layout.name for layout in self.run.campaign.layouts]
        if self.layout is not None and self.layout not in names:
            guess = did_you_mean(self.layout, names)
            problem = f"--layouts: {self.run.path} has no layout `{self.layout[:60]}`{guess}"
            raise UsageError(problem, choices("layout", names))

    @property
    def grid(self) -> tuple[CellKey, ...]:
        """Return the keys of all cells in campaign order.

        If two layouts are compared, the keys' layout name is empty.
        """
        states = self.run.states if self.layout is None else {"": self.run.states[self.layout]}
        return tuple(
            CellKey(layout, each.name, state)
            for layout, own in states.items()
            for state in own
            for each in self.run.campaign.workloads
        )

    def metric(self, key: CellKey) -> MetricId:
        """Return the metric by which results for the cell's workload are compared."""
        return next(each.metric for each in self.run.campaign.workloads if each.name == key.workload)

    def measured(self, key: CellKey, metric: MetricId) -> Measured | str:
        """Return the cell's value, or a string with the reason why it has no usable value."""
        return measured(self.run, key if self.layout is None else key._replace(layout=self.layout), metric)


@dataclass(frozen=True)
class SkippedCell:
    """A cell that could not be compared, with the reason.

    `lost`: whether the cell has a usable value in A but not in B.
    """

    key: CellKey
    why: str
    lost: bool


@dataclass(frozen=True)
class ComparedCell:
    """A cell that has a usable value in both A and B.

    `difference`: the difference from A to B, positive if B is better.
    `decision`: the result of the significance test, corrected for the number of compared cells.
    """

    key: CellKey
    a: Measured
    b: Measured
    difference: Difference
    decision: ComparisonDecision


@dataclass(frozen=True)
class Gate:
    """The outcome of `--fail-if-slower`.

    `slower`: the cells that are significantly slower in B by more than `limit`.
    `open`: the cells for which such a slowdown can be neither proved nor ruled out.
    `lost`: the cells that have a usable value in A but not in B.
    """

    limit: float
    slower: tuple[ComparedCell, ...]
    lost: tuple[SkippedCell, ...]
    open: tuple[ComparedCell, ...]

    @property
    def passed(self) -> bool:
        """True if no cell is significantly slower by more than `limit`, and no cell lost its usable value in B."""
        return not self.slower and not self.lost


@dataclass(frozen=True)
class Comparison:
    """The comparison of A and B. If A and B are layouts, all keys have an empty layout name.

    `only_a`: the cells that only A's campaign contains.
    `only_b`: the cells that only B's campaign contains.
    `in_place`: whether the layouts were converted into one another in place. Each difference then includes
    `in_place.MARGIN`.
    `run_variance`: the metrics whose intervals include the between-run variance.
    """

    a: Side
    b: Side
    effect: float
    run_differences: tuple[RunDifference, ...]
    cells: tuple[ComparedCell, ...]
    left_out: tuple[SkippedCell, ...]
    only_a: tuple[CellKey, ...]
    only_b: tuple[CellKey, ...]
    gate: Gate | None = None
    in_place: bool = False
    run_variance: RunVariance = NOT_INCLUDED

    @property
    def is_of_same_trials(self) -> bool:
        """True if A and B contain the same trials, because both are the same run or one is a copy of the other."""
        return self.a.layout == self.b.layout and self.a.run.trials == self.b.run.trials


def compare(
    a: Side, b: Side, *, effect: float, metric: MetricId | None = None, limit: float | None = None
) -> Comparison:
    """Compare B with A by each workload's own metric, or by `metric` if given.

    `limit`: the largest slowdown that `--fail-if-slower` allows. If given, the result also lists the cells that are
    significantly slower by more than this, and the cells that have a usable value only in A.

    Raises:
        UsageError: no trial measured `metric`.
        RunError: A and B have no cell in common, no cell has a usable value in both or, with `limit`, no slowdown can
            be tested. With `limit`, the last two cases are not errors if a cell has a usable value only in A, because
            the gate then fails anyway.
    """
    check_metric(metric, [cell for run in (a.run, b.run) for cell in run.cells])
    in_a, in_b = dict.fromkeys(a.grid), dict.fromkeys(b.grid)
    only_a, only_b = tuple(key for key in in_a if key not in in_b), tuple(key for key in in_b if key not in in_a)
    shared = [key for key in in_a if key in in_b]
    if not shared:
        raise _nothing_shared(a, b)
    pairs, left_out = _pairs(a, b, shared, metric)
    earlier = _earlier_runs(a, b, metric)
    lost = [left for left in left_out if left.lost]
    for key in only_a:
        if isinstance(a.measured(key, metric or a.metric(key)), Measured):
            lost.append(SkippedCell(key, "it is not in B's campaign", lost=True))
    if not pairs and (limit is None or not lost):
        raise _nothing_counts(left_out, b.run)
    same_run = a.run.path == b.run.path
    differences = earlier.all_apart([(other, one) for _, one, other in pairs], same_run=same_run)
    in_place = _are_in_place(a, b)
    if in_place:
        differences = [with_margin(each) for each in differences]
    cells = tuple(
        ComparedCell(*pair, apart, decision)
        for pair, apart, decision in zip(pairs, differences, decide(differences, effect), strict=True)
    )
    gate = None if limit is None else _gate(cells, tuple(lost), limit)
    left, variance = tuple(left_out), earlier.variance(cell.a.metric for cell in cells)
    return Comparison(a, b, effect, _differences(a, b), cells, left, only_a, only_b, gate, in_place, variance)


def _earlier_runs(a: Side, b: Side, metric: MetricId | None) -> EarlierRuns:
    """Estimate the between-run variance from the older of the two runs and the runs before it.

    The newer run is excluded, so that the difference under test does not inflate the variance.
    """
    older, newer = sorted((a.run, b.run), key=lambda run: run.record.begun_s)
    metrics = {workload.name: metric for workload in older.campaign.workloads if metric is not None}
    return earlier_runs(older, metrics, apart_from=None if older.path == newer.path else newer)


def _are_in_place(a: Side, b: Side) -> bool:
    """True if A and B are layouts that were converted into each other in place, in the run of A or in that of B."""
    if a.layout is None or b.layout is None or a.layout == b.layout:
        return False
    return any(are_in_place(family_of(side.run.campaign), a.layout, b.layout) for side in (a, b))


def _pairs(
    a: Side, b: Side, shared: Sequence[CellKey], metric: MetricId | None
) -> tuple[list[tuple[CellKey, Measured, Measured]], list[SkippedCell]]:
    pairs, left_out = [], []
    for key in shared:
        own, other = metric or a.metric(key), metric or b.metric(key)
        in_a, in_b = a.measured(key, own), b.measured(key, own)
        if own != other:
            why = f"the metric is {own} in A, but {other} in B; choose one with --metric"
        elif isinstance(in_a, Measured) and isinstance(in_b, Measured):
            pairs.append((key, in_a, in_b))
            continue
        elif in_a == in_b:
            why = f"{in_a} in both"
        else:
            why = "; ".join(f"{each} in {side}" for side, each in (("A", in_a), ("B", in_b)) if isinstance(each, str))
        left_out.append(SkippedCell(key, why, isinstance(in_a, Measured)))
    return pairs, left_out


def _differences(a: Side, b: Side) -> tuple[RunDifference, ...]:
    runs = () if a.run.path == b.run.path else run_differences(a.run, b.run)
    if a.layout is None or b.layout is None:
        return runs
    return (layout_difference(a.run, a.layout, b.run, b.layout), *runs)


def _gate(cells: Sequence[ComparedCell], lost: tuple[SkippedCell, ...], limit: float) -> Gate:
    tested = [cell for cell in cells if cell.difference.error is not None]
    if not lost and not tested:
        raise RunError(
            "--fail-if-slower: poolproof cannot test for a slowdown, because every cell has a single trial, a changing "
            "rate, a percentile with too few events, or mostly trials that other work disturbed, in A or B",
            "measure again with --trials 3 or more; for cells that did not converge, also raise --max; for too few "
            "events, measure longer trials; for disturbed trials, stop the other work",
        )
    decisions = decide([cell.difference for cell in cells], limit)
    slower = tuple(cell for cell, decision in zip(cells, decisions, strict=True) if decision.word == "slower")
    corrected = holm([cell.difference.p_above(math.log1p(-limit)) for cell in tested])
    not_slower = [cell for cell, p in zip(tested, corrected, strict=True) if p <= 1 - CONFIDENCE]
    decided = {cell.key for cell in (*slower, *not_slower)}
    return Gate(limit, slower, lost, tuple(cell for cell in cells if cell.key not in decided))


def check_metric(metric: MetricId | None, cells: Sequence[Cell], trial: str = "trial") -> None:
    """Raise a UsageError if none of the cells' trials measured the requested metric."""
    found = metrics_of(cells)
    if metric is not None and metric not in found:
        raise UsageError(
            f"--metric {metric}: no {trial} measured it", f"measured: {', '.join(sorted(found)) or 'none'}"
        )


def _nothing_shared(a: Side, b: Side) -> RunError:
    def some(side: Side) -> str:
        names = [str(key) for key in side.grid]
        return ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")

    if a.layout is not None:
        hint = "cells of the two layouts are matched by workload name"
    else:
        hint = "cells are matched by layout and workload name; to compare layouts with different names: --layouts X,Y"
    return RunError(f"the runs have no cell in common: A has {some(a)}; B has {some(b)}", hint)


def _nothing_counts(left_out: Sequence[SkippedCell], run: LoadedRun) -> RunError:
    reasons = "; ".join(f"{left.key}: {left.why}" for left in left_out[:_LISTED])
    more = f"; and {len(left_out) - _LISTED} more" if len(left_out) > _LISTED else ""
    return RunError(
        f"no cell has a usable value in both A and B: {reasons}{more}", f"poolproof show {as_word(run.path)}"
    )
