"""Whether the trials of a cell have made its figure known, or what keeps them from it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import calibration_of
from poolproof.campaign.model import Campaign, Layout, Measure, Metric, Workload
from poolproof.runs.model import Trial, Unsettled
from poolproof.stopping.across import across
from poolproof.stopping.model import Between, Rule, Spread, TrialMean
from poolproof.stopping.spread import spread_of

_BY_SERIES: frozenset[Metric] = frozenset({"iops", "bandwidth"})


@dataclass(frozen=True)
class CellSettling:
    """What is known of a cell that is measured until its figure is known.

    `done`: no further trial is needed, or none is allowed. `settled`: the trials agree inside the tolerance, and each
    of them settled; else `reasons` say what kept them from it. `fixed_s` is what fio would have taken for the least
    number of trials, each as long as a trial may last.
    """

    done: bool
    settled: bool
    reasons: tuple[Unsettled, ...]
    between: Between | None
    fixed_s: float


def rule_of(measure: Measure) -> Rule:
    """The stopping rule that `measure: {until: …}` asks for.

    Raises:
        ValueError: a fixed time was asked for.
    """
    if measure.until is None:
        raise ValueError("a fixed time has no stopping rule")
    until = measure.until
    return Rule(
        until=until.tolerance,
        confidence=until.confidence,
        min_s=until.min_s,
        max_s=until.max_s,
        steady=until.steady,
        trials_min=measure.trials,
        trials_max=measure.trials_max,
    )


def spread_among(cells: Iterable[Sequence[Trial]]) -> Spread | None:
    """How much trials differ in these cells of one run; None where they are too few to tell."""
    return spread_of([_means_of(trials) for trials in cells])


def needs_trial(trials: Sequence[Trial], measure: Measure, spread: Spread | None = None) -> bool:
    """Whether a cell with these trials, in order, has another one ahead. `spread`: of all cells of the run."""
    if len(trials) < measure.trials:
        return True
    settling = settling_of(trials, measure, spread)
    return settling is not None and not settling.done and len(trials) < measure.trials_max


def trials_ahead(trials: Iterable[Trial], campaign: Campaign) -> int:
    """How many trials a run with these still has to make, at least; those of disks alone are among them."""
    calibration, every = calibration_of(campaign), tuple(trials)
    bare = _by_cell(every, calibration.layouts, calibration.workloads)
    own = _by_cell(every, campaign.layouts, campaign.workloads)
    measure, has_budget = campaign.measure, campaign.budget_s is not None
    return _ahead(bare, measure, least_only=False) + _ahead(own, measure, least_only=has_budget)


def _by_cell(
    trials: Iterable[Trial], layouts: Iterable[Layout], workloads: Sequence[Workload]
) -> Sequence[Sequence[Trial]]:
    done: dict[tuple[str, str], list[Trial]] = {
        (layout.name, workload.name): [] for layout in layouts for workload in workloads
    }
    for trial in trials:
        if (trial.layout, trial.workload) in done:
            done[trial.layout, trial.workload].append(trial)
    return tuple(done.values())


def _ahead(cells: Sequence[Sequence[Trial]], measure: Measure, *, least_only: bool) -> int:
    if least_only:
        return sum(max(measure.trials - len(own), 0) for own in cells)
    spread = spread_among(cells) if measure.until else None
    return sum(max(measure.trials - len(own), int(needs_trial(own, measure, spread))) for own in cells)


def settling_of(trials: Sequence[Trial], measure: Measure, spread: Spread | None = None) -> CellSettling | None:
    """What the trials of one cell say together; None with a fixed time. Failed trials have no say."""
    if measure.until is None:
        return None
    longest = [trial.settling.most_s for trial in trials if trial.settling is not None]
    fixed_s = measure.trials * max([measure.until.max_s, *longest])
    means = _means_of(trials)
    if not means:
        missing = Unsettled("no-figure", "no trial came as far as a figure")
        return CellSettling(len(trials) >= measure.trials, False, (missing,), None, fixed_s)
    between = across(means, rule_of(measure), spread)
    reasons = (*_between_reasons(between, len(means), measure), *_within_reasons(trials))
    return CellSettling(between.done, between.known and not reasons, reasons, between, fixed_s)


def _means_of(trials: Iterable[Trial]) -> list[TrialMean]:
    return [mean for trial in trials if (mean := _mean_of(trial)) is not None]


def _mean_of(trial: Trial) -> TrialMean | None:
    value = trial.figures.metric(trial.metric) if trial.figures and trial.verdict != "failed" else None
    if value is None:
        return None
    settling = trial.settling
    if settling is None or settling.low_share is None or settling.high_share is None or trial.metric not in _BY_SERIES:
        return TrialMean(value)
    return TrialMean(value, value * settling.low_share, value * settling.high_share)


def _between_reasons(between: Between, count: int, measure: Measure) -> tuple[Unsettled, ...]:
    if between.known:
        return ()
    if between.low is None or between.high is None:
        return (Unsettled("one-trial", "one trial alone has no interval"),)
    assert measure.until is not None, "the caller has looked"
    half = (between.high - between.low) / 2 / between.mean if between.mean else 0.0
    trials = "1 trial knows" if count == 1 else f"{count} trials know"
    wide = f"{trials} it to within {100 * half:.3g} %, not {100 * measure.until.tolerance:g} %"
    apart = (Unsettled("disagree", "the trials differ by more than their insides explain"),)
    return (*(apart if between.disagree else ()), Unsettled("trials", wide))


def _within_reasons(trials: Sequence[Trial]) -> tuple[Unsettled, ...]:
    """Why trials themselves did not settle, each reason once."""
    found: dict[str, Unsettled] = {}
    for trial in trials:
        if trial.settling is not None and not trial.settling.settled and trial.verdict != "failed":
            for reason in trial.settling.reasons:
                found.setdefault(reason.name, reason)
    return tuple(found.values())
