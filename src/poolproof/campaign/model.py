"""Dataclasses for a campaign and its parts, validated as far as this is possible without a host."""

from dataclasses import dataclass, field
from typing import Literal

from poolproof.campaign.cell_key import HEALTHY
from poolproof.campaign.claims import Claim
from poolproof.campaign.expression import Expression
from poolproof.campaign.generator_option import DEFAULT_GENERATOR, GENERATOR_OPTION
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
    """An emulated disk. `model`: hdd-7200, sata-ssd, nvme or hdd-failing, which determines its service times."""

    model: str
    size_bytes: int


DeviceSource = Disk | LoopFile | Qcow2 | Emulated


@dataclass(frozen=True)
class Device:
    """A block device for use in layouts. `name`: its name in the campaign. `origin`: the location of its definition."""

    name: str
    source: DeviceSource
    origin: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Layout:
    """A layout, whose expression contains no braces.

    `varies`: the choices that distinguish it from other layouts of its matrix, as in (("recordsize", "16k"),).
    """

    name: str
    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class JobSpec:
    """A fio job section with its options in the order given."""

    name: str
    options: tuple[tuple[str, str], ...]


OptionValues = tuple[tuple[str, tuple[str, ...]], ...]
"""Options with their values as written. If an option has several values, they form a matrix."""


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload as written, before its matrix is expanded. `--save` writes workloads in this form.

    `options`: options for all job sections, which override the preset's options.
    `jobs`: the options of individual job sections.
    `spots`: pairs of an option (`bs` or `section.bs`) and its location. If the option is empty, the location is that of
    the workload itself.
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
    """A workload: its fio jobs, and the metric by which its results are compared.

    `family`: the workload's name without the choices made in its matrix.
    `cold`: True if trials start with cold caches, or None to use the setting in `measure`.
    `fill`: True if test files are written first. False if trials use existing files that must not change (`dir`
    layouts), or a block device that is not filled.
    `request`: the workload as written, from which all workloads of the family were expanded.
    `engines`: the I/O engine files permitted on the command line. A campaign file cannot permit any.
    """

    name: str
    family: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    varies: tuple[tuple[str, str], ...] = ()
    cold: bool | None = None
    fill: bool = True
    request: WorkloadRequest | None = field(default=None, compare=False, repr=False)
    engines: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    @property
    def generators(self) -> frozenset[str]:
        """Return the names of the load generators that the jobs select. A valid workload selects only one."""
        return frozenset(dict(spec.options).get(GENERATOR_OPTION, DEFAULT_GENERATOR) for spec in self.jobs)

    @property
    def generator_name(self) -> str:
        """Return the name of the workload's load generator, for use in messages."""
        return " and ".join(sorted(self.generators))


@dataclass(frozen=True)
class Until:
    """The parameters of `measure: {until: 3%}`, which repeats trials until the result is precise enough.

    `tolerance`: the maximum half width of the confidence interval, as a fraction of the mean.
    `confidence`: the confidence level of the interval.
    `min_s`, `max_s`: the minimum and maximum duration of a trial in seconds.
    `steady`: the steady-state criterion.
    """

    tolerance: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"


@dataclass(frozen=True)
class Measure:
    """How each cell is measured.

    `time_s`: the duration of each trial in seconds. It is ignored with `until`.
    `trials`, `most_trials`: the minimum and maximum number of trials per build. If the maximum is None, exactly
    `trials` are run.
    `cold`: True if trials start with cold caches, or "reads" if this applies only to workloads that read.
    `seed`: the random seed.
    `until`: the required precision, or None if trials have a fixed duration.
    `calibrate`: True if each disk is first measured individually.
    `builds`: the number of times that each layout is built.
    `is_default_time`: True if `time_s` is the default, because the campaign does not set `time`.
    """

    time_s: float = 10.0
    trials: int = 3
    cold: bool | Literal["reads"] = True
    seed: int | None = None
    most_trials: int | None = None
    until: Until | None = None
    calibrate: bool = False
    builds: int = 1
    is_default_time: bool = field(default=False, compare=False)

    def is_cold(self, workload: Workload, *, reads: bool) -> bool:
        """True if the workload's trials start with cold caches. `reads`: True if any of the workload's jobs reads."""
        if workload.cold is not None:
            return workload.cold
        return reads if self.cold == "reads" else self.cold

    @property
    def trials_max(self) -> int:
        """Return the maximum number of trials per cell and build."""
        return self.trials if self.most_trials is None else self.most_trials

    @property
    def shortest_s(self) -> float:
        """Return the minimum trial duration that the campaign requests, in seconds."""
        return self.time_s if self.until is None else self.until.min_s

    @property
    def longest_s(self) -> float:
        """Return the maximum trial duration that the campaign requests, in seconds."""
        return self.time_s if self.until is None else self.until.max_s


@dataclass(frozen=True)
class Quick:
    """A campaign's quick variant (`--quick`): how to measure, and the workloads with their changed options.

    If `workloads` is empty, all of the campaign's workloads are run unchanged.
    """

    measure: Measure
    workloads: tuple[tuple[str, OptionValues], ...] = ()


@dataclass(frozen=True)
class Campaign:
    """The layouts and workloads to measure. Each combination of a layout and a workload is a cell.

    `budget_s`: the time limit in seconds for building and filling layouts and for their trials, or None for no limit.
    Time for bare disks does not count.
    `budget_origin`: the location of the line or option that sets the budget, for error messages.
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
    def generator_names(self) -> str:
        """Return the names of the load generators of all workloads, for use in messages: `fio`, or `fio and toy`."""
        return " and ".join(sorted({name for workload in self.workloads for name in workload.generators}))

    @property
    def goal_workloads(self) -> tuple[Workload, ...]:
        """Return the workloads that determine the best layout: the goal's, or all if the campaign has no goal."""
        if self.goal is None:
            return self.workloads
        return tuple(each for each in self.workloads if self.goal in (each.family, each.name))
