"""A campaign as frozen values: what was asked, checked as far as it can be without a host."""

from dataclasses import dataclass, field
from typing import Literal

from poolproof.campaign.claims import Claim
from poolproof.campaign.expression import Expression
from poolproof.metrics import MetricId
from poolproof.stopping.model import Steady


@dataclass(frozen=True)
class Disk:
    """A real disk, named by what is written on it: a by-id name, a serial or a WWN."""

    identity: str


@dataclass(frozen=True)
class LoopFile:
    """A sparse file behind a loop device with direct I/O."""

    size_bytes: int


@dataclass(frozen=True)
class Qcow2:
    """A qcow2 image served as a block device."""

    size_bytes: int


@dataclass(frozen=True)
class Emulated:
    """A disk with the service times of `model`: hdd-7200, sata-ssd, nvme or hdd-failing."""

    model: str
    size_bytes: int


DeviceSource = Disk | LoopFile | Qcow2 | Emulated


@dataclass(frozen=True)
class Device:
    """A block device that layouts may use, by the name that the campaign gave it; `origin` is where it stands."""

    name: str
    source: DeviceSource
    origin: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Layout:
    """A layout expression without braces. `varies` holds what its matrix chose: (("recordsize", "16k"),)."""

    name: str
    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class JobSpec:
    """One fio job section: option name and value, in the order given; fio's own words."""

    name: str
    options: tuple[tuple[str, str], ...]


OptionValues = tuple[tuple[str, tuple[str, ...]], ...]
"""Option names with their values as written: two values or more make a matrix."""


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload as it was written, before its matrix is multiplied: what `--save` writes down again.

    `options` go to every job section, over those of the preset; `jobs` names sections and what each has of its own.
    `spots` says where each option stands (`bs`, `section.bs`), and under the empty name where the workload does.
    """

    preset: str | None = None
    options: OptionValues = ()
    jobs: tuple[tuple[str, OptionValues], ...] = ()
    metric: MetricId | None = None
    cold: bool | None = None
    fill: bool = True
    spots: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Workload:
    """What fio is asked to do. `family` is its name without the matrix; `cold` None means: as `measure` says.

    `fill` False: the test files are taken as they are found (`dir` layouts), and never written beforehand. `request` is
    what the whole family was made from.
    """

    name: str
    family: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    varies: tuple[tuple[str, str], ...] = ()
    cold: bool | None = None
    fill: bool = True
    request: WorkloadRequest | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Until:
    """Measure until the figure is known, not for a time: what `measure: {until: 3%}` asks for.

    `tolerance` is the half width of the interval as a share of the mean, `confidence` how often the interval holds the
    truth. A trial lasts from `min_s` to `max_s` seconds. `steady` names the criterion of a steady state.
    """

    tolerance: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"


@dataclass(frozen=True)
class Measure:
    """How each cell is measured: seconds per trial, number of trials, cold caches, the seed of the order.

    With `until`, trials end when the figure is known, and `time_s` counts for nothing; `most_trials` is how many a cell
    may have where `trials` do not agree well enough. None: `trials` and no more. `calibrate`: before the layouts, each
    disk alone is measured (`campaign/calibration.py`). `cold` "reads": caches are cold before what reads, and what only
    writes begins at rest.
    """

    time_s: float = 10.0
    trials: int = 3
    cold: bool | Literal["reads"] = True
    seed: int | None = None
    most_trials: int | None = None
    until: Until | None = None
    calibrate: bool = False

    def is_cold(self, workload: Workload, *, reads: bool) -> bool:
        """Whether trials of the workload, of which some job reads or none does, begin with cold caches."""
        if workload.cold is not None:
            return workload.cold
        return reads if self.cold == "reads" else self.cold

    @property
    def trials_max(self) -> int:
        """The most trials that a cell has."""
        return self.trials if self.most_trials is None else self.most_trials

    @property
    def shortest_s(self) -> float:
        """Return the shortest requested trial in seconds."""
        return self.time_s if self.until is None else self.until.min_s

    @property
    def longest_s(self) -> float:
        """Seconds of the longest trial that was asked for."""
        return self.time_s if self.until is None else self.until.max_s


@dataclass(frozen=True)
class Quick:
    """A campaign's small form, for `--quick`: its `measure`, and the workloads that are left with options that change.

    Without `workloads` all are left, as they are.
    """

    measure: Measure
    workloads: tuple[tuple[str, OptionValues], ...] = ()


@dataclass(frozen=True)
class Campaign:
    """What a user asks for. Every layout runs under every workload; each pair is a cell.

    `budget_s`: seconds that all trials together may take; None for as long as they need.
    """

    name: str
    question: str
    devices: tuple[Device, ...]
    layouts: tuple[Layout, ...]
    workloads: tuple[Workload, ...]
    measure: Measure
    baseline: str | None = None
    goal: str | None = None
    expect: tuple[Claim, ...] = ()
    quick: Quick | None = None
    budget_s: float | None = None

    @property
    def goal_workloads(self) -> tuple[Workload, ...]:
        """The workloads that decide which layout is best: those of the goal, or all without one."""
        if self.goal is None:
            return self.workloads
        return tuple(each for each in self.workloads if self.goal in (each.family, each.name))
