"""The objects that `poolproof audit --json` prints, documented in docs/audit.md."""

from typing import Any

from poolproof.foreign.audit.model import Audited, AuditedMetrics, Estimate
from poolproof.load.merge import percentile
from poolproof.load.outcome import Direction, Latency
from poolproof.results.runs.contract import finding_object


def audited_object(audited: Audited) -> dict[str, Any]:
    """Return the JSON object of one result. A value that the source does not contain is null."""
    return {
        "source": audited.source,
        "line": audited.line,
        "job": audited.job,
        "command": audited.command,
        "command_line": audited.command_line,
        "command_assumed": audited.is_assumed,
        "figures": figures_object(audited.figures),
        "verdict": audited.verdict,
        "verdict_then": audited.was,
        "findings": [finding_object(finding) for finding in audited.findings],
        "known": list(audited.known),
        "missing": list(audited.missing),
        "estimate": _estimate(audited.estimate),
        "rerun": audited.rerun,
    }


def figures_object(figures: AuditedMetrics) -> dict[str, Any]:
    """Return one object per direction. Units: bytes, bytes per second, I/Os per second, seconds, nanoseconds."""
    parts: dict[str, Any] = {name: _direction(part) for name, part in figures.directions.items()}
    if figures.sync is not None:
        parts["sync"] = _latency(figures.sync)
    return parts


def _direction(part: Direction) -> dict[str, Any]:
    return {
        "io_bytes": part.io_bytes,
        "ios": part.ios,
        "runtime_s": None if part.runtime_ms is None else part.runtime_ms / 1000,
        "bandwidth_bytes": part.bandwidth_bytes,
        "iops": part.iops,
        "latency_ns": _latency(part.clat or part.lat),
    }


def _latency(latency: Latency | None) -> dict[str, float | None] | None:
    if latency is None:
        return None
    return {
        "mean": latency.mean_ns,
        "p50": percentile(latency, 50.0),
        "p99": percentile(latency, 99.0),
        "p999": percentile(latency, 99.9),
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {
        "low_bytes_per_s": estimate.low_bytes_per_s,
        "high_bytes_per_s": estimate.high_bytes_per_s,
        "why": estimate.why,
    }
