"""A real disk is used only if it is empty and is the one that the campaign names.

It is written only as long as it is the same disk. At the end, it is wiped only if it is still the same disk and the
machine was not rebooted. Otherwise it is left unchanged, with a message.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from poolproof.campaign.model import Device, Disk
from poolproof.devices.disk import UndoClaim
from poolproof.devices.model import DevicePlan, IdentityCheck
from poolproof.devices.permission import forget_permission
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.errors import BuildError, GuardError
from poolproof.facts.block import BlockFacts
from poolproof.facts.machine import survey
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply, repeat
from poolproof.provision.directories import site_of
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import Owned
from tests.loop.named_disk import SIZE_BYTES, named_disk
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

HOST = LocalHost()
_LABEL = "a1b2c3d4"
_PARTITION_TABLE = r"""
{ printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\020\0\0'; head -c 48 /dev/zero; printf '\125\252'; } |
  dd of="$0" bs=1 seek=446 conv=notrunc status=none
"""
"""A shell script that writes a partition table with one partition, which starts at sector 2048."""


def test_the_claimed_disk_is_written_and_wiped(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        journal, claimed = _claimed(testbed, disk)
        _make_ext4(journal, claimed)
        assert _bears_ext4(testbed, disk)
        assert undo_all(journal, HOST, _owned(journal)) == ()
        assert not _bears_ext4(testbed, disk)


@pytest.mark.parametrize(
    "changes", [{"size_bytes": 2 * SIZE_BYTES}, {"number": "7:1000001"}], ids=["size", "device number"]
)
def test_another_disk_is_not_claimed(testbed: Testbed, changes: dict[str, Any]) -> None:
    with _claimed_later(testbed) as disk:
        with pytest.raises(BuildError, match="is not the disk that the campaign names"):
            _claimed(testbed, replace(disk, **changes))
        assert not list(testbed.path.glob("*.claimed"))


def test_a_disk_that_is_not_empty_is_not_claimed(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        testbed.command("mkfs.ext4", "-q", disk.path)
        with pytest.raises(BuildError, match="no longer empty: it contains ext4"):
            _claimed(testbed, disk)
        assert _bears_ext4(testbed, disk)


def test_a_disk_is_not_claimed_if_the_claim_cannot_be_recorded(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        _record(testbed).mkdir()
        try:
            with pytest.raises(BuildError, match="cannot be recorded in /run"):
                _claimed(testbed, disk)
            assert not list(testbed.path.glob("*.claimed"))
            journal = Journal(testbed.path / "journal.jsonl")
            assert undo_all(journal, HOST, _owned(journal)) == ()
        finally:
            _record(testbed).rmdir()


def test_a_replaced_disk_is_not_written_or_wiped(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        journal, claimed = _claimed(testbed, disk)
        testbed.command("truncate", "-s", str(2 * SIZE_BYTES), str(testbed.path / "disk.img"))
        testbed.command("losetup", "--set-capacity", disk.path)
        with pytest.raises(GuardError, match="is not the disk that the campaign names"):
            _make_ext4(journal, claimed)
        assert not _bears_ext4(testbed, disk)
        testbed.command("mkfs.ext4", "-q", disk.path)
        assert [
            left.reason.endswith("so nothing is written to it") for left in undo_all(journal, HOST, _owned(journal))
        ] == [True]
        assert _bears_ext4(testbed, disk)


def test_another_disk_of_the_same_size_at_the_same_place_is_not_written(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        sequence = Path(f"/sys/class/block/{disk.name}/diskseq").read_text().strip()
        journal, claimed = _claimed(testbed, replace(disk, sequence=sequence))
        other = testbed.path / "other.img"
        testbed.command("truncate", "-s", str(SIZE_BYTES), str(other))
        testbed.command("losetup", "--detach", disk.path)
        testbed.command("losetup", disk.path, str(other))
        with pytest.raises(GuardError, match="was replaced after it was checked"):
            _make_ext4(journal, claimed)
        path = claimed.volume.path
        mount = Step("mount it", ("mount", "-o", f"device={path}", "/nowhere"))
        with pytest.raises(GuardError, match="refused to mount it"):
            repeat([mount], HOST, [IdentityCheck(path, claimed.identity_check)])
        assert not _bears_ext4(testbed, disk)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (["mkfs.ext4", "-q", "-F", "-L", "photos"], "ext4 photos"),
        (["mkfs.ext4", "-q", "-F", "-L", "data\\c"], "ext4 data\\c"),
        (["mkfs.ext4", "-q", "-F", "-L", "* $(x)"], "ext4 * $(x)"),
        (["mkfs.ext2", "-q", "-F"], "ext2"),
        (["mkswap", "--label", "mine"], "swap mine"),
        (["sh", "-c", _PARTITION_TABLE], "dos"),
    ],
)
def test_a_file_system_that_the_run_did_not_make_is_not_wiped(testbed: Testbed, made: list[str], named: str) -> None:
    with _claimed_later(testbed) as disk:
        journal, claimed = _claimed(testbed, disk)
        _make_ext4(journal, claimed)
        testbed.command("wipefs", "--all", "--quiet", disk.path)
        testbed.command(*made, disk.path)
        before = testbed.command("wipefs", "--no-act", disk.path)
        (left,) = undo_all(journal, HOST, _owned(journal))
        assert f"{disk.path} contains {named}, which this run did not make" in left.reason
        assert testbed.command("wipefs", "--no-act", disk.path) == before != ""


def test_a_released_disk_is_claimed_again_unless_someone_has_written_to_it(testbed: Testbed) -> None:
    """Raw data, such as that of a database, has no signature, so the disk still looks empty."""
    with _claimed_later(testbed) as disk:
        for _ in range(2):
            journal, claimed = _claimed(testbed, disk)
            _make_ext4(journal, claimed)
            assert undo_all(journal, HOST, _owned(journal)) == ()
        testbed.command("dd", "if=/dev/urandom", f"of={disk.path}", "bs=1M", "count=1", "seek=9", "oflag=direct")
        assert not testbed.command("wipefs", "--no-act", disk.path)
        with pytest.raises(BuildError, match=r"someone has written to /dev/loop\d+ since this run"):
            _claimed(testbed, disk)
        forget_permission(HOST, str(testbed.path), ["d"])  # because --wipe names the disk again
        journal, _ = _claimed(testbed, disk)
        assert undo_all(journal, HOST, _owned(journal)) == ()


def _luks(uuid: str) -> bytes:
    """Return the start of a LUKS1 header, which has no label."""
    return b"LUKS\xba\xbe\0\1".ljust(168, b"\0") + uuid.encode()


def _lvm(uuid: str) -> bytes:
    """Return the first two sectors of a physical volume. The checksum is described in LVM's lib/misc/crc.c."""
    label = struct.pack("<I8s", 32, b"LVM2 001") + uuid.replace("-", "").encode().ljust(480, b"\0")
    checksum = ~zlib.crc32(label, ~0xF597A6CF & 0xFFFFFFFF) & 0xFFFFFFFF
    return bytes(512) + b"LABELONE" + struct.pack("<QI", 1, checksum) + label


_OWN_UUID = "a1b2c3d4-89ab-4def-8123-456789abcdef"
_OWN_VOLUME = "a1b2c3-d489-ab4d-ef81-2345-6789-abcdef"


@pytest.mark.parametrize(
    ("header", "kind", "is_claimed", "is_wiped"),
    [
        (_luks(_OWN_UUID), "crypto_LUKS", True, True),
        (_luks(_OWN_UUID), "crypto_LUKS", False, False),
        (_luks("01234567-89ab-4def-8123-456789abcdef"), "crypto_LUKS", True, False),
        (_lvm(_OWN_VOLUME), "LVM2_member", True, True),
        (_lvm("Zf3qkG-d489-ab4d-ef81-2345-6789-abcdef"), "LVM2_member", True, False),
    ],
    ids=["luks", "luks without a record", "luks of someone else", "lvm", "lvm of someone else"],
)
def test_a_header_is_wiped_only_if_its_uuid_is_the_runs_and_this_machine_recorded_the_claim(
    testbed: Testbed, header: bytes, kind: str, is_claimed: bool, is_wiped: bool
) -> None:
    """LVM and LUKS1 have no labels. A run directory from a stranger can contain the note of a claim, too."""
    with _claimed_later(testbed) as disk:
        journal, _ = _claimed(testbed, disk)
        if not is_claimed:
            _record(testbed).unlink()
        with Path(disk.path).open("r+b") as file:
            file.write(header)
        assert kind in testbed.command("wipefs", "--no-act", disk.path)
        left = undo_all(journal, HOST, _owned(journal))
        refused = f"contains {kind}, which" if is_claimed else "this machine has no record that a run claimed it"
        assert [refused in each.reason for each in left] == ([] if is_wiped else [True])
        assert (kind in testbed.command("wipefs", "--no-act", disk.path)) != is_wiped


def test_a_claim_without_a_label_does_not_wipe_a_file_system(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        journal, claimed = _claimed(testbed, disk)
        (change,) = journal.outstanding()
        assert isinstance(change.undo, UndoClaim)
        journal.mark_undone(change)
        journal.record(Step("claim it", ("true",), undo=msgspec.structs.replace(change.undo, label="")))
        _make_ext4(journal, claimed)
        (left,) = undo_all(journal, HOST, _owned(journal))
        assert "does not show what an older version of poolproof wrote to it" in left.reason
        assert _bears_ext4(testbed, disk)


def test_the_disk_is_not_wiped_after_a_reboot(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        journal, claimed = _claimed(testbed, disk)
        _make_ext4(journal, claimed)
        (note,) = testbed.path.glob("*.claimed")
        note.write_text(f"{disk.serial}\nthe boot before\n")
        (left,) = undo_all(journal, HOST, _owned(journal))
        assert left.reason.endswith(f"if the data can be deleted: wipefs --all {disk.path}")
        assert _bears_ext4(testbed, disk)
        testbed.command("wipefs", "--all", disk.path)
        assert undo_all(journal, HOST, _owned(journal)) == ()


def test_a_run_on_a_disk_that_is_gone_for_good_can_be_cleaned_up(testbed: Testbed) -> None:
    with _claimed_later(testbed) as disk:
        gone = "/dev/disk/by-id/ata-gone-5e1f"
        journal, _ = _claimed(testbed, disk)
        (change,) = journal.outstanding()
        assert isinstance(change.undo, UndoClaim)
        journal.mark_undone(change)
        journal.record(Step("claim it", ("true",), undo=msgspec.structs.replace(change.undo, path=gone)))
        (left,) = undo_all(journal, HOST, _owned(journal))
        assert left.reason.startswith(f"the disk {gone} was not found; connect it")
        testbed.command("sh", "-c", left.reason.partition("if it is gone for good: ")[2])
        assert undo_all(journal, HOST, _owned(journal)) == ()


def _claimed(testbed: Testbed, disk: BlockFacts) -> tuple[Journal, DevicePlan]:
    """Claim the disk as a run does."""
    site = site_of(survey(HOST, ("wipefs",)), _LABEL, str(testbed.path), str(testbed.path), is_here=True)
    facts = DeviceFacts(loops=(0,), disks=(disk,), permitted=frozenset({"SN-0001"}))
    (plan,) = plan_devices((Device("d", Disk("SN-0001")),), site, facts)
    (claim,) = plan.steps
    journal = Journal(testbed.path / "journal.jsonl")
    apply([claim], HOST, journal, may_overwrite=frozenset())
    return journal, plan


def _record(testbed: Testbed) -> Path:
    """Return the file in /run that shows that this machine made the claim."""
    return Path(f"/run/poolproof-claim-{hashlib.sha256(str(testbed.path / 'd.claimed').encode()).hexdigest()[:32]}")


def _owned(journal: Journal) -> Owned:
    return Owned(_LABEL, (str(journal.path.parent),))


def _make_ext4(journal: Journal, claimed: DevicePlan) -> None:
    path = claimed.volume.path
    step = Step("make ext4", ("mkfs.ext4", "-q", "-L", _LABEL, path), overwrites=(path,))
    apply(
        [step],
        HOST,
        journal,
        may_overwrite=frozenset({path}),
        identity_checks=[IdentityCheck(path, claimed.identity_check)],
    )


def _bears_ext4(testbed: Testbed, disk: BlockFacts) -> bool:
    return "ext4" in testbed.command("wipefs", "--no-act", disk.path)


@pytest.mark.parametrize(("name", "is_wiped"), [("zfs-b8bddc08c97c65dd", True), ("photos", False)])
def test_a_cache_device_of_a_pool_that_wipefs_does_not_recognize_is_wiped(
    testbed: Testbed, name: str, is_wiped: bool
) -> None:
    """After an import, the cache device of a destroyed pool has no signature but its partition table (OpenZFS 2.1)."""
    with _claimed_later(testbed) as disk:
        journal, _ = _claimed(testbed, disk)
        _write_gpt(Path(disk.path), name)
        testbed.command("partx", "--add", disk.path)
        try:
            left = undo_all(journal, HOST, _owned(journal))
        finally:
            testbed.command("partx", "--delete", disk.path)
        assert (left == ()) == is_wiped
        assert (testbed.command("wipefs", "--no-act", disk.path) == "") == is_wiped


def _write_gpt(disk: Path, name: str) -> None:
    """Write a partition table with one partition of this name, as zpool does: UEFI 2.10, 5.3.2 and 5.3.3."""
    last, zfs = SIZE_BYTES // 512 - 1, UUID("6a898cc3-1dd2-11b2-99a6-080020736631").bytes_le
    entry = struct.pack("<16s16sQQQ72s", zfs, UUID(int=1).bytes_le, 2048, 4095, 0, name.encode("utf-16-le"))
    entries = entry.ljust(128 * 128, b"\0")

    def header(own: int, other: int, table: int) -> bytes:
        tail = struct.pack(
            "<QQQQ16sQIII", own, other, 34, last - 33, UUID(int=2).bytes_le, table, 128, 128, zlib.crc32(entries)
        )
        start = struct.pack("<8sII", b"EFI PART", 0x10000, 92)
        crc = zlib.crc32(start + bytes(8) + tail)
        return (start + struct.pack("<II", crc, 0) + tail).ljust(512, b"\0")

    protective = (bytes(446) + struct.pack("<8BII", 0, 0, 2, 0, 0xEE, 0xFF, 0xFF, 0xFF, 1, last)).ljust(510, b"\0")
    with disk.open("r+b") as file:
        file.write(protective + b"\x55\xaa" + header(1, last, 2) + entries)
        file.seek((last - 32) * 512)
        file.write(entries + header(last, 1, last - 32))


@contextmanager
def _claimed_later(testbed: Testbed) -> Iterator[BlockFacts]:
    """Yield a disk, and remove the record of its claim at the end."""
    try:
        with named_disk(testbed) as disk:
            yield disk
    finally:
        _record(testbed).unlink(missing_ok=True)
        forget_permission(HOST, str(testbed.path), ["d"])
