"""The audit of one result."""

from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.load.outcome import Direction, Latency
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Estimate:
    """The bounds of the honest rate in bytes per second, both inclusive, and the arithmetic behind them."""

    low_bytes_per_s: float
    high_bytes_per_s: float
    why: str


@dataclass(frozen=True)
class AuditedMetrics:
    """What fio reported, summed over its jobs, by active direction (`read`, `write`, `trim`, `mixed`).

    A value that the source does not contain is None. `sync`: the latency of fsync and fdatasync calls.
    """

    directions: Mapping[str, Direction]
    sync: Latency | None = None


@dataclass(frozen=True)
class Audited:
    """One result with its verdict and the reasons for it.

    `source`, `line`, `last_line`: where the result is; lines count from 1.
    `job`: the names of its jobs.
    `command`: the command or job file that produced it, if the source contains one; it is on line `command_line`.
    `is_assumed`: it is not certain that the command made the result, but nothing contradicts it.
    `findings`: the strongest first.
    `known`: facts from the surrounding text or the flags that were used, each with its source.
    `missing`: what could not be judged, and which flag would help.
    `rerun`: the command with the fixes applied.
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
    command_line: int | None = None
    is_assumed: bool = False
    was: Verdict | None = None

    @property
    def has_changed(self) -> bool:
        """True if the run directory recorded a different verdict."""
        return self.was is not None and self.was != self.verdict
