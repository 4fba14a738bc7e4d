"""The JSON objects printed by `compare --json` and `rank --json`, as documented in docs/json.md.

Their format does not change within a schema version.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from poolproof.campaign.cell_key import CellKey
from poolproof.results.compare.cell_comparison import ComparedCell, Comparison, Gate, Side
from poolproof.results.compare.earlier_runs import RunVariance
from poolproof.results.compare.measured import Measured
from poolproof.results.compare.ranking import Pair, Ranked, Ranking
from poolproof.results.runs.loading import LoadedRun
from poolproof.statistics.comparison import WORDS
from poolproof.statistics.intervals import CONFIDENCE

SCHEMA = 1


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    words = Counter(cell.decision.word for cell in comparison.cells)
    return {
        "schema": SCHEMA,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "effect": comparison.effect,
        "confidence": CONFIDENCE,
        "in_place": comparison.in_place,
        **run_variance_object(comparison.run_variance),
        "differences": [asdict(each) for each in comparison.run_differences],
        "words": {word: words[word] for word in WORDS},
        "cells": [_cell(cell) for cell in comparison.cells],
        "left_out": [{**_key(left.key), "why": left.why} for left in comparison.left_out],
        "only_in_a": [_key(key) for key in comparison.only_a],
        "only_in_b": [_key(key) for key in comparison.only_b],
        "gate": None if comparison.gate is None else _gate(comparison.gate),
    }


def ranking_object(ranking: Ranking) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "run": str(ranking.run.path),
        "goal": [
            {"workload": name, "weight": weight, "metric": ranking.metrics[name]}
            for name, weight in ranking.goal.weights.items()
        ],
        "effect": ranking.effect,
        "confidence": CONFIDENCE,
        "best": [each.entry.layout for each in ranking.best],
        "in_place": list(ranking.in_place),
        **run_variance_object(ranking.run_variance),
        "changes": dict(ranking.run.record.changes),
        "layouts": [_ranked(each) for each in ranking.ranked],
        "pairs": [_pair(pair) for pair in ranking.pairs],
        "left_out": [{"layout": each.layout, "why": each.why} for each in ranking.excluded],
    }


def rankings_object(run: LoadedRun, rankings: Mapping[str, Ranking | str]) -> dict[str, Any]:
    """Return the rankings of a campaign without a goal, one per workload, as a JSON object."""
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "workloads": [
            {"workload": name, "why": each, "ranking": None}
            if isinstance(each, str)
            else {"workload": name, "why": "", "ranking": ranking_object(each)}
            for name, each in rankings.items()
        ],
    }


def run_variance_object(variance: RunVariance) -> dict[str, Any]:
    """Return the JSON keys that say which intervals include the between-run variance."""
    return {"earlier_runs": variance.runs, "unknown_between_runs": sorted(variance.unknown)}


def _side(side: Side) -> dict[str, Any]:
    return {"run": str(side.run.path), "layout": side.layout, "changes": dict(side.run.record.changes)}


def _key(key: CellKey) -> dict[str, Any]:
    return {**key._asdict(), "layout": key.layout or None}


def _cell(cell: ComparedCell) -> dict[str, Any]:
    return {
        **_key(cell.key),
        "metric": cell.a.metric,
        "a": _measured(cell.a),
        "b": _measured(cell.b),
        "speed": asdict(cell.difference.interval),
        "repeat": asdict(cell.difference.repeated),
        **asdict(cell.decision),
    }


def _measured(each: Measured) -> dict[str, Any]:
    return {
        "figure": asdict(each.figure),
        "trials": each.trials,
        "left_out": len(each.cell.left_out),
        "emulated": list(each.cell.emulated),
        "settled": None if each.cell.settling is None else each.cell.settling.converged,
        "unsteady": list(each.unsteady),
        "changing": list(each.changing),
        "too_few": each.few.sentence if each.few else None,
        "remarks": list(each.remarks),
        "verdict": each.verdict,
    }


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "fail_if_slower": gate.limit,
        "passed": gate.passed,
        "slower": [_key(cell.key) for cell in gate.slower],
        "lost": [_key(left.key) for left in gate.lost],
        "open": [_key(cell.key) for cell in gate.open],
    }


def _ranked(each: Ranked) -> dict[str, Any]:
    return {
        "layout": each.entry.layout,
        "place": {"first": each.first, "last": each.last},
        "verdict": each.entry.verdict,
        "figures": [{"workload": name, **_measured(cell)} for name, cell in each.entry.cells.items()],
        "speed_to_leader": None if each.to_leader is None else asdict(each.to_leader.interval),
        **asdict(each.safety),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "better": pair.better,
        "worse": pair.worse,
        "speed": asdict(pair.difference.interval),
        "tie": pair.is_tie,
        **asdict(pair.decision),
    }
