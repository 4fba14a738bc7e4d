"""The number of events needed for a percentile: at least ten I/Os or syncs per trial must be slower than it.

With fewer events, the percentile depends on only a few of the slowest I/Os. However well the trials agree, it is then
too imprecise to be ranked, compared or used in a claim, and it gets no confidence interval.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from poolproof.metrics import MetricId, metric_of
from poolproof.results.runs.model import Trial
from poolproof.units import format_duration, format_number_of

TOO_FEW = "too few events"
"""The phrase that outputs use to explain why a percentile is not ranked, compared or used in a claim."""


@dataclass(frozen=True)
class FewEvents:
    """A percentile with too few events.

    `counted`: the number of I/Os or syncs in the trial with the fewest.
    `needed`: the number needed in every trial.
    `needed_s`: the length, in seconds, at which that trial would have enough events. None if its rate is unknown.
    """

    metric: MetricId
    counted: int
    needed: int
    needed_s: float | None

    @property
    def trial_s(self) -> int | None:
        """Return the trial length that yields enough events, in whole seconds, rounded up.

        None if the rate is unknown.
        """
        return None if self.needed_s is None else math.ceil(self.needed_s)

    @property
    def sentence(self) -> str:
        """Describe what is missing: `112 syncs in a trial; the p99 of fsync needs 1,000 syncs: 18 s at this rate`."""
        noun = metric_of(self.metric).event
        time = "" if self.needed_s is None else f": {format_duration(self.needed_s)} at this rate"
        needs = f"the {metric_of(self.metric).title} needs {self.needed:,} {noun}s"
        return f"{format_number_of(self.counted, noun)} in a trial; {needs}{time}"


def few_events(trials: Iterable[Trial], metric: MetricId) -> FewEvents | None:
    """Return the number of events in the trial with the fewest events.

    Return None if every trial has enough, or if the metric is a rate. Trials without event counts, as in older runs,
    are not checked.
    """
    needed = metric_of(metric).events_needed
    if not needed:
        return None
    fewest: FewEvents | None = None
    for trial in trials:
        if trial.figures is None or trial.value(metric) is None:
            continue
        counted = trial.figures.events(metric)
        if counted is None or counted >= needed or (fewest is not None and counted >= fewest.counted):
            continue
        counted_s = trial.counted_s
        needed_s = counted_s * needed / counted if counted and counted_s else None
        fewest = FewEvents(metric, counted, needed, needed_s)
    return fewest


def events_s(trial: Trial) -> float | None:
    """Return the time, in seconds, after which this trial would have had enough events for its percentile.

    Return None if the metric is a rate, or if the number of events is unknown or 0.
    """
    needed = metric_of(trial.metric).events_needed
    if not needed or trial.figures is None:
        return None
    counted = trial.figures.events(trial.metric)
    return trial.counted_s * needed / counted if counted else None
