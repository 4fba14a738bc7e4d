"""Data types for a run: cells, built layouts, prepared workloads, and a listener for the run's events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.campaign.calibration import calibrated_device
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.model import Measure, Workload
from poolproof.devices.model import IdentityCheck, Leaf
from poolproof.errors import PoolproofError
from poolproof.evidence.account import Idle
from poolproof.evidence.model import Expected, TestFile
from poolproof.evidence.target_facts import Target
from poolproof.hosts.base import Host
from poolproof.layers.base import Node
from poolproof.layers.tree import TreePlan
from poolproof.load.model import Load
from poolproof.measure.own_storage import OwnStorage
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial, TrialKey


@dataclass(frozen=True)
class LiveRates:
    """The rates of the load generator and of the leaf devices over the last second, in bytes per second.

    The load generator's rate is None as long as it is unknown.
    """

    elapsed_s: float
    fio_bytes_per_s: float | None
    leaf_bytes_per_s: float


class Listener:
    """Receives the events of a run.

    This class ignores all events. Subclasses override the methods that they need. All methods except `live` are called
    from the thread that runs the trials.
    """

    wants_live = False
    """True if this listener needs calls of `live`. Other processes that watch the run get the rates in any case."""

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        """Called when the run starts or is resumed.

        `trials_done`: the number of trials that were finished before the run was resumed.
        """

    def layout_begins(self, layout: str, trials_to_do: int, build: int = 1) -> None:
        """Called before a layout is built. `build`: the number of the build, starting at 1."""

    def trial_added(self, cell: CellKey) -> None:
        """Called when a cell gets one more trial than planned, because its result is not precise enough yet."""

    def activity_begins(self, title: str) -> None:
        """Called when a part of the work begins. `title` describes it to the user."""

    def trial_begins(self, key: TrialKey) -> None:
        """Called when a trial begins, before caches are dropped and the load generator is started."""

    def live(self, rates: LiveRates) -> None:
        """Called with the new rates once a second while the load generator is running, from another thread."""

    def trial_ends(self, trial: Trial) -> None:
        """Called when a trial has been saved, whether it was measured or failed."""

    def warning(self, message: str) -> None:
        """Called when something has gone wrong but the run continues."""


@dataclass(frozen=True)
class CellJobs:
    """A workload and its load, as the host's load generator reads it, before it is assigned to a path."""

    workload: Workload
    load: Load


@dataclass(frozen=True)
class BuiltLayout:
    """A layout that is built and ready for use.

    `scratch`: the run's directory on the host for the load generator's files.
    `found`: the first existing directory that the layout uses, or None. Files in it can be used as they are.
    `identity_checks`: one check for each real disk, loop device and nbd device.
    `own`: the storage that the run made, to check before each load that it is still there.
    `below`: the write amplification of the storage under existing directories, keyed by path, for `write_factor`.
    """

    name: str
    node: Node
    tree: TreePlan
    target: Target
    scratch: str
    found: str | None
    own: OwnStorage
    identity_checks: tuple[IdentityCheck, ...] = ()
    below: Mapping[str, Expected] = field(default_factory=dict)

    @property
    def top(self) -> str:
        """Return the path of the layout's top layer: a directory for test files, or a block device."""
        return self.tree.volume.path

    @property
    def is_block(self) -> bool:
        """True if the layout's top layer is a block device and therefore has no test files."""
        return self.tree.volume.is_block

    @property
    def is_bare_disk(self) -> bool:
        """True if the layout is a single disk, measured to find out the limit of the layouts that use it."""
        return calibrated_device(self.name) is not None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return self.tree.leaves


@dataclass(frozen=True)
class Fill:
    """How test files were filled.

    `job`: the job that wrote them.
    `seconds`: the time that this took.
    `stored_share`: the fraction of the files' bytes that the disks stored. None if it is unknown, or if the layout does
    not compress.
    """

    job: str
    seconds: float
    stored_share: float | None = None


@dataclass(frozen=True)
class PreparedWorkload:
    """A workload whose test files exist on the layout, with its load and its files.

    `stored_bytes`: the bytes that each leaf device stores, keyed by its name.
    `stored_share`: the fraction of the files' bytes that the disks store. None if it is unknown, or if the layout does
    not compress.
    `fill`: how the files were filled, or None if they were not. Workloads that share files have the same `fill`.
    """

    workload: Workload
    load: Load
    files: tuple[TestFile, ...]
    stored_bytes: Mapping[str, int]
    stored_share: float | None = None
    fill: Fill | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)


@dataclass
class TrialContext:
    """Everything that the trials of a build have in common.

    `build`: the number of the build, starting at 1.
    `idle`: the disks' background I/O while the load generator is not running.
    `checks`: functions that raise a BuildError if something that the layout needs has failed.
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
    """Return the cause of a failure: the error from the first of the checks that fails, or otherwise `error` itself."""
    for check in checks:
        try:
            check()
        except PoolproofError as found:
            return found
    return error
