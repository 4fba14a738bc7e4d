"""Check whether a cell's trials have converged, and whether the cell needs more of them."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.calibration import calibration_of, cell_keys
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Campaign, Measure, Until
from poolproof.metrics import LOWER_IS_BETTER, MetricId, metric_of
from poolproof.results.runs.cell_builds import counting, left_out, split_builds
from poolproof.results.runs.changing_rates import may_become_averaged, reasons_within
from poolproof.results.runs.disturbed import may_still_leave_out
from poolproof.results.runs.model import Trial
from poolproof.results.runs.remarks import coarsest_bin, resolution_of
from poolproof.statistics.build_samples import Samples
from poolproof.statistics.comparison import LogMean, log_mean
from poolproof.statistics.intervals import standard_error
from poolproof.statistics.shared_variance import VariancePrior, fit_prior
from poolproof.stopping.across import across
from poolproof.stopping.model import AcrossTrials, NotConverged, StoppingRule, TrialMean
from poolproof.units import format_number, format_number_of

_MOST_BUILDS = 50  # older builds are finished, because the run went on; checking each takes as long as loading the run

BuildKey = tuple[CellKey, int]
"""A cell, and the number of a build of the cell's layout."""


@dataclass(frozen=True)
class VariancePriors:
    """The typical variance between the trials of a cell, estimated from all cells of a run.

    A variance is None if there are too few cells. Rates and percentiles have separate variances, because percentiles
    vary several times as much, and only in steps of a histogram bin.
    """

    rates: VariancePrior | None = None
    percentiles: VariancePrior | None = None

    def of(self, metric: MetricId) -> VariancePrior | None:
        """Return the typical variance for percentiles if the metric is a percentile, otherwise that for rates.

        None if there are too few cells to estimate it.
        """
        return self.rates if metric_of(metric).is_rate else self.percentiles


@dataclass(frozen=True)
class CellConvergence:
    """The convergence of a cell in a campaign with `until`.

    `done`: whether the cell needs no more trials, or may not have more.
    `converged`: whether every trial converged and the mean of the trials is precise to within the tolerance.
    `reasons`: the reasons why the cell has not converged.
    `across_trials`: the mean of the trials, or None if no trial has a value.
    `fixed_s`: the time, in seconds, that the load would have taken for the minimum number of trials of maximum length.
    `least_count`: the minimum number of trials minus those left out, or None if the samples are builds.
    """

    done: bool
    converged: bool
    reasons: tuple[NotConverged, ...]
    across_trials: AcrossTrials | None
    fixed_s: float
    least_count: int | None = None


def stopping_rule(measure: Measure) -> StoppingRule:
    """Return the stopping rule for the campaign's `measure: {until: …}`.

    Raises a ValueError if the campaign's trials run for a fixed time.
    """
    until = measure.until
    if until is None:
        raise ValueError("a fixed time has no stopping rule")
    return StoppingRule(
        until=until.tolerance,
        confidence=until.confidence,
        min_s=until.min_s,
        max_s=until.max_s,
        steady=until.steady,
        trials_min=measure.trials,
        trials_max=measure.trials_max,
    )


def priors_among(cells: Iterable[Sequence[Trial]], *, by_build: bool = False) -> VariancePriors:
    """Return the typical variance between trials (or between builds), estimated from these cells of a run.

    Only the trials on which a cell's results are based are used.
    """
    means: dict[bool, list[list[float]]] = {True: [], False: []}
    measured = [counting(trials) for trials in cells if trials]
    for trials in measured:
        found = _means_of_builds(trials) if by_build else _means_of(trials)
        means[metric_of(trials[0].metric).is_rate].append([each.mean for each in found])
    least = coarsest_bin(itertools.chain.from_iterable(measured))
    return VariancePriors(fit_prior(means[True]), fit_prior(means[False], least))


def needs_trial(trials: Sequence[Trial], measure: Measure, priors: VariancePriors | None = None) -> bool:
    """True if a cell with these trials needs another trial.

    With `until`, a trial that other work disturbed is followed by another, unless the maximum number of trials is too
    small to leave out the disturbed ones.

    `priors`: the typical variances, estimated from all cells of the run.
    """
    if len(trials) < measure.trials:
        return True
    if measure.until is None or len(trials) >= measure.trials_max:
        return False
    if len(counting(trials)) < measure.trials or may_still_leave_out(trials, measure.trials_max):
        return True
    if may_become_averaged(counting(trials), measure.trials_max - len(left_out(trials))):
        return True
    found = convergence_of(trials, measure, priors)
    return found is not None and not found.done


def trials_ahead(trials: Iterable[Trial], campaign: Campaign) -> int:
    """Return the minimum number of trials that a run still has to do.

    A run never returns to a finished build. If a cell had converged when the last trial of a build ended, it therefore
    needs no more trials in that build, even if later trials change the typical variance.

    `trials`: the trials so far, in the order in which they ended.
    """
    calibration, measure, every = calibration_of(campaign), campaign.measure, tuple(trials)
    bare = [(key, 1) for key in cell_keys(calibration.layouts, calibration.workloads)]
    own = build_keys(cell_keys(campaign.layouts, campaign.workloads, campaign.states), measure)
    has_budget = campaign.budget_s is not None
    return _ahead(every, bare, measure, least_only=False) + _ahead(every, own, measure, least_only=has_budget)


def build_keys(keys: Iterable[CellKey], measure: Measure) -> list[BuildKey]:
    """Return the keys of all builds that these cells require."""
    return [(key, build) for key in keys for build in range(1, measure.builds + 1)]


def by_build(trials: Iterable[Trial], keys: Iterable[BuildKey]) -> dict[BuildKey, list[Trial]]:
    """Group the trials by build, keeping their order. Trials of builds that are not in `keys` are dropped."""
    builds: dict[BuildKey, list[Trial]] = {key: [] for key in keys}
    for trial in trials:
        builds.get((trial.cell_key, trial.build), []).append(trial)
    return builds


def by_cell(trials: Iterable[Trial], keys: Iterable[CellKey]) -> dict[CellKey, list[Trial]]:
    """Group the trials by cell, keeping their order. Trials of cells that are not in `keys` are dropped."""
    cells: dict[CellKey, list[Trial]] = {key: [] for key in keys}
    for trial in trials:
        cells.get(trial.cell_key, []).append(trial)
    return cells


def _ahead(trials: Sequence[Trial], keys: Sequence[BuildKey], measure: Measure, *, least_only: bool) -> int:
    now = by_build(trials, keys)
    count = sum(max(measure.trials - len(own), 0) for own in now.values())
    if least_only or measure.until is None:
        return count
    priors = priors_among(now.values())
    ended_at = {(trial.layout, trial.build): at for at, trial in enumerate(trials)}
    waiting: dict[int, list[BuildKey]] = {}
    for (key, build), own in now.items():
        if len(own) >= measure.trials and needs_trial(own, measure, priors):
            waiting.setdefault(ended_at[key.layout, build], []).append((key, build))
    for at in sorted(waiting)[-_MOST_BUILDS:]:
        then = by_build(trials[: at + 1], keys)  # the trials up to the last one of the build
        earlier = priors_among(then.values())
        count += sum(needs_trial(then[each], measure, earlier) for each in waiting[at])
    return count


def convergence_of(
    trials: Sequence[Trial], measure: Measure, priors: VariancePriors | None = None, *, by_build: bool = False
) -> CellConvergence | None:
    """Return the convergence of a cell with these trials, or None if the trials run for a fixed time.

    Failed trials are ignored, and so are the trials that other work disturbed, if they are left out.

    `by_build`: whether each build's mean is a sample. If false, all trials must be from the same build.
    `priors`: the typical variance between the samples, which are trials or builds.
    """
    if measure.until is None:
        return None
    fixed_s = measure.trials * (measure.builds if by_build else 1) * _fixed_s(trials, measure.until)
    finished, aside, trials = len(trials), len(left_out(trials)), counting(trials)
    means = _means_of_builds(trials) if by_build else _means_of(trials)
    if not means:
        missing = NotConverged("no-figure", "no trial produced a result")
        return CellConvergence(finished >= measure.trials, False, (missing,), None, fixed_s)
    metric, rule = trials[0].metric, stopping_rule(measure)
    least_count = max(1, measure.trials - aside)
    rule = replace(rule, trials_min=least_count, trials_max=max(1, measure.trials_max - aside))
    if by_build:
        rule = replace(rule, trials_min=len(means), trials_max=len(means))
    found = across(means, rule, (priors or VariancePriors()).of(metric), resolution_of(trials, metric).share)
    what = "build" if by_build else "trial"
    reasons = (*_reasons_across(found, len(means), measure.until, what), *reasons_within(trials))
    return CellConvergence(
        done=found.done,
        converged=found.is_precise and not reasons,
        reasons=reasons,
        across_trials=found,
        fixed_s=fixed_s,
        least_count=None if by_build else least_count,
    )


def _fixed_s(trials: Sequence[Trial], until: Until) -> float:
    """Return the time, in seconds, that the load would run in a trial of fixed length.

    For a workload that ends on its own, this is the longest time that any of its trials took.
    """
    own_s = [trial.seconds.get("fio", 0.0) for trial in trials if trial.settling is None and trial.figures]
    longest = [trial.settling.most_s for trial in trials if trial.settling is not None]
    return max(own_s) if own_s and not longest else max([until.max_s, *longest])


def _means_of(trials: Iterable[Trial]) -> list[TrialMean]:
    return [_mean_of(trial, value) for trial in trials if (value := trial.value(trial.metric)) is not None]


def _means_of_builds(trials: Iterable[Trial]) -> list[TrialMean]:
    """Return the mean of each build that has values.

    If a build has several trials, the standard error of its mean is estimated from the differences between them.
    """
    builds = (_means_of(own) for own in split_builds(trials))
    return [_mean_of_build(own) for own in builds if own]


def _mean_of_build(trials: Sequence[TrialMean]) -> TrialMean:
    if len(trials) == 1:
        return trials[0]
    mean = math.fsum(each.mean for each in trials) / len(trials)
    error = standard_error([each.mean for each in trials])
    return TrialMean(mean, mean - error, mean + error, error, len(trials) - 1)


def _mean_of(trial: Trial, value: float) -> TrialMean:
    settling = trial.settling
    if settling is None:
        return TrialMean(value)
    error = None if settling.error_share is None else value * settling.error_share
    freedom = settling.freedom or TrialMean.freedom
    if settling.half_share is not None:
        low, high = value * (1 - settling.half_share), value * (1 + settling.half_share)
        return TrialMean(value, low, high, error, freedom)
    if settling.low_share is None or settling.high_share is None or not metric_of(trial.metric).is_rate:
        return TrialMean(value)
    return TrialMean(value, value * settling.low_share, value * settling.high_share, error, freedom)


def _reasons_across(found: AcrossTrials, count: int, until: Until, what: str) -> tuple[NotConverged, ...]:
    if found.is_precise:
        return ()
    if found.low is None or found.high is None:
        return (NotConverged("one-trial", f"a single {what} has no interval"),)
    disagree = NotConverged("disagree", f"the {what}s differ by more than the variation within each {what} explains")
    half = (found.high - found.low) / 2 / found.mean if found.mean else 0.0
    precision = f"the precision after {format_number_of(count, what)} is ±{format_number(100 * half, 3)}%"
    wide = f"{precision}, but ±{100 * until.tolerance:g}% is required"
    return (*((disagree,) if found.disagree else ()), NotConverged("trials", wide))


def metric_log_mean(samples: Samples, metric: MetricId, prior: VariancePrior | None) -> LogMean | None:
    """Return the mean logarithm of a cell's samples. Return None if the cell has no samples or one of them is 0."""
    return log_mean(
        samples.values,
        prior,
        lower_is_better=metric in LOWER_IS_BETTER,
        resolution=samples.error,
        least_count=samples.least_count,
    )
