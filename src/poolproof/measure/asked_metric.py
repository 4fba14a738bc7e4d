"""Whether the metric that a workload is compared by is known, where that is a percentile and not a rate.

The rule of `stopping/` looks at a rate. Where layouts are compared by a percentile, a trial whose rate is known goes on
until the percentile is, too: from the histograms of the reports that fio writes while it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.model import Metric
from poolproof.load.fio.json_output import read_json_stream
from poolproof.measure.fio_report import FioReport
from poolproof.measure.latencies import between
from poolproof.measure.status import Status
from poolproof.statistics.percentiles import MOST_SECTIONS, PercentileEstimate, estimate
from poolproof.stopping.decide import STEP
from poolproof.stopping.model import Reason, StoppingDecision, StoppingRule

_PERCENT: dict[Metric, float] = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "sync_p99": 99.0}


@dataclass(frozen=True)
class Percentile:
    """Which percentile is asked for: of reads and writes, or of fsync and fdatasync calls."""

    name: str
    percent: float
    of_syncs: bool


def percentile_of(metric: Metric) -> Percentile | None:
    """The percentile that a metric is; None for a rate."""
    percent = _PERCENT.get(metric)
    return None if percent is None else Percentile(metric, percent, metric.startswith("sync"))


def with_percentile(
    decision: StoppingDecision, asked: Percentile, rule: StoppingRule, report: FioReport, counting: Sequence[Status]
) -> StoppingDecision:
    """The decision on a rate that is settled, as far as it holds for the percentile: if not, the trial goes on.

    Where fio gave no histograms the rate decides.

    Raises:
        CommandError: the host could not be asked.
    """
    found = _known(decision, asked, rule, report, counting)
    if found is None:
        return decision
    decision = replace(
        decision, half_share=found.half / found.value if found.half is not None and found.value else None
    )
    if decision.half_share is not None and decision.half_share <= rule.until:
        return decision
    is_last = decision.used_s >= rule.most_s * (1 - 1e-9)
    next_s = None if is_last else min(rule.most_s, decision.used_s * STEP)
    return replace(decision, done=is_last, converged=False, reasons=(_reason(found, asked, rule),), next_s=next_s)


def _known(
    decision: StoppingDecision, asked: Percentile, rule: StoppingRule, report: FioReport, counting: Sequence[Status]
) -> PercentileEstimate | None:
    bounds = bounds_of(counting, decision.warmup_s)
    results = read_json_stream(report.documents(bounds)) if len(bounds) > 1 else ()
    if len(results) != len(bounds):
        return None
    stretches = between(bounds, results)[1 if decision.warmup_s else 0 :]  # the first would be the warm-up
    bins = [each.sync_bins if asked.of_syncs else each.bins for each in stretches]
    return estimate(bins, asked.percent, rule.confidence)


def bounds_of(counting: Sequence[Status], warmup_s: float) -> list[Status]:
    """The reports that bound equal stretches from the end of the warm-up to now; fewer where reports are few."""
    later = [status for status in counting if status.ran_s >= warmup_s]
    if len(later) < 2:
        return []
    usual_s = (later[-1].ran_s - later[0].ran_s) / (len(later) - 1)
    if later[-1].ran_s - later[-2].ran_s < usual_s / 2:  # fio's last word may follow the one before at once
        later.pop(-2)
    step = max(1, (len(later) - 1) // MOST_SECTIONS)
    return later[(len(later) - 1) % step :: step]


def _reason(found: PercentileEstimate, asked: Percentile, rule: StoppingRule) -> Reason:
    if found.half is None:
        sentence = f"too few samples lie beyond {asked.name} for an interval of it"
        return Reason("percentile", sentence, {"value": found.value})
    share = found.half / found.value if found.value else 0.0
    sentence = f"the rate is known, {asked.name} to ±{share:.1%}, and ±{rule.until:.1%} was asked for"
    return Reason("percentile", sentence, {"half": share, "until": rule.until})
