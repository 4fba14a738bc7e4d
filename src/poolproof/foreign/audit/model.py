"""What an audit says of one result, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.load.outcome import Direction, Latency
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict


@dataclass(frozen=True)
class Estimate:
    """Bounds of the honest rate in bytes per second, both included, and the arithmetic behind them."""

    low_bytes_per_s: float
    high_bytes_per_s: float
    why: str


@dataclass(frozen=True)
class AuditedMetrics:
    """What fio reported, summed over its jobs; by direction (`read`, `write`, `trim`, `mixed`) where it did something.

    A figure that the source did not hold is None. `sync`: how long fsync and fdatasync calls took.
    """

    directions: Mapping[str, Direction]
    sync: Latency | None = None


@dataclass(frozen=True)
class Audited:
    """One result and what it is worth.

    `source` and `line` (from 1) are where it stands; `job` names its jobs, `command` is what made it, as far as that is
    there; `command_line` is the line it stands on, `is_assumed` says that it was taken from further above, with other
    things between, because nothing contradicts it. `findings` come with the strongest first. `known` are facts from
    beside the result that were used, each with its place; `missing` says what could not be judged, and how to tell it.
    `rerun` is the mended command. `was` is the verdict that a run directory holds of it, given when it was measured.
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
        """The run directory holds another verdict."""
        return self.was is not None and self.was != self.verdict
