"""Whether the trials of a cell have made its figure known, or what keeps them from it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import calibration_of
from poolproof.campaign.model import Campaign, Layout, Measure, Metric, Until, Workload
from poolproof.results.runs.model import NotConverged, Trial
from poolproof.stopping.across import across
from poolproof.stopping.model import IMPRECISE, AcrossTrials, StoppingRule, TrialMean, VariancePrior
from poolproof.stopping.percentile import BIN_DEVIATION
from poolproof.stopping.spread import spread_of

_BY_SERIES: frozenset[Metric] = frozenset({"iops", "bandwidth"})


@dataclass(frozen=True)
class Spreads:
    """How much trials differ in the cells of one run: rates among rates, percentiles of latencies among percentiles.

    A tail scatters several times as widely as the rate that it is the tail of, and steps from bin to bin. None where
    the cells of the kind are too few to tell.
    """

    rates: VariancePrior | None = None
    percentiles: VariancePrior | None = None

    def of(self, metric: Metric) -> VariancePrior | None:
        """That of the metric's kind."""
        return self.rates if is_rate(metric) else self.percentiles


@dataclass(frozen=True)
class CellConvergence:
    """What is known of a cell that is measured until its figure is known.

    `done`: no further trial is needed, or none is allowed. `settled`: the trials agree inside the tolerance, and each
    of them settled; else `reasons` say what kept them from it. `fixed_s` is what fio would have taken for the least
    number of trials, each as long as a trial may last.
    """

    done: bool
    settled: bool
    reasons: tuple[NotConverged, ...]
    between: AcrossTrials | None
    fixed_s: float


def rule_of(measure: Measure) -> StoppingRule:
    """The stopping rule that `measure: {until: …}` asks for.

    Raises:
        ValueError: a fixed time was asked for.
    """
    if measure.until is None:
        raise ValueError("a fixed time has no stopping rule")
    until = measure.until
    return StoppingRule(
        until=until.tolerance,
        confidence=until.confidence,
        min_s=until.min_s,
        max_s=until.max_s,
        steady=until.steady,
        trials_min=measure.trials,
        trials_max=measure.trials_max,
    )


def is_rate(metric: Metric) -> bool:
    """Whether it is known from the series of a trial; else it is a percentile of latencies."""
    return metric in _BY_SERIES


def resolution_of(metric: Metric) -> float:
    """The least standard error that a mean of trials can have, relative: a percentile is known to its bin only."""
    return 0.0 if is_rate(metric) else BIN_DEVIATION


def spread_among(cells: Iterable[Sequence[Trial]]) -> Spreads:
    """How much trials differ in these cells of one run."""
    rates: list[list[TrialMean]] = []
    percentiles: list[list[TrialMean]] = []
    for trials in cells:
        if trials:
            (rates if is_rate(trials[0].metric) else percentiles).append(_means_of(trials))
    return Spreads(spread_of(rates), spread_of(percentiles, BIN_DEVIATION))


def needs_trial(trials: Sequence[Trial], measure: Measure, spreads: Spreads | None = None) -> bool:
    """Whether a cell with these trials, in order, has another one ahead. `spreads`: of all cells of the run."""
    if len(trials) < measure.trials:
        return True
    settling = settling_of(trials, measure, spreads)
    return settling is not None and not settling.done and len(trials) < measure.trials_max


def trials_ahead(trials: Iterable[Trial], campaign: Campaign) -> int:
    """How many trials a run with these still has to make, at least; those of disks alone are among them.

    `trials` stand in the order in which they ended. Whether trials differ by more than was thought is learned to the
    end of the run; yet nobody comes back to a layout that is over, so a cell that was known when the last trial of its
    layout ended has none ahead but those of its least number.
    """
    calibration, every = calibration_of(campaign), tuple(trials)
    bare = _by_cell(every, calibration.layouts, calibration.workloads)
    own = _by_cell(every, campaign.layouts, campaign.workloads)
    measure, has_budget = campaign.measure, campaign.budget_s is not None
    return _ahead(bare, measure, least_only=False) + _ahead(own, measure, least_only=has_budget)


_Cells = Mapping[tuple[str, str], Sequence[tuple[int, Trial]]]
"""By layout and workload: each trial with its place among all that ended."""


def _by_cell(trials: Sequence[Trial], layouts: Iterable[Layout], workloads: Sequence[Workload]) -> _Cells:
    done: dict[tuple[str, str], list[tuple[int, Trial]]] = {
        (layout.name, workload.name): [] for layout in layouts for workload in workloads
    }
    for place, trial in enumerate(trials):
        if (trial.layout, trial.workload) in done:
            done[trial.layout, trial.workload].append((place, trial))
    return done


def _ahead(cells: _Cells, measure: Measure, *, least_only: bool) -> int:
    missing = sum(max(measure.trials - len(own), 0) for own in cells.values())
    if least_only or measure.until is None:
        return missing
    spreads = spread_among(_until(own) for own in cells.values())
    wanted = [
        place
        for place, own in cells.items()
        if len(own) >= measure.trials and needs_trial(_until(own), measure, spreads)
    ]
    return missing + sum(_was_open(place, cells, measure) for place in wanted)


def _was_open(place: tuple[str, str], cells: _Cells, measure: Measure) -> bool:
    """Whether the cell needed another trial by all that was known when the last one of its layout ended."""
    last = max(at for (layout, _workload), own in cells.items() if layout == place[0] for at, _trial in own)
    return needs_trial(_until(cells[place]), measure, spread_among(_until(own, last) for own in cells.values()))


def _until(own: Sequence[tuple[int, Trial]], last: float = math.inf) -> list[Trial]:
    return [trial for place, trial in own if place <= last]


def settling_of(trials: Sequence[Trial], measure: Measure, spreads: Spreads | None = None) -> CellConvergence | None:
    """What the trials of one cell say together; None with a fixed time. Failed trials have no say."""
    if measure.until is None:
        return None
    fixed_s = measure.trials * _fixed_s(trials, measure.until)
    means = _means_of(trials)
    if not means:
        missing = NotConverged("no-figure", "no trial came as far as a figure")
        return CellConvergence(len(trials) >= measure.trials, False, (missing,), None, fixed_s)
    metric = trials[0].metric
    between = across(means, rule_of(measure), (spreads or Spreads()).of(metric), resolution_of(metric))
    reasons = (*_between_reasons(between, len(means), measure), *_within_reasons(trials))
    return CellConvergence(between.done, between.known and not reasons, reasons, between, fixed_s)


def _fixed_s(trials: Sequence[Trial], until: Until) -> float:
    """How long a trial of the cell lasts by a fixed schedule; a workload that ends by itself takes what it took."""
    by_itself = [trial.seconds.get("fio", 0.0) for trial in trials if trial.settling is None and trial.figures]
    longest = [trial.settling.most_s for trial in trials if trial.settling is not None]
    return max(by_itself) if by_itself and not longest else max([until.max_s, *longest])


def unsteady_by(trials: Sequence[Trial]) -> tuple[str, ...]:
    """What kept trials of a cell from a rate that stands, by name: that they agree proves nothing of it then."""
    return tuple(each.name for each in _within_reasons(trials) if each.name not in IMPRECISE)


def _means_of(trials: Iterable[Trial]) -> list[TrialMean]:
    return [mean for trial in trials if (mean := _mean_of(trial)) is not None]


def _mean_of(trial: Trial) -> TrialMean | None:
    value = trial.figures.metric(trial.metric) if trial.figures and trial.verdict != "failed" else None
    if value is None:
        return None
    settling = trial.settling
    if settling is not None and settling.half_share is not None:
        return TrialMean(value, value * (1 - settling.half_share), value * (1 + settling.half_share))
    if settling is None or settling.low_share is None or settling.high_share is None or not is_rate(trial.metric):
        return TrialMean(value)
    return TrialMean(value, value * settling.low_share, value * settling.high_share)


def _between_reasons(between: AcrossTrials, count: int, measure: Measure) -> tuple[NotConverged, ...]:
    if between.known:
        return ()
    if between.low is None or between.high is None:
        return (NotConverged("one-trial", "one trial alone has no interval"),)
    assert measure.until is not None, "the caller has looked"
    apart = (NotConverged("disagree", "the trials differ by more than their insides explain"),)
    half = (between.high - between.low) / 2 / between.mean if between.mean else 0.0
    trials = "1 trial knows" if count == 1 else f"{count} trials know"
    wide = f"{trials} it to within {100 * half:.3g} %, not {100 * measure.until.tolerance:g} %"
    return (*(apart if between.disagree else ()), NotConverged("trials", wide))


def _within_reasons(trials: Sequence[Trial]) -> tuple[NotConverged, ...]:
    """Why trials themselves did not settle, each reason once."""
    found: dict[str, NotConverged] = {}
    for trial in trials:
        if trial.settling is not None and not trial.settling.settled and trial.verdict != "failed":
            for reason in trial.settling.reasons:
                found.setdefault(reason.name, reason)
    return tuple(found.values())
