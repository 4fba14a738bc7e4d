"""The output of the load generator in a trial, and the results for the time after the warm-up.

Bytes, I/Os, samples and histogram bins are counts. For the time after the warm-up, they are the exact difference
between two reports. Means can be computed from sums. Other values (minimum, maximum, standard deviation) are unknown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.hosts.base import Host
from poolproof.load.generator import LoadGenerator, Status, generator_of
from poolproof.load.merge import percentiles_of
from poolproof.load.model import Load
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome, per_second
from poolproof.measure.ending import Ending, histograms_of
from poolproof.measure.figures import figures_of
from poolproof.measure.load_watch import LoadWatch
from poolproof.measure.series import LatencyInterval, after_ramp, latencies, more_bins, series_of
from poolproof.metrics import MetricId, TrialMetrics, metric_of
from poolproof.process import Completed
from poolproof.results.runs.model import Convergence
from poolproof.statistics.percentiles import extremes
from poolproof.statistics.shared_variance import variance_of
from poolproof.stopping.model import StoppingDecision

_SHORT_S = 10.0
_SWING_S = 0.5


@dataclass(frozen=True)
class LoadOutput:
    """The output of the load generator after it has ended.

    `job_text`: the contents of the job file that the load generator read.
    `report`: the last complete report, or the entire output if no report is complete.
    `statuses`: the totals in each report after the ramp.
    `decision`: the decision on convergence, or None for a trial of fixed length.
    `ended`: True if the load generator was stopped because of the decision.
    `warm_up`: the report at the end of the warm-up, or an empty string if there was no warm-up.
    `most_s`: the maximum length of the trial in seconds, or 0 for a trial of fixed length.
    `latencies`: the latency histograms over time.
    """

    job_text: str
    report: str
    completed: Completed
    statuses: tuple[Status, ...] = ()
    decision: StoppingDecision | None = None
    ended: bool = False
    warm_up: str = ""
    most_s: float = 0.0
    latencies: tuple[LatencyInterval, ...] = ()

    @property
    def ran_s(self) -> float:
        """Return the runtime of the longest job in seconds, without the ramp, or 0 before the first report."""
        return self.statuses[-1].ran_s if self.statuses else 0.0


def gathered(
    host: Host, load: Load, scratch: str, watch: LoadWatch | None, ending: Ending | None, ran: tuple[str, Completed]
) -> LoadOutput:
    """Collect the output of the load generator, which has ended.

    Raises a CommandError if the host does not respond.

    `watch`: the watcher of the load generator, or None if it did not report while it was running.
    """
    job_text, completed = ran
    if watch is None:
        return LoadOutput(job_text, generator_of(load).whole_report(host, scratch), completed)
    report = watch.report
    (report.read_all if completed.elapsed_s <= _SHORT_S else report.read_on)()
    if not report.statuses:
        return LoadOutput(job_text, generator_of(load).whole_report(host, scratch), completed)
    last = report.documents(report.statuses[-1:])
    counting = after_ramp(report.statuses, load.ramp_s, report.begun_at_s)
    run = LoadOutput(job_text, last, completed, counting, latencies=latencies(report, counting))
    return run if ending is None else _with_decision(run, watch, ending)


def _with_decision(run: LoadOutput, watch: LoadWatch, ending: Ending) -> LoadOutput:
    decision = watch.decision or ending.judge_report(watch.report)
    first = _first_after(run.statuses, decision.warmup_s)
    return replace(
        run,
        decision=decision,
        ended=watch.decision is not None,
        warm_up=watch.report.documents([first]) if first else "",
        most_s=ending.most_s,
    )


def _first_after(statuses: Sequence[Status], warmup_s: float) -> Status | None:
    """Return the first report after the warm-up.

    Return None if there was no warm-up, or no report between the warm-up and the last report.
    """
    later = [status for status in statuses if status.ran_s >= warmup_s]
    return later[0] if warmup_s > 0 and later and later[0].ran_s < statuses[-1].ran_s else None


def results_after_warm_up(
    fio: LoadOutput, result: Outcome, metric: MetricId, generator: LoadGenerator
) -> tuple[TrialMetrics, Convergence | None]:
    """Return the metrics for the time after the warm-up, and the trial's convergence.

    For a trial of fixed length, return the metrics for the whole time, and None.
    """
    whole, decision = figures_of(result), fio.decision
    if decision is None:
        return whole, None
    starts = generator.outcomes(fio.warm_up)
    figures = figures_of(since(starts[-1], result)) if starts else whole
    if not figures.metric(metric):  # nothing was counted after the warm-up
        figures = whole
    figures = replace(figures, swing=_swing(fio.statuses, decision.warmup_s))
    lowest, highest = _extremes(fio, decision, metric, figures.metric(metric))
    return figures, Convergence(
        settled=decision.converged,
        warmup_s=decision.warmup_s,
        ran_s=fio.ran_s,
        most_s=fio.most_s,
        low_share=_share(decision.low, decision.mean),
        high_share=_share(decision.high, decision.mean),
        reasons=decision.reasons,
        whole=whole.metric(metric),
        half_share=decision.half_share,
        error_share=decision.error_share,
        freedom=None if decision.error_share is None else decision.freedom,
        least_share=lowest,
        most_share=highest,
        trend_share=decision.trend,
    )


def _extremes(
    fio: LoadOutput, decision: StoppingDecision, metric: MetricId, value: float | None
) -> tuple[float | None, float | None]:
    """Return the lowest and highest value of the metric in any tenth of the time after the warm-up.

    Both are relative to the value for that whole time.
    A value is None if it is unknown.
    """
    percent = metric_of(metric).percent
    if percent is None:
        return _share(decision.lowest, decision.mean), _share(decision.highest, decision.mean)
    later = [each for each in fio.latencies if each.from_s >= decision.warmup_s]
    found = extremes(histograms_of(metric_of(metric), later), percent)
    return (None, None) if found is None else (_share(found[0], value), _share(found[1], value))


def _share(bound: float | None, mean: float | None) -> float | None:
    return bound / mean if bound is not None and mean else None


def _swing(statuses: Sequence[Status], warmup_s: float) -> float | None:
    """Return the coefficient of variation of the load's rate in intervals of 500 ms.

    Return None if there are fewer than four intervals, or if nothing was read or written. For trials of a fixed length,
    `figures_of` returns a similar value, computed from the load generator's own samples of each job.
    """
    values = series_of(statuses, _SWING_S, by_bytes=True).values[round(warmup_s / _SWING_S) :]
    if len(values) < 4 or not any(values):
        return None
    return math.sqrt(variance_of(values)) * len(values) / math.fsum(values)


def since(start: Outcome, end: Outcome) -> Outcome:
    """Return the difference between two reports of the same jobs. If the number of jobs differs, return `end`."""
    if len(start.parts) != len(end.parts):
        return end
    return replace(end, parts=tuple(_job(a, b) for a, b in zip(start.parts, end.parts, strict=True)))


def _job(start: PartOutcome, end: PartOutcome) -> PartOutcome:
    return replace(
        end,
        read=_direction(start.read, end.read),
        write=_direction(start.write, end.write),
        trim=_direction(start.trim, end.trim),
        mixed=_direction(start.mixed, end.mixed),
        sync=_latency(start.sync, end.sync),
        syncs=_less(end.syncs, start.syncs),
        delay_ms=0 if start.job_runtime_ms else end.delay_ms,
        job_runtime_ms=_less(end.job_runtime_ms, start.job_runtime_ms),
    )


def _direction(start: Direction | None, end: Direction | None) -> Direction | None:
    if start is None or end is None:
        return end
    moved, ios = _less(end.io_bytes, start.io_bytes), _less(end.ios, start.ios)
    ran_ms = _less(end.runtime_ms, start.runtime_ms)
    return Direction(
        io_bytes=moved,
        ios=ios,
        runtime_ms=ran_ms,
        bandwidth_bytes=per_second(moved, ran_ms),
        iops=per_second(ios, ran_ms),
        slat=_latency(start.slat, end.slat),
        clat=_latency(start.clat, end.clat),
        lat=_latency(start.lat, end.lat),
    )


def _latency(start: Latency | None, end: Latency | None) -> Latency | None:
    if start is None or end is None or not start.samples or not end.samples:
        return end
    samples = end.samples - start.samples
    if samples <= 0:
        return Latency(samples=0)
    mean_ns = None
    if start.mean_ns is not None and end.mean_ns is not None:
        mean_ns = math.fsum((end.samples * end.mean_ns, -start.samples * start.mean_ns)) / samples
    bins = more_bins(start.bins_ns, end.bins_ns)
    percentiles = percentiles_of(bins, end.percentiles_ns) if bins else {}
    return Latency(samples=samples, mean_ns=mean_ns, percentiles_ns=percentiles, bins_ns=bins)


def _less(end: int | None, start: int | None) -> int | None:
    return None if end is None else end - (start or 0)
