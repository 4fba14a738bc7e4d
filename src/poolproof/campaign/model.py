"""A campaign as frozen values, checked as far as possible without a host."""

from dataclasses import dataclass, field
from typing import Literal

from poolproof.campaign.claims import Claim
from poolproof.campaign.expression import Expression
from poolproof.metrics import MetricId
from poolproof.stopping.model import Steady


@dataclass(frozen=True)
class Disk:
    """A real disk, identified by its by-id name, serial number or WWN."""

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
    """An emulated disk with the service times of `model`: hdd-7200, sata-ssd, nvme or hdd-failing."""

    model: str
    size_bytes: int


DeviceSource = Disk | LoopFile | Qcow2 | Emulated


@dataclass(frozen=True)
class Device:
    """A block device that layouts may use. `name` is its name in the campaign, and `origin` is where it is defined."""

    name: str
    source: DeviceSource
    origin: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Layout:
    """A layout expression without braces. `varies`: the values chosen from a matrix, as (("recordsize", "16k"),)."""

    name: str
    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class JobSpec:
    """One fio job section: fio's option names with their values, in the order given."""

    name: str
    options: tuple[tuple[str, str], ...]


OptionValues = tuple[tuple[str, tuple[str, ...]], ...]
"""Option names with their values as written; several values make a matrix."""


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload as written, before its matrix is expanded. `--save` writes it in this form.

    `options` apply to every job section and override the preset's; `jobs` contains the options of individual sections.
    `spots` maps each option (`bs`, `section.bs`) to where it is written; the empty name is the workload itself.
    """

    preset: str | None = None
    options: OptionValues = ()
    jobs: tuple[tuple[str, OptionValues], ...] = ()
    metric: MetricId | None = None
    cold: bool | None = None
    fill: bool = True
    spots: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)


DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
"""The workload option that selects the load generator."""


@dataclass(frozen=True)
class Workload:
    """The fio jobs of a workload, and how its results are compared.

    `family`: the name without the matrix.
    `cold`: None means as in `measure`.
    `fill`: if False, existing test files are used and not changed (`dir` layouts).
    `request`: what the user wrote, from which the whole family was expanded.
    """

    name: str
    family: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    varies: tuple[tuple[str, str], ...] = ()
    cold: bool | None = None
    fill: bool = True
    request: WorkloadRequest | None = field(default=None, compare=False, repr=False)

    @property
    def generators(self) -> frozenset[str]:
        """Return the names of the load generators that its jobs select; there should be one."""
        return frozenset(dict(spec.options).get(GENERATOR_OPTION, DEFAULT_GENERATOR) for spec in self.jobs)


@dataclass(frozen=True)
class Until:
    """The parameters of `measure: {until: 3%}`: trials run until the result is precise, not for a fixed time.

    `tolerance` is the half-width of the interval as a fraction of the mean, and `confidence` is the interval's
    confidence. A trial lasts from `min_s` to `max_s` seconds. `steady` is the criterion for a steady rate.
    """

    tolerance: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"


@dataclass(frozen=True)
class Measure:
    """How each cell is measured: seconds per trial, number of trials, cold caches, and the seed of the random order.

    With `until`, trials end when the result is precise, and `time_s` is ignored. A cell then gets up to `most_trials`
    trials (None: exactly `trials`). With `calibrate`, each disk is first measured alone. If `cold` is "reads", caches
    are dropped only before workloads that read.
    """

    time_s: float = 10.0
    trials: int = 3
    cold: bool | Literal["reads"] = True
    seed: int | None = None
    most_trials: int | None = None
    until: Until | None = None
    calibrate: bool = False

    def is_cold(self, workload: Workload, *, reads: bool) -> bool:
        """True if the workload's trials start with cold caches. `reads`: any of its jobs reads."""
        if workload.cold is not None:
            return workload.cold
        return reads if self.cold == "reads" else self.cold

    @property
    def trials_max(self) -> int:
        """Return the maximum number of trials per cell."""
        return self.trials if self.most_trials is None else self.most_trials

    @property
    def shortest_s(self) -> float:
        """Return the requested minimum length of a trial in seconds."""
        return self.time_s if self.until is None else self.until.min_s

    @property
    def longest_s(self) -> float:
        """Return the requested maximum length of a trial in seconds."""
        return self.time_s if self.until is None else self.until.max_s


@dataclass(frozen=True)
class Quick:
    """The quick variant of a campaign (`--quick`): its `measure`, and its workloads with the options that change.

    If `workloads` is empty, all workloads run unchanged.
    """

    measure: Measure
    workloads: tuple[tuple[str, OptionValues], ...] = ()


HEALTHY = "healthy"
"""The state of a layout without any failed part. It is the only state so far."""


@dataclass(frozen=True)
class Campaign:
    """The measurements that a user asks for. Every layout is measured under every workload; each pair is a cell.

    `budget_s` limits building, filling and all trials together, in seconds, except those of bare disks; None means no
    limit. `budget_origin` is the line or the option that sets it, for error messages.
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
    budget_origin: str = field(default="", compare=False)
    states: tuple[str, ...] = (HEALTHY,)

    @property
    def goal_workloads(self) -> tuple[Workload, ...]:
        """Return the workloads that decide which layout is best: those of the goal, or all without a goal."""
        if self.goal is None:
            return self.workloads
        return tuple(each for each in self.workloads if self.goal in (each.family, each.name))
