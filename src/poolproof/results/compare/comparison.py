"""Compare two runs, or two layouts, cell by cell."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import HEALTHY
from poolproof.campaign.names import did_you_mean, listed
from poolproof.errors import RunError, UsageError
from poolproof.metrics import MetricId
from poolproof.results.compare.measured import Measured, measured
from poolproof.results.compare.run_differences import RunDifference, layout_difference, run_differences
from poolproof.results.runs.loading import LoadedRun, metrics_of
from poolproof.statistics.comparison import ComparisonDecision, Difference, decide, difference, holm
from poolproof.statistics.intervals import CONFIDENCE

_LISTED = 4


@dataclass(frozen=True)
class Side:
    """A run, or one layout of it."""

    run: LoadedRun
    layout: str | None = None

    def __post_init__(self) -> None:
        if self.layout is None or self.run.has_layout(self.layout):
            return
        names = [layout.name for layout in self.run.campaign.layouts]
        guess = did_you_mean(self.layout, names)
        raise UsageError(
            f"--layouts: {self.run.path} has no layout `{self.layout[:60]}`{guess}", f"it has {listed(names)}"
        )

    @property
    def grid(self) -> tuple["CellKey", ...]:
        """Return every cell of the campaign, in its order."""
        layouts = [layout.name for layout in self.run.campaign.layouts] if self.layout is None else [None]
        return tuple(CellKey(layout, each.name) for layout in layouts for each in self.run.campaign.workloads)

    def metric(self, key: "CellKey") -> MetricId:
        """Return the metric of a cell of the grid."""
        return next(each.metric for each in self.run.campaign.workloads if each.name == key.workload)

    def measured(self, key: "CellKey", metric: MetricId) -> Measured | str:
        """Return the value of a cell, or a few words why it has none."""
        return measured(self.run, key.layout or self.layout or "", key.workload, metric)


@dataclass(frozen=True)
class CellKey:
    """The name of a cell on both sides. `layout` is None if two layouts are compared, because it differs then."""

    layout: str | None
    workload: str
    state: str = HEALTHY

    def __str__(self) -> str:
        return self.workload if self.layout is None else f"{self.workload} on {self.layout}"


@dataclass(frozen=True)
class SkippedCell:
    """A cell that can't be compared, and why. `lost`: A has a value that counts, but B does not."""

    key: CellKey
    why: str
    lost: bool


@dataclass(frozen=True)
class ComparedCell:
    """A cell of both sides. `difference` is B relative to A, more is better; `decision` is corrected for all cells."""

    key: CellKey
    a: Measured
    b: Measured
    difference: Difference
    decision: ComparisonDecision


@dataclass(frozen=True)
class Gate:
    """The result of `--fail-if-slower`: cells significantly slower by more than `limit`, cells without a value in B.

    `open`: cells whose trials do not show a slowdown of that size but do not rule it out either.
    """

    limit: float
    slower: tuple[ComparedCell, ...]
    lost: tuple[SkippedCell, ...]
    open: tuple[ComparedCell, ...]

    @property
    def passed(self) -> bool:
        """True if no cell is slower and none lost its value."""
        return not self.slower and not self.lost


@dataclass(frozen=True)
class Comparison:
    """The comparison of two sides. `only_a` and `only_b`: cells that the other campaign does not have."""

    a: Side
    b: Side
    effect: float
    run_differences: tuple[RunDifference, ...]
    cells: tuple[ComparedCell, ...]
    left_out: tuple[SkippedCell, ...]
    only_a: tuple[CellKey, ...]
    only_b: tuple[CellKey, ...]
    gate: Gate | None = None


def compare(
    a: Side, b: Side, *, effect: float, metric: MetricId | None = None, limit: float | None = None
) -> Comparison:
    """Compare B with A, each cell by its workload's metric, or all by `metric`. `limit` is that of the gate.

    Raises:
        RunError: no cell has a value on both sides, and no gate reports that; or a gate has no cell that can be tested.
        UsageError: no trial measured the metric.
    """
    _check_metric(metric, (a.run, b.run))
    in_a, in_b = set(a.grid), set(b.grid)
    shared = [key for key in a.grid if key in in_b]
    if not shared:
        raise _nothing_shared(a, b)
    pairs, left_out = _pairs(a, b, shared, metric)
    only_a = tuple(key for key in a.grid if key not in in_b)
    lost = () if limit is None else (*(left for left in left_out if left.lost), *_gone(a, only_a, metric))
    if not pairs and not lost:
        raise _nothing_counts(left_out, b.run)
    differences = [difference(in_b.log, in_a.log) for _, in_a, in_b in pairs]
    cells = tuple(
        ComparedCell(*pair, apart, decision)
        for pair, apart, decision in zip(pairs, differences, decide(differences, effect), strict=True)
    )
    return Comparison(
        a=a,
        b=b,
        effect=effect,
        run_differences=_differences(a, b),
        cells=cells,
        left_out=tuple(left_out),
        only_a=only_a,
        only_b=tuple(key for key in b.grid if key not in in_a),
        gate=None if limit is None else _gate(cells, lost, limit),
    )


def _pairs(
    a: Side, b: Side, shared: Sequence[CellKey], metric: MetricId | None
) -> tuple[list[tuple[CellKey, Measured, Measured]], list[SkippedCell]]:
    pairs, left_out = [], []
    for key in shared:
        own, other = metric or a.metric(key), metric or b.metric(key)
        in_a, in_b = a.measured(key, own), b.measured(key, own)
        if own != other:
            why = f"A is measured by {own}, B by {other}; choose one with --metric"
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
    return (*layout_difference(a.run, a.layout, b.run, b.layout), *runs)


def _gone(a: Side, only_a: Sequence[CellKey], metric: MetricId | None) -> Iterator[SkippedCell]:
    """Yield the cells with a value in A that B's campaign does not have."""
    for key in only_a:
        if isinstance(a.measured(key, metric or a.metric(key)), Measured):
            yield SkippedCell(key, "B's campaign does not have it", lost=True)


def _gate(cells: Sequence[ComparedCell], lost: tuple[SkippedCell, ...], limit: float) -> Gate:
    if not lost and all(cell.difference.error is None for cell in cells):
        raise RunError(
            "--fail-if-slower: no cell has two steady trials on both sides, so no slowdown can be tested",
            "measure again with --trials 3 or more; cells that did not converge, for longer (--max)",
        )
    decisions = decide([cell.difference for cell in cells], limit)
    slower = [cell for cell, decision in zip(cells, decisions, strict=True) if decision.word == "slower"]
    ruled_out = [*slower, *_not_slower(cells, limit)]
    return Gate(
        limit=limit,
        slower=tuple(slower),
        lost=lost,
        open=tuple(cell for cell in cells if cell not in ruled_out),
    )


def _not_slower(cells: Sequence[ComparedCell], limit: float) -> list[ComparedCell]:
    """Return the cells that are significantly not slower by more than the limit."""
    tested = [cell for cell in cells if cell.difference.error is not None]
    corrected = holm([cell.difference.p_above(math.log1p(-limit)) for cell in tested])
    return [cell for cell, p in zip(tested, corrected, strict=True) if p <= 1 - CONFIDENCE]


def _check_metric(metric: MetricId | None, runs: Sequence[LoadedRun]) -> None:
    found = metrics_of(cell for run in runs for cell in run.cells)
    if metric is not None and metric not in found:
        raise UsageError(
            f"--metric {metric}: no trial measured it", f"measured: {listed(sorted(found))}" if found else ""
        )


def _nothing_shared(a: Side, b: Side) -> RunError:
    def some(side: Side) -> str:
        names = [str(key) for key in side.grid]
        return ", ".join(names[:_LISTED]) + (" …" if len(names) > _LISTED else "")

    return RunError(
        f"the runs have no cell in common: A has {some(a)}; B has {some(b)}",
        "cells are matched by the names of layout and workload"
        + ("; to compare layouts with different names: --layouts X,Y" if a.layout is None else ""),
    )


def _nothing_counts(left_out: Sequence[SkippedCell], run: LoadedRun) -> RunError:
    reasons = "; ".join(f"{left.key}: {left.why}" for left in left_out[:_LISTED])
    more = f"; and {len(left_out) - _LISTED} more" if len(left_out) > _LISTED else ""
    return RunError(
        f"no cell has a value on both sides that may be compared: {reasons}{more}", f"poolproof show {run.path}"
    )
