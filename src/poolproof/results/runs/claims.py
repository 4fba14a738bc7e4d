"""Claims held against the figures of a run: held, failed, or undecided where the interval straddles.

The interval of a rate or a latency leans on the run's other cells where these tell how far trials lie apart
(`metric_spread.py`), as a ranking's does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from poolproof.campaign.claims import Claim, ComparisonClaim, Figure, IsVerdict, Operation, Quantity, Term, figures_of
from poolproof.campaign.model import LOWER_IS_BETTER, Metric
from poolproof.campaign.workload_source import METRICS
from poolproof.evidence.model import LeafUse
from poolproof.results.runs.extremes import extremes_of
from poolproof.results.runs.interval import Interval, mean_interval, ratio_interval, tells
from poolproof.results.runs.metric_spread import metric_spread
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import COUNTING_VERDICTS, Cell
from poolproof.stopping.model import VariancePrior

Result = Literal["held", "failed", "undecided"]

_LEAF: Mapping[str, Callable[[LeafUse], float]] = {
    "read_share": lambda leaf: leaf.read_bytes,
    "write_share": lambda leaf: leaf.drained_write_bytes,
}
_NS = 1e-9


@dataclass(frozen=True)
class ClaimResult:
    """A claim with what was measured. `measured` is the left side, None where it has no figure.

    `why` says why there is none, or why nothing is decided though there is one.
    """

    claim: Claim
    result: Result
    measured: Interval | None
    why: str = ""


class _NoFigure(Exception):
    """A figure that the claim needs is not there, or must not be used."""


class _Cells:
    """The cells of a run by layout and workload, and what they tell of each other."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        self._cells = cells
        self._by_place = {(cell.layout, cell.workload): cell for cell in cells}
        self._spreads: dict[Metric, VariancePrior | None] = {}

    def at(self, layout: str, workload: str) -> Cell:
        try:
            return self._by_place[layout, workload]
        except KeyError:
            raise _NoFigure(f"{workload} on {layout} was not measured") from None

    def spread(self, figure: Figure) -> VariancePrior | None:
        """How much trials differ by the figure; None where nothing tells, as of counted bytes."""
        if figure.name not in METRICS:
            return None
        if figure.name not in self._spreads:
            self._spreads[figure.name] = metric_spread(self._cells, figure.name)
        return self._spreads[figure.name]


def evaluate(claims: tuple[Claim, ...], cells: tuple[Cell, ...]) -> tuple[ClaimResult, ...]:
    """Each claim with its result."""
    found = _Cells(cells)
    return tuple(_hold(claim, found) for claim in claims)


def _hold(claim: Claim, cells: _Cells) -> ClaimResult:
    try:
        if isinstance(claim.that, IsVerdict):
            cell = cells.at(claim.that.layout, claim.that.workload)
            matches = cell.verdict == claim.that.verdict
            return ClaimResult(claim, "held" if matches else "failed", None, f"it is {cell.verdict}")
        left, right = _value(claim.that.left, cells), _value(claim.that.right, cells)
    except _NoFigure as error:
        return ClaimResult(claim, "undecided", None, str(error))
    alone = _of_one_trial(claim.that, cells)
    return (
        ClaimResult(claim, "undecided", left, alone)
        if alone
        else ClaimResult(claim, _decide(claim.that, left, right), left)
    )


def _of_one_trial(that: ComparisonClaim, cells: _Cells) -> str:
    """Which rate or latency was measured in one trial alone, which has no interval; empty where none was."""
    for figure in figures_of(that):
        spread = cells.spread(figure)
        if figure.name in METRICS and not tells(len(_samples(figure, cells)), spread):
            unlike = "and the other cells differ too widely to tell how far a second might be"
            why = unlike if spread else "without an interval"
            return f"{figure.name} of {figure.workload} on {figure.layout} is of one trial alone, {why}"
    return ""


def _decide(that: ComparisonClaim, left: Interval, right: Interval) -> Result:
    """Held where all of the measured interval satisfies the claim, failed where none of it does."""
    slack = _slack(that, right)
    low, high = _bounds(left)
    least, most = _bounds(right)
    match that.relation:
        case "=":
            held, failed = least - slack <= low and high <= most + slack, high < least - slack or low > most + slack
        case "<" | "<=":
            held, failed = high <= least + slack, low > most + slack
        case _:
            held, failed = low >= most - slack, high < least - slack
    return "held" if held else "failed" if failed else "undecided"


def _slack(that: ComparisonClaim, right: Interval) -> float:
    """The tolerance in the unit of the right side: points where that is a per cent itself, else a share of it."""
    in_points = isinstance(that.right, Quantity) and that.right.is_percent
    relative = that.tolerance.is_percent and not in_points
    return that.tolerance.value * right.mean if relative else that.tolerance.value


def _bounds(interval: Interval) -> tuple[float, float]:
    """A ratio or share of one trial alone counts as a point: it counts bytes."""
    low, high = interval.low, interval.high
    return (interval.mean, interval.mean) if low is None or high is None else (low, high)


def _value(term: Term, cells: _Cells) -> Interval:
    if isinstance(term, Quantity):
        return Interval(term.value, term.value, term.value)
    if isinstance(term, Figure):
        return _reaching(_mean(term, cells), *_reach(term, cells))
    if term.operator == "divide" and isinstance(term.left, Figure) and isinstance(term.right, Figure):
        spreads = cells.spread(term.left), cells.spread(term.right)
        ratio = ratio_interval(_samples(term.left, cells), _samples(term.right, cells), spreads=spreads)
        (below, above), (under, over) = _reach(term.left, cells), _reach(term.right, cells)
        if ratio is not None:
            return _reaching(ratio, below / over, above / under)
    return _combined(term, _value(term.left, cells), _value(term.right, cells))


def _reach(figure: Figure, cells: _Cells) -> tuple[float, float]:
    """Between which shares of its mean the figure may lie because its rate changes: 1 and 1 where none did."""
    cell = cells.at(figure.layout, figure.workload)
    if figure.name not in METRICS or not cell.unsteady:
        return 1.0, 1.0
    extremes = extremes_of(cell.trials, figure.name)
    if extremes is None:
        raise _NoFigure(f"{cell.workload} on {cell.layout} is unsettled ({', '.join(cell.unsteady)})")
    mean = _mean(figure, cells).mean
    lowest, highest = (_in_unit(figure.name, value) for value in (extremes.lowest, extremes.highest))
    return min(1.0, lowest / mean), max(1.0, highest / mean)


def _reaching(interval: Interval, below: float, above: float) -> Interval:
    if interval.low is None or interval.high is None:
        return interval
    return Interval(interval.mean, interval.low * below, interval.high * above)


def _mean(figure: Figure, cells: _Cells) -> Interval:
    interval = mean_interval(_samples(figure, cells), cells.spread(figure))
    assert interval is not None, "_samples never gives none"
    return interval


def _combined(term: Operation, left: Interval, right: Interval) -> Interval:
    """Interval arithmetic: the widest that the bounds of both sides allow."""
    (a, b), (c, d) = _bounds(left), _bounds(right)
    if term.operator == "add":
        return Interval(left.mean + right.mean, a + c, b + d)
    if term.operator == "subtract":
        return Interval(left.mean - right.mean, a - d, b - c)
    if term.operator == "multiply":
        corners = [a * c, a * d, b * c, b * d]
        return Interval(left.mean * right.mean, min(corners), max(corners))
    if c <= 0 <= d:
        raise _NoFigure("it divides by what may be 0")
    corners = [a / c, a / d, b / c, b / d]
    return Interval(left.mean / right.mean, min(corners), max(corners))


def _samples(figure: Figure, cells: _Cells) -> tuple[float, ...]:
    """One value for each trial that did not fail."""
    cell = cells.at(figure.layout, figure.workload)
    if figure.name in METRICS and cell.verdict not in COUNTING_VERDICTS:
        raise _NoFigure(f"the figure of {cell.workload} on {cell.layout} is {cell.verdict}")
    found = [_of_trial(figure, trial) for trial in cell.trials if trial.verdict != "failed"]
    samples = tuple(value for value in found if value is not None)
    if not samples:
        raise _NoFigure(f"{cell.workload} on {cell.layout} has no {figure.name}")
    return samples


def _of_trial(figure: Figure, trial: Trial) -> float | None:
    match figure.name:
        case "read_share" | "write_share":
            return _share({leaf.device: _LEAF[figure.name](leaf) for leaf in trial.leaves}, figure.device)
        case "stored_share":
            return _share(trial.stored_bytes, figure.device)
        case "utilisation":
            return next((leaf.utilisation for leaf in trial.leaves if leaf.device == figure.device), None)
        case "read_ratio":
            return trial.account.read_ratio if trial.account else None
        case "write_ratio":
            return trial.account.write_ratio if trial.account else None
        case "iops" | "bandwidth" | "p50" | "p99" | "p999" | "sync_p99":
            value = trial.figures.metric(figure.name) if trial.figures else None
            return None if value is None else _in_unit(figure.name, value)
    raise AssertionError(figure.name)


def _in_unit(metric: Metric, value: float) -> float:
    """A figure in the unit that claims are written in: seconds where it is kept in nanoseconds."""
    return value * _NS if metric in LOWER_IS_BETTER else value


def _share(counts: Mapping[str, float], device: str | None) -> float | None:
    total = sum(counts.values())
    return counts[device] / total if total and device is not None and device in counts else None
