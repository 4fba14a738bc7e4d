"""The JSON object for a run, as printed by `--json` and documented in docs/json.md.

Its format does not change within a schema version.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import LOWER_IS_BETTER, METRICS, MetricId
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.claim_results import ClaimResult
from poolproof.results.runs.elimination import Elimination
from poolproof.results.runs.limit import Limit
from poolproof.results.runs.summary import Cell, Widening, unchanged
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval

SCHEMA = 1


def run_object(
    path: Path,
    cells: tuple[Cell, ...],
    baseline: str | None,
    claims: tuple[ClaimResult, ...] = (),
    race: Elimination | None = None,
    *,
    bare: Sequence[Cell] = (),
    limits: Mapping[CellKey, Limit | str] = MappingProxyType({}),
    widened: Widening = unchanged,
    earlier_runs: int = 0,
    unknown_between_runs: Sequence[str] = (),
    changes: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a run as a JSON object.

    `bare`: the cells measured by `calibrate`.
    `limits`: the limits returned by `limits_of`.
    `widened`: a function that adds the between-run variance to a mean.
    `earlier_runs`: the number of earlier runs from which that variance was estimated.
    `unknown_between_runs`: the kinds of metrics, `rates` or `percentiles`, for which it is unknown.
    """
    speeds = speeds_to_baseline(cells, baseline, widened)
    parts = dict.fromkeys(part for cell in cells for part in cell.seconds)
    return {
        "schema": SCHEMA,
        "run": str(path),
        "verdicts": dict(Counter(cell.verdict for cell in cells)),
        "baseline": baseline,
        "earlier_runs": earlier_runs,
        "unknown_between_runs": list(unknown_between_runs),
        "changes": dict(changes),
        "cells": [_cell_object(cell, speeds.get(cell.key), limits.get(cell.key)) for cell in cells],
        "bare": [_bare_object(cell) for cell in bare],
        "seconds": {part: sum(cell.seconds.get(part, 0.0) for cell in cells) for part in parts},
        "fixed_s": sum(cell.settling.fixed_s for cell in cells if cell.settling) or None,
        "claims": [_claim_object(found) for found in claims],
        "race": None if race is None else _race_object(race),
    }


def _race_object(race: Elimination) -> dict[str, Any]:
    return {
        "goal": list(race.goal),
        "leader": race.leader,
        "leader_verdict": race.leader_verdict,
        "dropped": [
            {
                "layout": each.layout,
                "leader": each.leader,
                "trials": each.trials,
                "leader_speed": {"mean": each.times, "low": each.least},
            }
            for each in race.dropped
        ],
        "left": list(race.left),
        "unsteady": list(race.unsteady),
        "excluded": list(race.excluded),
        "risk": race.risk,
        "pairs": race.pairs,
        "looks": race.checkpoints,
        "test_risk": race.test_risk,
    }


def _claim_object(found: ClaimResult) -> dict[str, Any]:
    return {
        "claim": found.claim.claim,
        "source": found.claim.source,
        "expected": found.claim.text,
        "measured": _interval_object(found.measured),
        "why": found.why,
        "result": found.result,
    }


def _findings(cell: Cell) -> tuple[Finding, ...]:
    """Return each rule's most serious finding, and those that explain the verdict on another metric, too.

    For example, IOPS and syncs may be unproven for different reasons, although one rule reports both. The most serious
    finding comes first.
    """
    kept = list(cell.findings)
    for finding in sorted((each for trial in cell.trials for each in trial.findings), key=lambda each: each.rank):
        same = [each for each in kept if each.rule == finding.rule]
        metrics = finding.metrics or tuple(metric.id for metric in METRICS)
        if finding.effect != "notes" and not all(any(each.is_about(metric) for each in same) for metric in metrics):
            kept.append(finding)
    return tuple(sorted(kept, key=lambda each: each.rank))


def _bare_object(cell: Cell) -> dict[str, Any]:
    return {
        "device": calibrated_device(cell.layout),
        "emulated": list(cell.emulated),
        "workload": cell.workload,
        "trials": len(cell.trials),
        "left_out": len(cell.left_out),
        "metric": cell.metric,
        "figure": _interval_object(cell.figure),
        "too_few": few.sentence if (few := cell.few_events()) else None,
        "verdict": cell.verdict,
        "findings": [finding_object(finding) for finding in _findings(cell)],
    }


def _limit_object(limit: Limit | str | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    if isinstance(limit, str):
        return {"most": None, "share": None, "bound": None, "leaves": [], "over": "", "settled": None, "why": limit}
    values = asdict(limit)
    settled = values.pop("converged")
    return {**values, "leaves": list(values["leaves"]), "settled": settled, "why": ""}


def _cell_object(cell: Cell, speed: Interval | None, limit: Limit | str | None) -> dict[str, Any]:
    settling = cell.settling
    return {
        "layout": cell.layout,
        "workload": cell.workload,
        "state": cell.state,
        "emulated": list(cell.emulated),
        "trials": len(cell.trials),
        "left_out": len(cell.left_out),
        "builds": cell.builds,
        "metric": cell.metric,
        "figure": _interval_object(cell.figure),
        "too_few": few.sentence if (few := cell.few_events()) else None,
        "too_few_events": {metric: few.sentence for metric, few in cell.too_few.items()},
        "remarks": list(cell.remarks()),
        "settled": None if settling is None else settling.converged,
        "unsettled": [] if settling is None else [asdict(each) for each in settling.reasons],
        "warmup_s": cell.warmup_s,
        "seconds": cell.seconds,
        "disagree": None if settling is None else cell.disagrees,
        "groups": [{"mean": group.mean, "trials": group.count} for group in cell.groups()],
        "factor_to_baseline": _interval_object(_of_values(speed, cell)),
        "speed_to_baseline": _interval_object(speed),
        "limit": _limit_object(limit),
        "rates": {metric.id: _mean(cell, metric.id) for metric in METRICS if metric.is_rate},
        "iops": _interval_object(cell.result("iops").interval),
        "bandwidth_bytes": _interval_object(cell.result("bandwidth").interval),
        "latency_ns": _percentiles(cell, "ios"),
        "read_latency_ns": _percentiles(cell, "read"),
        "write_latency_ns": _percentiles(cell, "write"),
        "sync_latency_ns": _percentiles(cell, "syncs"),
        "account": asdict(cell.account) if cell.account else None,
        "leaves": [asdict(leaf) for leaf in cell.leaves],
        "verdict": cell.verdict,
        "verdicts": {metric: other.verdict for other in cell.other_verdicts for metric in other.metrics},
        "findings": [finding_object(finding) for finding in _findings(cell)],
    }


def _of_values(speed: Interval | None, cell: Cell) -> Interval | None:
    """Convert a ratio of speeds to a ratio of values. For latencies, this is the inverse. None stays None."""
    if speed is None or cell.metric not in LOWER_IS_BETTER:
        return speed
    low, high = (None if bound is None else 1 / bound for bound in (speed.high, speed.low))
    return Interval(1 / speed.mean, low, high)


def _percentiles(cell: Cell, of: str) -> dict[str, float | None]:
    own = [metric for metric in METRICS if metric.of == of and not metric.is_rate]
    return {metric.id.rpartition("_")[2]: _mean(cell, metric.id) for metric in own}


def _mean(cell: Cell, metric: MetricId) -> float | None:
    """Return the mean that all outputs show, or None if there are no values.

    If there are several builds, it is the mean of the builds' means.
    """
    interval = cell.interval(metric)
    return None if interval is None else interval.mean


def _interval_object(interval: Interval | None) -> dict[str, float | None] | None:
    return None if interval is None else asdict(interval)


def finding_object(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "effect": finding.effect,
        "message": finding.message,
        "fix": finding.fix,
        "metrics": list(finding.metrics),
    }
