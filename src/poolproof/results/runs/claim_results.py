"""Evaluate a campaign's claims against the results of a run.

A claim is undecided if a value is missing, or if its confidence interval contains both values that satisfy the claim
and values that don't. As in a ranking, the interval of a rate or latency also depends on how much the trials of the
other cells vary (`metric_prior`), and on the between-run variance if that is known from earlier runs. Holm's correction
for the number of claims ensures with 95% confidence that all results are correct.
"""

import copy
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.claims import (
    CellValue,
    Claim,
    ComparisonClaim,
    IsVerdict,
    Operation,
    Operator,
    Quantity,
    Term,
    cell_values_of,
)
from poolproof.metrics import COMPARABLE, MetricId, metric_of
from poolproof.results.runs.cell_builds import samples_among, split_builds
from poolproof.results.runs.changing_rates import extremes_of
from poolproof.results.runs.disturbed import MOSTLY_DISTURBED, is_disturbed, is_mostly_disturbed
from poolproof.results.runs.in_place import MARGIN
from poolproof.results.runs.model import Trial
from poolproof.results.runs.remarks import resolution_of, without_value
from poolproof.results.runs.summary import Cell, Widening, metric_prior, unchanged
from poolproof.statistics.build_samples import Samples
from poolproof.statistics.comparison import LogMean, difference, log_mean
from poolproof.statistics.intervals import CONFIDENCE, Interval, mean_interval
from poolproof.statistics.shared_variance import VariancePrior, has_interval
from poolproof.verdicts import has_values

Result = Literal["held", "failed", "undecided"]

_OPERATORS: Mapping[Operator, Callable[[float, float], float]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


@dataclass(frozen=True)
class ClaimResult:
    """A claim and its result.

    `measured`: the value of the claim's left-hand side, or None if it is missing. Its 95% confidence interval is for
    this claim alone, without correction for the number of claims.
    `why`: the measured verdict, or the reason why a value is missing or the claim is undecided. It also contains the
    verdicts that are not sound, remarks on the trials, and a margin that the intervals include.
    `is_tested`: whether the result depends on confidence intervals, so that it may be wrong by chance.
    """

    claim: Claim
    result: Result
    measured: Interval | None
    why: str = ""
    is_tested: bool = False


class _NoValue(Exception):
    """Raised if the claim needs a value that is missing or unusable."""


class _Cells:
    """A run's cells, with the typical variance between trials and the between-run variance.

    `compared`: the cells whose rates or latencies the current claim uses.
    `risk`: the probability that a confidence interval does not contain the true value.
    """

    compared: frozenset[CellKey] = frozenset()
    risk: float = 1 - CONFIDENCE

    def __init__(self, cells: tuple[Cell, ...], widened: Widening) -> None:
        self._cells, self._widened = cells, widened
        self._by_key = {cell.key: cell for cell in cells}
        self._priors: dict[MetricId, VariancePrior | None] = {}

    def asked(self, that: ComparisonClaim, risk: float = 1 - CONFIDENCE) -> "_Cells":
        """Return a copy of this object for evaluating the given claim."""
        found = copy.copy(self)
        terms = (term for term in cell_values_of(that) if term.name in COMPARABLE)
        found.compared, found.risk = frozenset(CellKey(term.layout, term.workload) for term in terms), risk
        return found

    def is_in_place(self, cell: Cell) -> bool:
        """True if the claim also uses another layout that was converted into or from the cell's layout in place."""
        others = (self._by_key.get(key) for key in self.compared if key.layout != cell.layout)
        return cell.family is not None and any(other is not None and other.family == cell.family for other in others)

    def at(self, layout: str, workload: str) -> Cell:
        cell = self._by_key.get(CellKey(layout, workload))
        if cell is None:
            raise _NoValue(f"{workload} on {layout} was not measured")
        return cell

    def prior(self, term: CellValue) -> VariancePrior | None:
        """Return the typical variance of a metric between trials.

        Return None for byte counts, or if there are too few cells to estimate it.
        """
        if term.name in COMPARABLE and term.name not in self._priors:
            self._priors[term.name] = metric_prior(self._cells, term.name)
        return self._priors.get(term.name)

    def log_mean(self, term: CellValue, samples: Samples) -> LogMean | None:
        """Return the mean logarithm with the between-run variance included.

        Return None if a sample is not greater than 0.
        """
        found = log_mean(samples.values, self.prior(term), resolution=samples.error, least_count=samples.least_count)
        if found is None or term.name not in COMPARABLE:
            return found
        return self._widened(CellKey(term.layout, term.workload), term.name, found)


def evaluate(
    claims: tuple[Claim, ...], cells: tuple[Cell, ...], widened: Widening = unchanged
) -> tuple[ClaimResult, ...]:
    """Return the result of each claim.

    `widened`: a function that adds the between-run variance to a mean if it is known from earlier runs.
    """
    found = _Cells(cells, widened)
    results = [_evaluate(claim, found) for claim in claims]
    tested = [at for at, each in enumerate(results) if each.is_tested]
    for at in _not_certain(claims, tested, found):
        each = results[at]
        alone = f"on its own, this claim would be {each.result} with 95% confidence"
        why = f"{alone}, but not together with the other {len(tested) - 1}"
        if each.result != "undecided":
            results[at] = replace(each, result="undecided", why="; ".join(filter(None, (why, each.why))))
    return tuple(results)


def _not_certain(claims: Sequence[Claim], tested: Sequence[int], cells: _Cells) -> Sequence[int]:
    """Return the indices of those tested claims that are undecided after Holm's correction."""
    left = tested
    while left:
        risk = (1 - CONFIDENCE) / len(left)
        undecided = [at for at in left if _result(claims[at].that, cells, risk) == "undecided"]
        if len(undecided) == len(left):
            break
        left = undecided
    return left


def _result(that: ComparisonClaim | IsVerdict, cells: _Cells, risk: float) -> Result:
    assert isinstance(that, ComparisonClaim), "a claim about a verdict has no statistical test"
    asked = cells.asked(that, risk)
    return _decide(that, _value(that.left, asked), _value(that.right, asked))


def _evaluate(claim: Claim, cells: _Cells) -> ClaimResult:
    """Return the claim's result with 95% confidence, without correction for the number of claims."""
    that = claim.that
    try:
        if isinstance(that, IsVerdict):
            verdict = cells.at(that.layout, that.workload).verdict
            return ClaimResult(claim, "held" if verdict == that.verdict else "failed", None, f"it is {verdict}")
        asked = cells.asked(that)
        left, right = _value(that.left, asked), _value(that.right, asked)
    except _NoValue as error:
        return ClaimResult(claim, "undecided", None, str(error))
    if why := _without_interval(that, asked):
        return ClaimResult(claim, "undecided", left, why)
    is_tested = any(low < high for low, high in (_bounds(left), _bounds(right)))
    return ClaimResult(claim, _decide(that, left, right), left, "; ".join(_remarks(that, asked)), is_tested)


def _remarks(that: ComparisonClaim, cells: _Cells) -> Iterator[str]:
    for term in dict.fromkeys(cell_values_of(that)):
        if term.name in COMPARABLE:
            cell = cells.at(term.layout, term.workload)
            verdict = cell.result(term.name).verdict
            yield from [f"{cell.key}: {term.name} is {verdict}"] * (verdict != "sound")
            yield from (f"{cell.key}: {remark}" for remark in cell.remarks(term.name))
    in_place = dict.fromkeys(key.layout for key in sorted(cells.compared) if cells.is_in_place(cells.at(*key[:2])))
    if in_place:
        margin = f"the intervals include a margin of {100 * MARGIN:.0f}%"
        yield f"{' and '.join(in_place)} were converted into each other in place, so {margin}"


def _without_interval(that: ComparisonClaim, cells: _Cells) -> str:
    for term in cell_values_of(that):
        prior = cells.prior(term)
        if term.name in COMPARABLE and not has_interval(len(_samples(term, cells).values), prior):
            why = ", and the other cells vary too much to estimate how much a second one would differ" if prior else ""
            what = "build" if cells.at(term.layout, term.workload).by_build else "trial"
            single = f"{term.name} of {term.workload} on {term.layout} comes from a single {what}"
            return f"{single}{why or ', which has no interval'}"
    return ""


def _decide(that: ComparisonClaim, left: Interval, right: Interval) -> Result:
    """Return `held` if all values in the confidence interval satisfy the claim, and `failed` if none does.

    Otherwise, return `undecided`.
    """
    in_points = isinstance(that.right, Quantity) and that.right.is_percent
    is_share = that.tolerance.is_percent and not in_points  # the tolerance of a percentage is in percentage points
    low, high = _bounds(left)
    slacks = [(end, that.tolerance.value * (abs(end) if is_share else 1)) for end in _bounds(right)]
    least, most = [end - slack for end, slack in slacks], [end + slack for end, slack in slacks]
    match that.relation:
        case "=":
            held, failed = low >= max(least) and high <= min(most), high < min(least) or low > max(most)
        case "<":
            held, failed = high < min(most), low >= max(most)
        case "<=":
            held, failed = high <= min(most), low > max(most)
        case ">":
            held, failed = low > max(least), high <= min(least)
        case ">=":
            held, failed = low >= max(least), high < min(least)
    return "held" if held else "failed" if failed else "undecided"


def _bounds(interval: Interval) -> tuple[float, float]:
    """Return the bounds of an interval.

    A value without an interval, such as a byte count, is exact, so both bounds are the value itself.
    """
    low, high = interval.low, interval.high
    return (interval.mean, interval.mean) if low is None or high is None else (low, high)


def _value(term: Term, cells: _Cells) -> Interval:
    if isinstance(term, Quantity):
        return Interval(term.value, term.value, term.value)
    if isinstance(term, CellValue):
        samples = _samples(term, cells)
        mean = mean_interval(samples.values, cells.prior(term), samples.error, risk=cells.risk)
        assert mean is not None, "_samples returns at least one value"
        return _widened(_across_runs(mean, cells.log_mean(term, samples), cells.risk), *_range(term, cells))
    if term.operator == "divide" and isinstance(term.left, CellValue) and isinstance(term.right, CellValue):
        left, right = (cells.log_mean(each, _samples(each, cells)) for each in (term.left, term.right))
        (low, high), (base_low, base_high) = _range(term.left, cells), _range(term.right, cells)
        if left is not None and right is not None:
            return _widened(difference(left, right).interval_at(cells.risk), low / base_high, high / base_low)
    return _combined(term, _value(term.left, cells), _value(term.right, cells))


def _across_runs(interval: Interval, log: LogMean | None, risk: float) -> Interval:
    """Return the confidence interval of a mean, widened if necessary to include that of the geometric mean.

    Only the latter includes the between-run variance.
    """
    if log is None or log.parts is None or interval.low is None or interval.high is None:
        return interval
    wide = log.interval(lower_is_better=False, risk=risk)
    if wide.low is None or wide.high is None:
        return interval
    low, high = (interval.mean * bound / wide.mean for bound in (wide.low, wide.high))
    return Interval(interval.mean, min(interval.low, low), max(interval.high, high))


def _range(term: CellValue, cells: _Cells) -> tuple[float, float]:
    """Return the lowest and highest value of a changing rate, or of disturbed trials, relative to the mean.

    For a steady rate without disturbed trials, both are 1. If the claim compares layouts that were converted into one
    another in place, the range also includes half the margin.

    Raises `_NoValue` if the rate changed by an unknown amount.
    """
    cell = cells.at(term.layout, term.workload)
    if term.name not in COMPARABLE:
        return 1.0, 1.0
    if is_mostly_disturbed(cell.trials):
        raise _NoValue(f"{cell.key}: {MOSTLY_DISTURBED}")
    margin = math.sqrt(1 + MARGIN) if cells.is_in_place(cell) else 1.0
    has_extremes = cell.unsteady or any(map(is_disturbed, cell.trials))
    extremes = extremes_of(cell.trials, term.name) if has_extremes else None
    if extremes is None and cell.unsteady:
        raise _NoValue(f"{cell.key} is not steady ({', '.join(cell.unsteady)})")
    if extremes is None:
        return 1 / margin, margin
    values = cell.values(term.name)
    mean = math.fsum(values) / len(values)
    return min(1.0, extremes[0] / mean) / margin, max(1.0, extremes[1] / mean) * margin


def _widened(interval: Interval, low_share: float, high_share: float) -> Interval:
    if interval.low is None or interval.high is None:
        return interval
    return Interval(interval.mean, interval.low * low_share, interval.high * high_share)


def _combined(term: Operation, left: Interval, right: Interval) -> Interval:
    """Apply an arithmetic operation to two intervals. Raises `_NoValue` if the divisor may be 0."""
    apply, divisor = _OPERATORS[term.operator], _bounds(right)
    if term.operator == "divide" and divisor[0] <= 0 <= divisor[1]:
        raise _NoValue("the divisor may be 0")
    corners = [apply(one, other) for one in _bounds(left) for other in _bounds(right)]
    return Interval(apply(left.mean, right.mean), min(corners), max(corners))


def _samples(term: CellValue, cells: _Cells) -> Samples:
    """Return one value per trial that did not fail or, if there are several builds, one mean per build.

    Raises `_NoValue` if there are no such values, or if the cell cannot be ranked or compared.
    """
    cell = cells.at(term.layout, term.workload)
    usability = cell.usability(term.name) if term.name in COMPARABLE else None
    if usability is not None and not usability.can_be_ranked:
        why = f"is {usability.verdict}"
        if usability.counts:
            why = f"has {usability.too_few}"
        elif not has_values(usability.verdict):
            why = "failed"
        raise _NoValue(f"{cell.key} {why}")
    if usability is not None and usability.limited and len(cells.compared) > 1:
        raise _NoValue(f"{cell.key} can't be compared: {usability.limited}")
    measured = [trial for trial in cell.trials if has_values(trial.verdict)]
    builds = [[value for each in own if (value := _of_trial(term, each)) is not None] for own in split_builds(measured)]
    samples = samples_among(builds, by_build=cell.by_build)
    if not samples.values:
        why = "; ".join(without_value(cell.trials, term.name)) if term.name in COMPARABLE else ""
        raise _NoValue(f"{cell.key}: {why}" if why else f"{cell.key} has no {term.name}")
    if term.name in COMPARABLE:
        if len(cells.compared) > 1 and min(samples.values) <= 0:
            raise _NoValue(f"{cell.key} can't be compared: a trial measured 0")
        error, settling = max(samples.error, resolution_of(measured, term.name).share), cell.settling
        return replace(samples, error=error, least_count=settling.least_count if settling else None)
    return samples


def _of_trial(term: CellValue, trial: Trial) -> float | None:
    match term.name:
        case "read_share":
            return _share({leaf.device: leaf.read_bytes for leaf in trial.leaves}, term.device)
        case "write_share":
            return _share({leaf.device: leaf.drained_write_bytes for leaf in trial.leaves}, term.device)
        case "stored_share":
            return _share(trial.stored_bytes, term.device)
        case "utilisation":
            return next((leaf.utilisation for leaf in trial.leaves if leaf.device == term.device), None)
        case "read_ratio":
            return trial.account.read_ratio if trial.account else None
        case "write_ratio":
            return trial.account.write_ratio if trial.account else None
        case _:  # a metric; latencies are in seconds in claims
            value = trial.result(term.name).value
            return None if value is None else value * metric_of(term.name).unit.scale


def _share(counts: Mapping[str, float], device: str | None) -> float | None:
    total = sum(counts.values())
    return counts[device] / total if total and device is not None and device in counts else None
