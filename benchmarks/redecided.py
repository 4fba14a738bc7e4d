"""Repeat the decisions about the trials of a recorded run with `until`, from the series in the run directory.

The stopping rule may have changed since the run was measured. A trial whose warm-up is cut off at another point gets
the rate of its series as its value. Trials are not repeated, so the number of trials is that of the recorded run.

This works only for layouts without write-back cycles and for workloads whose metric is a rate, as in the campaigns of
`benchmarks.court`.
"""

from dataclasses import replace

import msgspec

from benchmarks.playing import play
from poolproof.campaign.model import Measure
from poolproof.load.generator import Status
from poolproof.measure.series import series_of
from poolproof.results.runs.convergence import stopping_rule
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import Convergence, Trial
from poolproof.results.runs.summary import cells_of
from poolproof.stopping.model import StoppingDecision
from poolproof.stopping.steady_window import LEAST_SAMPLES

_FASTEST_S = 0.1
_SAME_S = 1e-6


def redecided(run: LoadedRun) -> LoadedRun:
    """Return the run with the decisions that the stopping rule makes now."""
    trials = tuple(_redecided(run, trial) for trial in run.trials)
    return replace(run, trials=trials, cells=cells_of(trials, run.campaign))


def _redecided(run: LoadedRun, trial: Trial) -> Trial:
    settling, figures = trial.settling, trial.figures
    if settling is None or figures is None:
        return trial
    found = _decision(run, trial, run.campaign.measure)
    if found.mean is None:
        return trial
    if abs(found.warmup_s - settling.warmup_s) > _SAME_S:
        by_bytes = trial.metric == "bandwidth"
        figures = replace(figures, bandwidth_bytes=found.mean) if by_bytes else replace(figures, iops=found.mean)
    return replace(trial, figures=figures, settling=convergence(found, found.mean, settling))


def _decision(run: LoadedRun, trial: Trial, measure: Measure) -> StoppingDecision:
    path = run.path / "cells" / trial.layout / trial.workload / str(trial.number) / "series.jsonl"
    statuses = [msgspec.json.decode(line, type=Status) for line in path.read_bytes().splitlines()]
    interval_s = max(_FASTEST_S, measure.shortest_s / LEAST_SAMPLES)
    series = series_of(statuses, interval_s, by_bytes=trial.metric == "bandwidth")
    return play(series.values, series.interval_s, stopping_rule(measure), series.reports_s)


def convergence(found: StoppingDecision, mean: float, recorded: Convergence) -> Convergence:
    """Return what a run records about this decision. `recorded`: the values that do not depend on it."""
    bounds = (found.low, found.high, found.lowest, found.highest)
    low, high, least, most = (None if bound is None else bound / mean for bound in bounds)
    return replace(
        recorded,
        settled=found.converged,
        warmup_s=found.warmup_s,
        low_share=low,
        high_share=high,
        reasons=found.reasons,
        least_share=least,
        most_share=most,
        error_share=found.error_share,
        freedom=None if found.error_share is None else found.freedom,
        trend_share=found.trend,
    )
