"""Decide when to stop a running load generator: as soon as the metric of its workload has converged.

The stopping rule (`stopping/`) is applied to the series of rates. If the metric is a percentile, the trial continues
after its rate has converged, until the histograms in the load generator's reports show that the percentile has
converged too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.model import Measure, Workload
from poolproof.hosts.base import Host, text_of
from poolproof.layers.base import WriteBack
from poolproof.layers.open_layout import write_backs
from poolproof.layers.tree import uses_page_cache
from poolproof.load.generator import LiveReport, Status, generator_of
from poolproof.load.model import Load, LoadPart
from poolproof.measure.model import BuiltLayout
from poolproof.measure.series import LatencyInterval, after_ramp, between, series_of
from poolproof.metrics import BYTES_PER_S, Metric, MetricId, metric_of
from poolproof.results.runs.convergence import stopping_rule
from poolproof.statistics.percentiles import MOST_SECTIONS, Histogram, PercentileEstimate, estimate
from poolproof.stopping.decide import MOST_ROUNDS, STEP, decide
from poolproof.stopping.model import NotConverged, StoppingDecision, StoppingRule
from poolproof.stopping.steady_window import LEAST_SAMPLES

# (clones, interval) pairs: the interval applies up to that number of clones, because more clones mean longer reports
_STATUS_S = ((4, 0.25), (16, 0.5))
_SLOWEST_S = 1.0
_MOST_WITH_RAMP = 64  # clones, whose reports together have about 1 MB
_MOST_REPORTED = 2048  # clones times reports: about 30 MB
_FASTEST_S = 0.1


@dataclass(frozen=True)
class BinnedPercentile:
    """A latency percentile that a trial measures.

    `bin_width`: the width of the histogram's bins, relative to the latency.
    """

    metric: Metric
    bin_width: float


@dataclass(frozen=True)
class Ending:
    """The condition for stopping a trial: its rate has converged and, if there is one, its percentile too.

    `rule`: the stopping rule for the rate.
    `by_bytes`: whether the rate is in bytes rather than I/Os.
    `interval_s`: the length of the intervals in the series of rates, which excludes the ramp.
    `write_backs`: the write-back cycles of the layers and the page cache. A trial lasts at least three cycles.
    `percentile`: the percentile that must converge, or None if the metric is a rate.
    """

    rule: StoppingRule
    by_bytes: bool
    interval_s: float
    ramp_s: float
    write_backs: tuple[WriteBack, ...] = ()
    percentile: BinnedPercentile | None = None

    @property
    def most_s(self) -> float:
        """Return the maximum length of a trial in seconds, if each write-back cycle takes as long as it can."""
        return replace(self.rule, turnover_s=max((each.seconds for each in self.write_backs), default=0.0)).most_s

    def judge_report(self, report: LiveReport) -> StoppingDecision:
        """Return the decision on the rate so far or, once the rate has converged, on the percentile.

        Raises a CommandError if the host does not respond.
        """
        decision = self.judge(report.statuses, report.begun_at_s)
        if self.percentile is None or not decision.converged:
            return decision
        counting = after_ramp(report.statuses, self.ramp_s, report.begun_at_s)
        return with_percentile(decision, self.percentile, self._rule_after(counting), report, counting)

    def judge(self, statuses: list[Status], begun_at_s: float) -> StoppingDecision:
        counting = after_ramp(statuses, self.ramp_s, begun_at_s)
        series = series_of(counting, self.interval_s, by_bytes=self.by_bytes)
        return decide(series, self._rule_after(counting))

    def _rule_after(self, counting: Sequence[Status]) -> StoppingRule:
        """Return the stopping rule, with `turnover_s` set to the longest write-back cycle at the mean write rate."""
        rate = counting[-1].write_bytes / counting[-1].ran_s if counting else 0.0
        return replace(self.rule, turnover_s=max((each.cycle_s(rate) for each in self.write_backs), default=0.0))


def ending_of(
    host: Host, layout: BuiltLayout, workload: Workload, load: Load, measure: Measure, metric: MetricId
) -> Ending | None:
    """Return the condition for stopping a trial of this load.

    Return None if the trial has a fixed length, or if the load generator ends on its own when it has done its work.
    """
    generator, row = generator_of(load), metric_of(metric)
    # jobs with phases must not be cut short
    has_own_end = generator.sets_runtime(workload) or len(load.phases) > 1
    if measure.until is None or has_own_end or not all(part.time_based for part in load.parts):
        return None
    interval_s = status_interval_s(load, measure.shortest_s)
    return Ending(
        rule=with_enough_samples(stopping_rule(measure), interval_s),
        by_bytes=row.unit is BYTES_PER_S,
        interval_s=interval_s,
        ramp_s=load.ramp_s,
        write_backs=_write_backs(host, layout, load),
        percentile=None if row.is_rate else BinnedPercentile(row, generator.bin_width),
    )


def status_interval_s(load: Load, shortest_s: float) -> float:
    """Return the interval between the load generator's reports in seconds.

    With few clones, the interval is short enough for trials of `shortest_s`. It is never below 0.1 s, because each
    report takes fio a few milliseconds.

    `shortest_s`: the shortest possible trial, or infinity if no decision is based on the reports.
    """
    clones = load.clones
    usual = next((seconds for most, seconds in _STATUS_S if clones <= most), _SLOWEST_S)
    if load.ramp_s and load.asked_s:
        often_s = max(_STATUS_S[0][1], load.asked_s / 2)
        if clones <= _MOST_WITH_RAMP or clones * (load.ramp_s + load.asked_s) / often_s <= _MOST_REPORTED:
            usual = min(usual, often_s)  # a report before the last shows when the ramp ended
    if clones > _STATUS_S[0][0]:
        return usual
    return max(_FASTEST_S, min(usual, shortest_s / LEAST_SAMPLES))


def with_enough_samples(rule: StoppingRule, interval_s: float) -> StoppingRule:
    """Return the stopping rule, with `max_s` increased if trials would otherwise be too short for enough samples."""
    enough_s = interval_s * (MOST_ROUNDS if rule.steady == "snia" else LEAST_SAMPLES)
    return replace(rule, max_s=max(rule.max_s, enough_s))


def _write_backs(host: Host, layout: BuiltLayout, load: Load) -> tuple[WriteBack, ...]:
    """Return the write-back cycles of the layout's layers and of the page cache.

    If no job writes, the result is empty.
    """
    writers = [part for part in load.parts if part.writes]
    if not writers:
        return ()
    layers = write_backs(layout.tree, host)
    if uses_page_cache(layout.node) and any(_uses_page_cache(part) for part in writers):
        return (*layers, _page_cache(host, layout.target.dirty_limit_bytes))
    return tuple(layers)


def _uses_page_cache(part: LoadPart) -> bool:
    return part.may_use_page_cache and not part.direct and not part.commits_each_write


def _page_cache(host: Host, limit_bytes: int | None) -> WriteBack:
    """Return the write-back cycle of the page cache (Documentation/admin-guide/sysctl/vm.rst).

    Every dirty_writeback_centisecs, the kernel writes back pages that are older than dirty_expire_centisecs. It also
    writes back pages when the dirty limit is reached and writers have to wait.
    """
    usual = {"dirty_expire": 3000, "dirty_writeback": 500}
    texts = {name: text_of(host, f"/proc/sys/vm/{name}_centisecs").strip() for name in usual}
    found = (int(text) if text.isdecimal() else usual[name] for name, text in texts.items())
    return WriteBack(sum(found) / 100, limit_bytes)


def with_percentile(
    decision: StoppingDecision,
    percentile: BinnedPercentile,
    rule: StoppingRule,
    report: LiveReport,
    counting: Sequence[Status],
) -> StoppingDecision:
    """Return the decision on the percentile if `decision` says that the rate has converged.

    If the percentile has not converged, the trial continues, up to its maximum length. If the load generator's reports
    contain no histograms, `decision` is returned unchanged. Raises a CommandError if the host does not respond.
    """
    bounds = section_bounds(counting, decision.warmup_s)
    results = report.outcomes(bounds) if len(bounds) > 1 else ()
    if not results or len(results) != len(bounds):
        return decision
    intervals = between(bounds, results)[1 if decision.warmup_s else 0 :]  # without the warm-up
    metric = percentile.metric
    assert metric.percent is not None
    found = estimate(histograms_of(metric, intervals), metric.percent, rule.confidence, percentile.bin_width)
    if found is None:
        return decision
    half_share = found.half / found.value if found.half is not None and found.value else None
    error_share = found.error / found.value if found.error is not None and found.value else None
    decision = replace(decision, half_share=half_share, error_share=error_share, freedom=found.freedom)
    if half_share is not None and half_share <= rule.until:
        return decision
    is_last = decision.used_s >= rule.most_s * (1 - 1e-9)
    next_s = None if is_last else min(rule.most_s, decision.used_s * STEP)
    reason = NotConverged("percentile", _why_imprecise(found, metric, rule))
    return replace(decision, done=is_last, converged=False, reasons=(reason,), next_s=next_s)


def histograms_of(percentile: Metric, intervals: Sequence[LatencyInterval]) -> list[Histogram]:
    """Return the histograms from which the percentile is computed, one per interval."""
    if percentile.of == "syncs":
        return [each.sync_bins for each in intervals]
    if percentile.of != "ios" and any(each.read_bins or each.write_bins for each in intervals):
        return [each.read_bins if percentile.of == "read" else each.write_bins for each in intervals]
    return [each.bins for each in intervals]


def section_bounds(counting: Sequence[Status], warmup_s: float) -> list[Status]:
    """Return the reports that divide the time after the warm-up into sections of equal length.

    If there are too few reports, the result is empty.
    """
    later = [status for status in counting if status.ran_s >= warmup_s]
    if len(later) < 2:
        return []
    usual_s = (later[-1].ran_s - later[0].ran_s) / (len(later) - 1)
    if later[-1].ran_s - later[-2].ran_s < usual_s / 2:  # the last report may come right after the previous one
        later.pop(-2)
    step = max(1, (len(later) - 1) // MOST_SECTIONS)
    return later[(len(later) - 1) % step :: step]


def _why_imprecise(found: PercentileEstimate, percentile: Metric, rule: StoppingRule) -> str:
    if found.half is None:
        return f"too few samples are above {percentile.id} to compute its interval"
    share = found.half / found.value if found.value else 0.0
    return f"the rate is precise, but the interval of {percentile.id} is ±{share:.1%}; ±{rule.until:.1%} is required"
