"""The audit of one result, and its representation in the JSON output of `poolproof audit --json` (docs/audit.md)."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from poolproof.load.fio.permitted import runs_code
from poolproof.load.merge import merge_outcome, percentile
from poolproof.load.outcome import Direction, Latency, Outcome
from poolproof.metrics import METRICS, MetricId, metric_of
from poolproof.results.runs.run_object import finding_object
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Estimate:
    """Inclusive bounds on the true rate in bytes per second. `why` explains how they were calculated."""

    low_bytes_per_s: float
    high_bytes_per_s: float
    why: str


@dataclass(frozen=True)
class AuditedMetrics:
    """The reported values, merged over all jobs. Values that the source does not contain are None.

    `directions`: the values keyed by direction (`read`, `write`, `trim` or `mixed`).
    `sync`: the latency of fsync and fdatasync calls.
    """

    directions: Mapping[str, Direction]
    sync: Latency | None = None

    def may_show(self, metric: MetricId) -> bool:
        """True if the metric is a rate, or if the source reports a latency for the I/Os or syncs that it measures."""
        of = metric_of(metric)
        if of.is_of_ios:
            return any(part.clat or part.lat for part in self.directions.values())
        return of.is_rate or self.sync is not None


@dataclass(frozen=True)
class Audited:
    """A result, its verdict and the reasons for the verdict.

    `source`, `line`, `last_line`: the location of the result. Lines are numbered from 1.
    `job`: the names of the jobs that produced the result.
    `command`: the command or job file that produced the result, if the source contains it.
    `command_line`: the line on which the command begins.
    `is_assumed`: True if the command probably, but not certainly, produced the result.
    `verdicts`: the verdicts of individual metrics, if they differ from `verdict`.
    `findings`: the findings, strongest first.
    `known`: the facts taken from the surrounding text and the user's options, each with its source.
    `missing`: the unknown facts, and the options that could supply them.
    `estimate`: bounds on the true rate.
    `rerun`: the fio command with all fixes that change its options.
    `overwrites`: the devices, and the directories of `opendir`, that `rerun` writes to or trims.
    `proof`: for an `unproven` result, a `poolproof run` command that would prove it.
    `was`: the verdict that the run directory recorded when the trial was measured.
    """

    source: str
    line: int
    last_line: int
    job: str
    command: str | None
    figures: AuditedMetrics
    verdict: Verdict
    findings: tuple[Finding, ...]
    known: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    estimate: Estimate | None = None
    rerun: str | None = None
    overwrites: tuple[str, ...] = ()
    proof: str | None = None
    command_line: int | None = None
    is_assumed: bool = False
    was: Verdict | None = None
    verdicts: Mapping[MetricId, Verdict] = field(default_factory=dict)

    @property
    def is_mixed(self) -> bool:
        """True if the result covers more than one of reads, writes and trims, either separately or combined."""
        return len(self.figures.directions) > 1 or "mixed" in self.figures.directions

    @property
    def rerun_runs_code(self) -> bool:
        """True if `rerun` would start another program, or load an engine from a file."""
        options = (word.removeprefix("--").partition("=") for word in shlex.split(self.rerun or ""))
        return any(runs_code(name, value) for name, _, value in options)

    @property
    def has_changed(self) -> bool:
        """True if the new verdict differs from the one recorded in the run directory."""
        return self.was is not None and self.was != self.verdict


def metrics_of(result: Outcome) -> AuditedMetrics:
    """Return the reported values for each direction (read, write, trim or mixed) and for syncs, merged over all jobs.

    A mixed direction without any rate or latency is left out if there are other directions.
    """
    if not result.parts:
        return AuditedMetrics({})
    together = merge_outcome(result)
    directions = dict(together.directions)
    mixed = directions.get("mixed")
    if mixed and len(directions) > 1 and (mixed.bandwidth_bytes, mixed.iops, mixed.clat, mixed.lat) == (None,) * 4:
        del directions["mixed"]  # only the samples of a direction that is not named here
    return AuditedMetrics(directions, together.sync)


def audited_object(audited: Audited) -> dict[str, Any]:
    """Return an audited result as a JSON object, with null for values that the source does not contain."""
    return {
        "source": audited.source,
        "line": audited.line,
        "job": audited.job,
        "command": audited.command,
        "command_line": audited.command_line,
        "command_assumed": audited.is_assumed,
        "figures": figures_object(audited.figures),
        "verdict": audited.verdict,
        "verdicts": dict(audited.verdicts),
        "verdict_then": audited.was,
        "findings": [finding_object(finding) for finding in audited.findings],
        "known": list(audited.known),
        "missing": list(audited.missing),
        "estimate": None if audited.estimate is None else asdict(audited.estimate),
        "rerun": audited.rerun,
        "overwrites": list(audited.overwrites),
        "proof": audited.proof,
    }


def figures_object(figures: AuditedMetrics) -> dict[str, Any]:
    """Return the reported values as a JSON object with one entry per direction and, if known, one for sync latency.

    The units are bytes, bytes per second, I/Os per second, seconds and nanoseconds.
    """
    parts: dict[str, Any] = {
        name: {
            "io_bytes": part.io_bytes,
            "ios": part.ios,
            "runtime_s": None if part.runtime_ms is None else part.runtime_ms / 1000,
            "bandwidth_bytes": part.bandwidth_bytes,
            "iops": part.iops,
            "latency_ns": _latency(part.clat or part.lat),
        }
        for name, part in figures.directions.items()
    }
    return parts if figures.sync is None else {**parts, "sync": _latency(figures.sync)}


def _latency(latency: Latency | None) -> dict[str, float | None] | None:
    if latency is None:
        return None
    known = {row.id: row.percent for row in METRICS if row.of == "ios" and row.percent is not None}
    percentiles = {name: percentile(latency, at) for name, at in known.items()}
    return {"mean": latency.mean_ns, **percentiles}
