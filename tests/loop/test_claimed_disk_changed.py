"""A real disk is claimed while it is the one that was named, and empty; written to as long as it is that one; wiped at
the end if it still is, and the machine was not started anew meanwhile. Else it stays whole, and that is said.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from poolproof.campaign.model import Device, Disk
from poolproof.devices.model import DevicePlan
from poolproof.devices.plan import DeviceFacts, plan_device
from poolproof.errors import BuildError, GuardError
from poolproof.facts.block import BlockFacts
from poolproof.facts.machine import survey
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply
from poolproof.provision.directories import site_of
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step, UndoCommand
from tests.loop.ground import Ground

HOST = LocalHost()
_SIZE = 64 << 20


def test_the_disk_that_was_claimed_is_written_to_and_wiped(ground: Ground) -> None:
    with _stand_in(ground) as disk:
        journal, claimed = _claimed(ground, disk)
        _make_ext4(journal, claimed)
        assert _bears_ext4(ground, disk)
        assert undo_all(journal, HOST) == ()
        assert not _bears_ext4(ground, disk)


@pytest.mark.parametrize("changes", [{"size_bytes": 2 * _SIZE}, {"number": "7:1000001"}], ids=["size", "device number"])
def test_another_disk_is_not_claimed(ground: Ground, changes: dict[str, Any]) -> None:
    with _stand_in(ground) as disk:
        with pytest.raises(BuildError, match="is not the disk that the campaign names"):
            _claimed(ground, replace(disk, **changes))
        assert not list(ground.path.glob("*.claimed"))


def test_a_disk_that_is_no_longer_empty_is_not_claimed(ground: Ground) -> None:
    with _stand_in(ground) as disk:
        ground.command("mkfs.ext4", "-q", disk.path)
        with pytest.raises(BuildError, match="no longer empty: it contains ext4"):
            _claimed(ground, disk)
        assert _bears_ext4(ground, disk)


def test_another_disk_in_its_place_is_neither_written_to_nor_wiped(ground: Ground) -> None:
    with _stand_in(ground) as disk:
        journal, claimed = _claimed(ground, disk)
        ground.command("truncate", "-s", str(2 * _SIZE), str(ground.path / "disk.img"))
        ground.command("losetup", "--set-capacity", disk.path)
        with pytest.raises(GuardError, match="is not the disk that the campaign names"):
            _make_ext4(journal, claimed)
        assert not _bears_ext4(ground, disk)
        ground.command("mkfs.ext4", "-q", disk.path)
        assert [left.reason.endswith("so nothing is written to it") for left in undo_all(journal, HOST)] == [True]
        assert _bears_ext4(ground, disk)


def test_what_stands_on_it_after_the_machine_was_started_anew_is_left_to_its_owner(ground: Ground) -> None:
    with _stand_in(ground) as disk:
        journal, claimed = _claimed(ground, disk)
        _make_ext4(journal, claimed)
        (note,) = ground.path.glob("*.claimed")
        note.write_text(f"{disk.serial}\nthe boot before\n")
        (left,) = undo_all(journal, HOST)
        assert left.reason.endswith(f"if the data can be deleted: wipefs --all {disk.path}")
        assert _bears_ext4(ground, disk)
        ground.command("wipefs", "--all", disk.path)
        assert undo_all(journal, HOST) == ()


def _claimed(ground: Ground, disk: BlockFacts) -> tuple[Journal, DevicePlan]:
    """The disk claimed as a run does it; the undo is not tried for long."""
    site = site_of(survey(HOST, ("wipefs",)), "t", str(ground.path), str(ground.path), is_here=True)
    facts = DeviceFacts(loops=(0,), disks=(disk,), permitted=frozenset({"SN-0001"}))
    plan = plan_device(Device("d", Disk("SN-0001")), site, facts)
    (claim,) = plan.steps
    assert isinstance(claim.undo, UndoCommand)
    journal = Journal(ground.path / "journal.jsonl")
    short = replace(claim, undo=msgspec.structs.replace(claim.undo, timeout_s=0.2))
    apply([short], HOST, journal, may_overwrite=frozenset())
    return journal, plan


def _make_ext4(journal: Journal, claimed: DevicePlan) -> None:
    path = claimed.volume.path
    step = Step("make ext4", ("mkfs.ext4", "-q", path), overwrites=(path,))
    apply([step], HOST, journal, may_overwrite=frozenset({path}), identity_check={path: claimed.identity_check})


def _bears_ext4(ground: Ground, disk: BlockFacts) -> bool:
    return "ext4" in ground.command("wipefs", "--no-act", disk.path)


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
