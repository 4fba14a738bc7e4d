"""A disk without a by-id name was claimed, and another stands in its place when it is given back: it stays whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from poolproof.campaign.model import Device, Disk
from poolproof.devices.plan import DeviceFacts, plan_device
from poolproof.facts.block import BlockFacts
from poolproof.facts.machine import survey
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply
from poolproof.provision.journal import Journal
from poolproof.provision.place import site_of
from poolproof.provision.undo import undo_all
from poolproof.steps import Step, UndoCommand
from tests.loop.ground import Ground

HOST = LocalHost()
_SIZE = 64 << 20


@pytest.mark.parametrize(
    ("changes", "stays"),
    [({}, False), ({"size_bytes": 2 * _SIZE}, True), ({"number": "7:1000001"}, True)],
    ids=["the same disk", "another size", "another device number"],
)
def test_only_the_disk_that_was_claimed_is_wiped(ground: Ground, changes: dict[str, Any], stays: bool) -> None:
    with _stand_in(ground) as disk:
        journal = Journal(ground.path / "journal.jsonl")
        apply([_claim(ground, replace(disk, **changes))], HOST, journal, may_overwrite=frozenset())
        ground.command("mkfs.ext4", "-q", disk.path)
        left = undo_all(journal, HOST)
        assert ("ext4" in ground.command("wipefs", "--no-act", disk.path)) == stays
        assert [leftover.reason.endswith("so nothing of it is wiped") for leftover in left] == [True] * stays


def _claim(ground: Ground, disk: BlockFacts) -> Step:
    """The step of a run that claims the disk; its undo is not tried for long."""
    site = site_of(survey(HOST, ("wipefs", "tee")), "t", str(ground.path), str(ground.path), is_here=True)
    facts = DeviceFacts(loops=(0,), disks=(disk,), permitted=frozenset({"SN-0001"}))
    (claim,) = plan_device(Device("d", Disk("SN-0001")), site, facts).steps
    assert isinstance(claim.undo, UndoCommand)
    return replace(claim, undo=msgspec.structs.replace(claim.undo, timeout_s=0.2))


@contextmanager
def _stand_in(ground: Ground) -> Iterator[BlockFacts]:
    """A loop device as a disk with a serial number."""
    image = ground.path / "disk.img"
    ground.command("truncate", "-s", str(_SIZE), str(image))
    path = ground.command("losetup", "--find", "--show", str(image))
    try:
        number = ground.command("lsblk", "--nodeps", "--noheadings", "--output", "MAJ:MIN", path)
        yield BlockFacts(Path(path).name, path, _SIZE, "disk", number=number, serial="SN-0001", signatures=())
    finally:
        ground.command("losetup", "--detach", path)
