"""The objects that `compare --json` and `rank --json` print: documented in docs/json.md, stable within a schema."""

from collections import Counter
from typing import Any

from poolproof.results.compare.comparison import CellKey, ComparedCell, Comparison, Gate, Side, SkippedCell
from poolproof.results.compare.finished import Measured
from poolproof.results.compare.ranking import Pair, Ranked, Ranking
from poolproof.results.runs.contract import interval_object
from poolproof.statistics.comparison import WORDS, ComparisonDecision
from poolproof.statistics.intervals import CONFIDENCE

SCHEMA = 1


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as a JSON object."""
    words = Counter(cell.decision.word for cell in comparison.cells)
    return {
        "schema": SCHEMA,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "effect": comparison.effect,
        "confidence": CONFIDENCE,
        "differences": [{"what": each.what, "a": each.a, "b": each.b} for each in comparison.run_differences],
        "words": {word: words[word] for word in WORDS},
        "cells": [_cell(cell) for cell in comparison.cells],
        "left_out": [_left_out(left) for left in comparison.left_out],
        "only_in_a": [_place(place) for place in comparison.only_a],
        "only_in_b": [_place(place) for place in comparison.only_b],
        "gate": None if comparison.gate is None else _gate(comparison.gate),
    }


def ranking_object(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as a JSON object."""
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
        "layouts": [_ranked(each) for each in ranking.ranked],
        "pairs": [_pair(pair) for pair in ranking.pairs],
        "left_out": [{"layout": each.layout, "why": each.why} for each in ranking.excluded],
    }


def _side(side: Side) -> dict[str, Any]:
    return {"run": str(side.run.path), "layout": side.layout}


def _place(place: CellKey) -> dict[str, Any]:
    return {"layout": place.layout, "workload": place.workload}


def _cell(cell: ComparedCell) -> dict[str, Any]:
    return {
        **_place(cell.place),
        "metric": cell.a.metric,
        "a": _measured(cell.a),
        "b": _measured(cell.b),
        "speed": interval_object(cell.difference.interval),
        **_decision(cell.decision),
    }


def _measured(each: Measured) -> dict[str, Any]:
    return {
        "figure": interval_object(each.figure),
        "trials": each.trials,
        "settled": None if each.cell.settling is None else each.cell.settling.converged,
        "unsteady": list(each.unsteady),
        "changing": list(each.changing),
        "verdict": each.cell.verdict,
    }


def _decision(decision: ComparisonDecision) -> dict[str, Any]:
    return {"word": decision.word, "p": decision.p, "p_holm": decision.p_holm}


def _left_out(left: SkippedCell) -> dict[str, Any]:
    return {**_place(left.place), "why": left.why}


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "fail_if_slower": gate.limit,
        "passed": gate.passed,
        "slower": [_place(cell.place) for cell in gate.slower],
        "lost": [_place(left.place) for left in gate.lost],
        "open": [_place(cell.place) for cell in gate.open],
    }


def _ranked(each: Ranked) -> dict[str, Any]:
    return {
        "layout": each.entry.layout,
        "place": {"first": each.first, "last": each.last},
        "verdict": each.entry.verdict,
        "figures": [{"workload": name, **_measured(cell)} for name, cell in each.entry.cells.items()],
        "speed_to_leader": None if each.to_leader is None else interval_object(each.to_leader.interval),
        "redundancy": each.safety.redundancy,
        "devices": each.safety.devices,
        "capacity_bytes": each.safety.capacity_bytes,
        "write_factor": each.safety.write_factor,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "better": pair.better,
        "worse": pair.worse,
        "speed": interval_object(pair.difference.interval),
        "tie": pair.is_tie,
        **_decision(pair.decision),
    }
