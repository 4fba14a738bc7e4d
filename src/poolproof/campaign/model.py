"""The dataclasses for a campaign and its parts. Their values are checked as far as possible without a host."""

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
    """An emulated disk. `model` selects its service times: hdd-7200, sata-ssd, nvme or hdd-failing."""

    model: str
    size_bytes: int


DeviceSource = Disk | LoopFile | Qcow2 | Emulated


@dataclass(frozen=True)
class Device:
    """A block device that layouts can use. `name` is its name in the campaign, and `origin` is where it is defined."""

    name: str
    source: DeviceSource
    origin: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Layout:
    """A layout expression without braces. `varies` lists the choices made in a matrix: (("recordsize", "16k"),)."""

    name: str
    expression: Expression
    varies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class JobSpec:
    """A fio job section with the names and values of its options, in the order given."""

    name: str
    options: tuple[tuple[str, str], ...]


OptionValues = tuple[tuple[str, tuple[str, ...]], ...]
"""Options, each with its values as written. Several values make a matrix."""


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload as written, before its matrix is expanded. `--save` writes workloads in this form.

    `options` apply to all job sections and override the preset's options. `jobs` contains the options of individual
    sections. `spots` maps each option (`bs`, `section.bs`) to the place where it is written. The key "" stands for the
    workload itself.
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
    """The fio jobs of a workload, and how the workload's results are compared.

    `family`: the workload's name without the choices made in its matrix.

    `cold`: True if trials start with cold caches, or None to do as `measure` says.

    `fill`: False if the trials use existing test files that must not change (`dir` layouts), or use a block device
    without filling it first.

    `request`: the workload as the user wrote it. All workloads of the family were expanded from this request.

    `engines`: the files with I/O engines that the command line allows. A campaign file cannot set this.
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
        """Return the names of the load generators that the jobs select. In a valid workload, there is only one."""
        return frozenset(dict(spec.options).get(GENERATOR_OPTION, DEFAULT_GENERATOR) for spec in self.jobs)

    @property
    def generator_name(self) -> str:
        """Return the name of the workload's load generator, for messages."""
        return " and ".join(sorted(self.generators))


@dataclass(frozen=True)
class Until:
    """The parameters of `measure: {until: 3%}`. Trials run until the result is precise, not for a fixed time.

    `tolerance` is half the width of the confidence interval, as a fraction of the mean. `confidence` is the confidence
    level of the interval. A trial lasts from `min_s` to `max_s` seconds. `steady` is the criterion for a steady rate.
    """

    tolerance: float = 0.03
    confidence: float = 0.95
    min_s: float = 3.0
    max_s: float = 180.0
    steady: Steady = "poolproof"


@dataclass(frozen=True)
class Measure:
    """How to measure each cell: seconds per trial, number of builds and trials, cold caches, and the random seed.

    With `until`, trials end when the result is precise, and `time_s` is ignored. A cell then gets from `trials` to
    `most_trials` trials, or exactly `trials` if `most_trials` is None. Each layout is built `builds` times, and these
    numbers of trials apply to each build. With `calibrate`, each disk is first measured alone. If `cold` is "reads",
    caches are dropped only before workloads that read. `is_default_time` is true if the campaign does not set `time`.
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
        """True if the workload's trials start with cold caches. `reads` is True if any of its jobs reads."""
        if workload.cold is not None:
            return workload.cold
        return reads if self.cold == "reads" else self.cold

    @property
    def trials_max(self) -> int:
        """Return the maximum number of trials of a cell in each build."""
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
    """The quick variant of a campaign (`--quick`): how to measure, and the workloads with their changed options.

    If `workloads` is empty, the quick variant runs all workloads unchanged.
    """

    measure: Measure
    workloads: tuple[tuple[str, OptionValues], ...] = ()


@dataclass(frozen=True)
class Campaign:
    """The layouts and workloads that the user wants measured. Each pair of a layout and a workload is a cell.

    `budget_s` limits the time for building and filling the layouts and running their trials, in seconds. Bare disks do
    not count. None means no limit. `budget_origin` is the line or option that sets the budget, for error messages.
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
        """Return the names of the workloads' load generators, for messages: `fio`, or `fio and toy`."""
        return " and ".join(sorted({name for workload in self.workloads for name in workload.generators}))

    @property
    def goal_workloads(self) -> tuple[Workload, ...]:
        """Return the workloads that decide which layout is best: the goal's workloads, or all if there is no goal."""
        if self.goal is None:
            return self.workloads
        return tuple(each for each in self.workloads if self.goal in (each.family, each.name))
