"""The values of cells that are used in comparisons, or the reasons why cells have no usable value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import LOWER_IS_BETTER, MetricId
from poolproof.results.runs.changing_rates import mean_to_test, with_changes
from poolproof.results.runs.convergence import metric_log_mean
from poolproof.results.runs.disturbed import MOSTLY_DISTURBED
from poolproof.results.runs.few_events import FewEvents
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.remarks import without_value
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import LogMean
from poolproof.statistics.intervals import Interval
from poolproof.verdicts import Verdict

_MOST_NAMED = 3
_MOST_REASONS = 6


@dataclass(frozen=True)
class Measured:
    """A cell's value for use in comparisons.

    `log`: the mean logarithm, on which significance tests are based.
    `unsteady`: the reasons why the rate changed by an unknown amount (`drift`, `step` …). If there are any, the cell is
    not tested.
    `changing`: the reasons why the rate changed between known extremes. The true value may be anywhere between these
    extremes.
    `is_disturbed`: whether other work disturbed most of the trials. If it did, the cell is not tested.
    `few`: the number of events that a percentile has and needs, or None if it has enough. If there are too few, the
    cell is not tested.
    """

    cell: Cell
    metric: MetricId
    log: LogMean
    trials: int
    unsteady: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    few: FewEvents | None = None
    is_disturbed: bool = False

    @property
    def untested(self) -> str:
        """Return the reason why the cell can't be tested, or an empty string if it can.

        Having only one trial is not reported as a reason.
        """
        if self.unsteady:
            return f"the rate changes ({', '.join(self.unsteady)})"
        if self.is_disturbed:
            return MOSTLY_DISTURBED
        return "" if self.few is None else self.few.sentence

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.cell.remarks(self.metric)

    @property
    def verdict(self) -> Verdict:
        return self.cell.result(self.metric).verdict

    @property
    def figure(self) -> Interval:
        """Return the trials' geometric mean with its confidence interval.

        Tests are based on the ratio of two such means.
        """
        return self.log.interval(lower_is_better=self.metric in LOWER_IS_BETTER)


def measured(run: LoadedRun, key: CellKey, metric: MetricId) -> Measured | str:
    """Return the cell's value, or a string with the reason why it has no usable value."""
    cell = run.by_key.get(key)
    if cell is None:
        return "not measured"
    usability = cell.usability(metric)
    if usability.rejected:
        return usability.rejected
    if usability.limited:
        return usability.limited
    count = len(cell.values(metric))
    if not count:
        return "; ".join(without_value(cell.trials, metric)) or f"no {metric} was measured"
    log = metric_log_mean(cell.samples(metric), metric, run.prior(metric))
    if log is None:
        return "a trial measured 0"
    if usability.few is not None:
        return Measured(cell, metric, LogMean(log.mean, None), count, few=usability.few)
    if usability.is_disturbed or not cell.unsteady:
        tested = mean_to_test(log, cell.trials, metric)
        return Measured(cell, metric, tested, count, is_disturbed=usability.is_disturbed)
    extended = with_changes(log, cell.trials, metric)
    if extended is None:
        # trials of the same length may agree although the rate still changes, so nothing can be tested
        return Measured(cell, metric, LogMean(log.mean, None), count, cell.unsteady)
    return Measured(cell, metric, extended, count, changing=cell.unsteady)


def in_groups(whys: Iterable[tuple[str, str]], *, between: str = ": ") -> Iterator[str]:
    """Yield one line per reason, most frequent first: `a, b, c and 97 more: refuted (read-from-cache)`.

    `whys`: pairs of a cell or layout and the reason why it was excluded. Only the first few reasons and names are
    listed. The others are only counted.
    """
    groups: dict[str, list[str]] = {}
    for name, why in whys:
        groups.setdefault(why, []).append(name)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    for why, names in ordered[:_MOST_REASONS]:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"{', '.join(names[:_MOST_NAMED])}{more}{between}{why}"
    rest = sum(len(names) for _why, names in ordered[_MOST_REASONS:])
    if rest:
        others = len(ordered) - _MOST_REASONS
        yield f"{rest} more for {'another reason' if others == 1 else f'{others} other reasons'}"
