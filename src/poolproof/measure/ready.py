"""A layout that stands and is open, as its trials see it."""

from dataclasses import dataclass

from poolproof.campaign.calibration import calibrated_device
from poolproof.devices.model import Leaf
from poolproof.evidence.model import Target
from poolproof.layers.base import Node
from poolproof.layers.tree import TreePlan


@dataclass(frozen=True)
class ReadyLayout:
    """A built layout. `scratch` is a directory of the run on the host, for job files and fio's output.

    `found` is the user's own directory under a `dir` layout, whose files can be taken as they are; None elsewhere.
    `identity_check`: commands that succeed as long as each real disk is the one that was named.
    """

    name: str
    node: Node
    tree: TreePlan
    target: Target
    scratch: str
    found: str | None
    identity_check: tuple[tuple[str, ...], ...] = ()

    @property
    def top(self) -> str:
        """The directory, on the host, in which test files may be made; the device where the layout ends in one."""
        return self.tree.volume.path

    @property
    def is_block(self) -> bool:
        """Whether the layout ends in a block device, so that there are no test files."""
        return self.tree.volume.is_block

    @property
    def is_bare_disk(self) -> bool:
        """Whether it is a disk alone, measured as the limit of what stands on it."""
        return calibrated_device(self.name) is not None

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The disks at the bottom."""
        return self.tree.leaves
