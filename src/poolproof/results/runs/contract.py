"""The object that `--json` prints. docs/json.md documents it; it is stable within a schema."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from poolproof.campaign.calibration import calibrated_device
from poolproof.results.runs.claims import ClaimResult
from poolproof.results.runs.elimination import Elimination
from poolproof.results.runs.limit import Limit, Place
from poolproof.results.runs.summary import Cell, factor_to
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.stopping.model import NotConverged

SCHEMA = 1


def run_object(
    path: Path,
    cells: tuple[Cell, ...],
    baseline: str | None,
    claims: tuple[ClaimResult, ...] = (),
    race: Elimination | None = None,
    *,
    bare: Sequence[Cell] = (),
    limits: Mapping[Place, Limit | str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return a run as a JSON object. `verdicts` counts cells. `bare` and `limits` come from `calibrate`."""
    bases = {cell.workload: cell for cell in cells if cell.layout == baseline}
    return {
        "schema": SCHEMA,
        "run": str(path),
        "verdicts": dict(Counter(cell.verdict for cell in cells)),
        "baseline": baseline,
        "cells": [_cell_object(cell, bases.get(cell.workload), limits) for cell in cells],
        "bare": [_bare_object(cell) for cell in bare],
        "seconds": _seconds(cells),
        "fixed_s": sum(cell.settling.fixed_s for cell in cells if cell.settling) or None,
        "claims": [_claim_object(held) for held in claims],
        "race": None if race is None else _race_object(race),
    }


def _race_object(race: Elimination) -> dict[str, Any]:
    return {
        "goal": list(race.goal),
        "leader": race.leader,
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


def _claim_object(held: ClaimResult) -> dict[str, Any]:
    return {
        "claim": held.claim.claim,
        "source": held.claim.source,
        "expected": held.claim.text,
        "measured": interval_object(held.measured),
        "why": held.why,
        "result": held.result,
    }


def _bare_object(cell: Cell) -> dict[str, Any]:
    return {
        "device": calibrated_device(cell.layout),
        "workload": cell.workload,
        "trials": len(cell.trials),
        "metric": cell.metric,
        "figure": interval_object(cell.figure),
        "verdict": cell.verdict,
        "findings": [finding_object(finding) for finding in cell.findings],
    }


def _limit_object(limit: Limit | str | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    if isinstance(limit, str):
        return {"most": None, "share": None, "bound": None, "leaves": [], "over": "", "settled": None, "why": limit}
    leaves = [{"device": leaf.device, "bare": leaf.bare, "load": leaf.load} for leaf in limit.leaves]
    return {
        "most": limit.most,
        "share": limit.share,
        "bound": limit.bound,
        "leaves": leaves,
        "over": limit.over,
        "settled": limit.converged,
        "why": "",
    }


def _cell_object(cell: Cell, base: Cell | None, limits: Mapping[Place, Limit | str]) -> dict[str, Any]:
    account = cell.account
    return {
        "layout": cell.layout,
        "workload": cell.workload,
        "state": cell.state,
        "trials": len(cell.trials),
        "metric": cell.metric,
        "figure": interval_object(cell.figure),
        "settled": None if cell.settling is None else cell.settling.converged,
        "unsettled": [] if cell.settling is None else [_reason_object(each) for each in cell.settling.reasons],
        "warmup_s": cell.warmup_s,
        "seconds": dict(cell.seconds),
        "disagree": None if cell.settling is None else cell.disagrees,
        "groups": [{"mean": group.mean, "trials": group.trials} for group in cell.groups()],
        "factor_to_baseline": interval_object(factor_to(cell, base)) if base else None,
        "limit": _limit_object(limits.get((cell.layout, cell.workload))),
        "iops": interval_object(cell.iops),
        "bandwidth_bytes": interval_object(cell.bandwidth),
        "latency_ns": dict(cell.latency_ns),
        "sync_latency_ns": dict(cell.sync_latency_ns),
        "account": {
            "fio_read_bytes": account.fio_read_bytes,
            "leaf_read_bytes": account.leaf_read_bytes,
            "fio_write_bytes": account.fio_write_bytes,
            "leaf_write_bytes": account.leaf_write_bytes,
            "write_factor": account.write_factor,
        }
        if account
        else None,
        "leaves": [
            {
                "device": leaf.device,
                "read_share": leaf.read_share,
                "write_share": leaf.write_share,
                "stored_share": leaf.stored_share,
                "utilisation": leaf.utilisation,
                "latency_s": leaf.latency_s,
            }
            for leaf in cell.leaves
        ],
        "verdict": cell.verdict,
        "findings": [finding_object(finding) for finding in cell.findings],
    }


def _seconds(cells: tuple[Cell, ...]) -> dict[str, float]:
    parts = dict.fromkeys(part for cell in cells for part in cell.seconds)
    return {part: sum(cell.seconds.get(part, 0.0) for cell in cells) for part in parts}


def _reason_object(reason: NotConverged) -> dict[str, str]:
    return {"name": reason.name, "sentence": reason.sentence}


def interval_object(interval: Interval | None) -> dict[str, float | None] | None:
    """Return mean, low and high; low and high are None if only one trial gave the result."""
    return None if interval is None else {"mean": interval.mean, "low": interval.low, "high": interval.high}


def finding_object(finding: Finding) -> dict[str, str]:
    """Return a finding as a JSON object."""
    return {"rule": finding.rule, "effect": finding.effect, "message": finding.message, "fix": finding.fix}
