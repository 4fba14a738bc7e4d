"""The values of a run while it measures: cells, built layouts, prepared workloads, and a listener for events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Measure, Workload
from poolproof.devices.model import IdentityCheck, Leaf
from poolproof.errors import PoolproofError
from poolproof.evidence.account import Idle
from poolproof.evidence.model import Expected, Target, TestFile
from poolproof.hosts.base import Host
from poolproof.layers.base import Node
from poolproof.layers.tree import TreePlan
from poolproof.load.model import Load
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial, TrialKey


@dataclass(frozen=True)
class LiveRates:
    """The rates of fio and of the leaf devices over the last second, in bytes per second.

    fio's rate is None if it is not known yet.
    """

    elapsed_s: float
    fio_bytes_per_s: float | None
    leaf_bytes_per_s: float


class Listener:
    """Receives a run's events.

    Subclasses override the methods that they need; this class ignores all events. The thread that measures calls every
    method except `live`.
    """

    wants_live = False
    """True if `live` should be called for this listener. Processes that watch the run get the rates in either case."""

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        """The run starts; `trials_done` trials were finished before it was resumed."""

    def layout_begins(self, layout: str, trials_to_do: int, build: int = 1) -> None:
        """A layout is about to be built for the `build`-th time."""

    def trial_added(self, cell: CellKey) -> None:
        """A cell is not precise yet and gets one more trial than was planned."""

    def step(self, title: str) -> None:
        """A new step starts; `title` describes it for the user."""

    def trial_begins(self, key: TrialKey) -> None:
        """Called when a trial begins. Its first step is to drop the caches; then fio runs."""

    def live(self, rates: LiveRates) -> None:
        """There are new rates. This is called once a second while fio runs, from another thread."""

    def trial_ends(self, trial: Trial) -> None:
        """The trial is finished, judged and saved."""

    def warning(self, message: str) -> None:
        """Something went wrong, but the run goes on."""


@dataclass(frozen=True)
class CellJobs:
    """A workload, and its load as this host's fio reads it. The load has no directory or device yet."""

    workload: Workload
    load: Load


@dataclass(frozen=True)
class BuiltLayout:
    """A layout that is built and open. `scratch`: the run's directory on the host for job files and fio's output.

    `found`: the first existing directory that the layout uses, or None. Its files can be used unchanged.
    `identity_checks` has one check for each real disk. `below`: the write amplification of the storage below existing
    directories, by path. `write_factor` uses it.
    """

    name: str
    node: Node
    tree: TreePlan
    target: Target
    scratch: str
    found: str | None
    identity_checks: tuple[IdentityCheck, ...] = ()
    below: Mapping[str, Expected] = field(default_factory=dict)

    @property
    def top(self) -> str:
        """Return the path of the layout's top: a directory for test files, or a block device."""
        return self.tree.volume.path

    @property
    def is_block(self) -> bool:
        """True if the layout's top is a block device, so there are no test files."""
        return self.tree.volume.is_block

    @property
    def is_bare_disk(self) -> bool:
        """True if the layout is a single disk, measured alone as a limit for the layouts that use it."""
        return calibrated_device(self.name) is not None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Return the leaf devices."""
        return self.tree.leaves


@dataclass(frozen=True)
class Fill:
    """How test files were filled: the job that wrote them, and how many seconds it took.

    `stored_share`: the share of the files' bytes that the disks stored, or None if the layout does not compress.
    """

    job: str
    seconds: float
    stored_share: float | None = None


@dataclass(frozen=True)
class PreparedWorkload:
    """A workload whose test files exist on the layout: its load, its files, and the I/O that is expected at the disks.

    Workloads that share files have the same `fill`. If nothing was filled, `fill` is None.
    """

    workload: Workload
    load: Load
    files: tuple[TestFile, ...]
    expected: Expected
    stored_bytes: Mapping[str, int]
    fill: Fill | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the test files."""
        return tuple(file.path for file in self.files)


@dataclass
class TrialContext:
    """What all trials of a build have in common.

    `build` counts from 1. `idle` is the disks' background I/O while fio is not running. Each of `checks` raises a
    BuildError if something that the layout needs has failed.
    """

    host: Host
    run: RunDirectory
    layout: BuiltLayout
    measure: Measure
    listener: Listener
    idle: Idle = field(default_factory=Idle)
    checks: Sequence[Callable[[], None]] = ()
    build: int = 1


def cause_of(error: PoolproofError, checks: Sequence[Callable[[], None]]) -> PoolproofError:
    """Return the cause of a failure: the error of the first check that fails or, if none fails, `error` itself."""
    for check in checks:
        try:
            check()
        except PoolproofError as found:
            return found
    return error
