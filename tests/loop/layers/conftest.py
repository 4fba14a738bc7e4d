"""Build layouts on real loop devices, and check that nothing is left afterwards."""

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.campaign.expression import parse_expression
from poolproof.devices.model import Leaf, Site, Volume
from poolproof.hosts.local import LocalHost
from poolproof.layers import tree
from poolproof.layers.resolve import resolve
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import Owned

_LIMIT_S = 180.0
_OPEN_S = 20.0
_MIB = 1024**2


class Bench:
    """Loop devices, keyed by name, and the layouts built on them."""

    def __init__(self, folder: Path) -> None:
        self.host = LocalHost()
        self.volumes: dict[str, Volume] = {}
        self.site = _site(folder)
        self.folder = folder
        self._journal = Journal(folder / "journal.jsonl")

    def device(self, name: str, size_mib: int) -> Volume:
        """Create a loop device with direct I/O on a sparse file."""
        image = self.folder / f"{name}.img"
        with image.open("wb") as file:
            file.truncate(size_mib * _MIB)
        argv = ("losetup", "--find", "--show", "--direct-io=on", str(image))
        path = self.host.run(argv, timeout_s=_LIMIT_S).stdout.strip()
        leaf = Leaf(name, path, f"/sys/class/block/{Path(path).name}/stat")
        self.volumes[name] = Volume(path, True, (leaf,), size_mib * _MIB)
        return self.volumes[name]

    def directory(self, path: Path) -> Volume:
        """Describe an existing directory in the way that the planner does.

        Its leaf device is the disk with the test's folder.
        """
        self.volumes[str(path)] = Volume(str(path), False, (Leaf("disk", "/dev/null", "/dev/null"),), 10 * 1024 * _MIB)
        return self.volumes[str(path)]

    def plan(self, text: str) -> tree.TreePlan:
        node = resolve(parse_expression(text), [name for name in self.volumes if "/" not in name])
        return tree.plan_tree(node, self.volumes, self.site, "bench")

    def build(self, text: str) -> tree.TreePlan:
        plan = self.plan(text)
        self.apply(plan.make)
        return plan

    def apply(self, steps: tuple[Step, ...]) -> None:
        ours = frozenset(volume.path for volume in self.volumes.values() if volume.is_block)
        apply(steps, self.host, self._journal, may_overwrite=ours)

    def cool(self, plan: tree.TreePlan) -> None:
        self.apply(plan.close)
        self.apply(plan.open)

    def write(self, plan: tree.TreePlan, name: str, size_mib: int) -> Path:
        """Write a file of random bytes to the layout, without syncing it."""
        path = Path(plan.volume.path) / name
        path.write_bytes(os.urandom(_MIB) * size_mib)
        return path

    def resident_bytes(self, path: Path) -> int:
        argv = ("fincore", "--bytes", "--noheadings", "--output", "RES", str(path))
        return int(self.host.run(argv, timeout_s=_LIMIT_S).stdout)

    def tear_down(self) -> tuple[str, ...]:
        """Undo everything, and return the changes that could not be undone, with the reasons."""
        owned = Owned(self.site.label, (str(self.folder),))
        return tuple(f"{left.change.title}: {left.reason}" for left in undo_all(self._journal, self.host, owned))

    def release(self) -> None:
        """Detach the loop devices.

        The kernel detaches a device only when nobody has it open, and a program of another test may just be examining
        every device of the machine.
        """
        for volume in self.volumes.values():
            if volume.is_block:
                self.host.run(("losetup", "--detach", volume.path), timeout_s=_LIMIT_S)
        until = time.monotonic() + _OPEN_S
        while self.attached() and time.monotonic() < until:
            time.sleep(0.1)

    def attached(self) -> bool:
        return str(self.folder) in self.host.run(("losetup", "--list", "--noheadings"), timeout_s=_LIMIT_S).stdout

    def mounts(self) -> list[str]:
        return [line for line in self.host.read("/proc/self/mounts").splitlines() if str(self.folder) in line]


def _site(folder: Path) -> Site:
    for name in ("state", "ram", "mounts"):
        (folder / name).mkdir()
    return Site(
        label=uuid.uuid4().hex[:8],
        state_dir=str(folder / "state"),
        ram_dir=str(folder / "ram"),
        mount_dir=str(folder / "mounts"),
        is_root=True,
        programs=frozenset({"mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs", "mergerfs"}),
        file_systems=frozenset({"ext4", "xfs", "btrfs", "fuse"}),
        ram_bytes=0,
        ram_free_bytes=0,
    )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    if os.geteuid() != 0:
        pytest.fail("loop devices need root: sudo make test")
    folder = tmp_path / "poolproof"
    folder.mkdir()
    made = Bench(folder)
    try:
        yield made
    finally:
        left = made.tear_down()
        made.release()
    assert left == ()
    assert made.mounts() == []
    assert list((folder / "mounts").iterdir()) == []
    assert not made.attached()
