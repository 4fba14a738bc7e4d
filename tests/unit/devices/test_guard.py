"""What the guard permits, and its error messages."""

import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest

from poolproof.campaign.model import Device, Disk
from poolproof.devices.disk import check_wiped
from poolproof.devices.guard import check_disk, refusal, state
from poolproof.errors import GuardError, UsageError
from tests.golden import Message

from .captured import server, server_disk

_NAME = "ata-HGST_HUS726T4TALA6L4_V1G0DDDD"


def _everything() -> frozenset[str]:
    return frozenset(identity for disk in server() for identity in disk.identities)


@pytest.mark.parametrize(
    "permitted", [_NAME, _NAME.lower(), f"/dev/disk/by-id/{_NAME}", "V1G0DDDD", "0x5000cca0dddd0000"]
)
def test_a_free_empty_disk_that_is_permitted_passes(permitted: str) -> None:
    check_disk(server_disk("sdd"), frozenset({permitted}))


@pytest.mark.parametrize("permitted", [frozenset(), frozenset({"V1G0AAAA"}), frozenset({"sdd", "/dev/sdd"})])
def test_a_disk_that_is_not_permitted_is_refused(permitted: frozenset[str]) -> None:
    with pytest.raises(GuardError, match="--wipe does not name it") as caught:
        check_disk(server_disk("sdd"), permitted)
    assert caught.value.hint.endswith(f"--wipe {_NAME}")


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("nvme0n1", "mounted at /boot/efi: /dev/nvme0n1p1", "umount /boot/efi"),
        ("sda", "in use as swap: /dev/md0", "swapoff /dev/md0"),
        ("sdb", "member of the ZFS pool tank", "zpool export tank"),
        ("sdc", "open as /dev/mapper/vault", "cryptsetup close /dev/mapper/vault"),
        ("sde", "contains xfs", "wipefs --all /dev/sde"),
        ("sdf", "has partitions: /dev/sdf1", "wipefs --all /dev/sdf1 /dev/sdf"),
        ("sdg", "mounted at /srv/media", "umount /srv/media"),
    ],
)
def test_a_disk_in_use_is_refused_whatever_is_permitted(name: str, message: str, hint: str) -> None:
    with pytest.raises(GuardError) as caught:
        check_disk(server_disk(name), _everything())
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_disk_whose_signatures_could_not_be_read_is_refused(message: Message) -> None:
    disk = replace(server_disk("sdd"), signatures=None, file_system="", partition_table="")
    with pytest.raises(GuardError, match="signatures") as refused:
        check_disk(disk, _everything())
    message(refused.value)


def test_a_stopped_array_still_refuses() -> None:
    disk = replace(server_disk("sda"), children=(), signatures=("linux_raid_member",))
    with pytest.raises(GuardError, match="contains linux_raid_member"):
        check_disk(disk, _everything())


def test_an_unmounted_logical_volume_still_refuses(message: Message) -> None:
    disk = server_disk("nvme0n1")
    volume = replace(disk.children[1].children[0], mount_points=())
    idle = replace(disk, children=(replace(disk.children[1], children=(volume,)),))
    with pytest.raises(GuardError, match="/dev/mapper/vg0-root") as refused:
        check_disk(idle, _everything())
    message(refused.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"signatures": ("xfs",)}, "contains xfs"),
        ({"file_system": "zfs_member", "label": "tank"}, "member of the ZFS pool tank"),
        ({"file_system": "ntfs"}, "contains ntfs"),
        ({"partition_table": "dos"}, "contains dos"),
        ({"read_only": True}, "is read-only"),
        ({"kind": "part"}, "not a whole disk: its type is part"),
    ],
)
def test_one_flaw_is_enough(changes: dict[str, object], message: str) -> None:
    disk = replace(server_disk("sdd"), **changes)  # type: ignore[arg-type]
    with pytest.raises(GuardError) as caught:
        check_disk(disk, _everything())
    assert message in caught.value.message


def test_only_the_free_disk_of_the_server_has_nothing_against_it() -> None:
    assert [disk.name for disk in server() if refusal(disk) is None] == ["sdd"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nvme0n1", "mounted at /boot/efi: /dev/nvme0n1p1"),
        ("sda", "in use as swap: /dev/md0"),
        ("sdb", "a member of the ZFS pool tank"),
        ("sdc", "open as /dev/mapper/vault"),
        ("sdd", "free and empty"),
        ("sdf", "has partitions: /dev/sdf1"),
        ("sdg", "mounted at /srv/media"),
    ],
)
def test_the_state_of_a_disk_in_a_few_words(name: str, said: str) -> None:
    assert state(server_disk(name)) == said


def test_only_a_disk_that_is_free_and_empty_would_not_be_refused() -> None:
    assert {disk.name for disk in server() if state(disk) == "free and empty"} == {
        disk.name for disk in server() if refusal(disk) is None
    }


def test_names_of_a_disk_cannot_add_commands_to_a_hint() -> None:
    """The label of a USB stick becomes the name of its mount point, and its maker chooses the serial number."""
    stick = replace(server_disk("sdd"), by_id=(), serial="A;reboot", wwn="")
    with pytest.raises(GuardError) as caught:
        check_disk(stick, frozenset())
    assert shlex.split(caught.value.hint)[-2:] == ["--wipe", "A;reboot"]
    with pytest.raises(GuardError) as caught:
        check_disk(replace(stick, mount_points=("/media/ada/$(reboot)",)), frozenset({"A;reboot"}))
    assert shlex.split(caught.value.hint) == ["umount", "/media/ada/$(reboot)"]
    assert "'" in caught.value.hint
    with pytest.raises(GuardError) as caught:
        check_disk(replace(stick, file_system="zfs_member", label="a;reboot"), frozenset({"A;reboot"}))
    assert caught.value.hint.startswith("zpool export 'a;reboot'")


def test_a_second_path_to_the_same_disk_is_refused() -> None:
    """Without multipathd, a disk in a storage network appears once per path. A program may use it through the other."""
    disk = server_disk("sdd")
    twin = replace(disk, name="sdz", path="/dev/sdz", by_id=())
    with pytest.raises(GuardError, match="is also /dev/sdz"):
        check_disk(disk, frozenset({disk.by_id[0]}), disks=(disk, twin))
    check_disk(disk, frozenset({disk.by_id[0]}), disks=(disk, replace(twin, size_bytes=1)))


@pytest.mark.parametrize("spelled", [str.upper, str.lower])
def test_a_serial_number_that_two_disks_have_permits_neither(spelled: Callable[[str], str]) -> None:
    """The case does not distinguish them, because `--wipe` accepts both."""
    disk = server_disk("sdd")
    twin = replace(disk, name="sdz", path="/dev/sdz", by_id=("usb-twin",), wwn="0x1", serial=spelled(disk.serial))
    with pytest.raises(GuardError, match="--wipe does not name it") as error:
        check_disk(disk, frozenset({disk.serial}), disks=(disk, twin))
    assert disk.by_id[0] in error.value.hint
    check_disk(disk, frozenset({disk.by_id[0]}), disks=(disk, twin))
    check_disk(disk, frozenset({disk.serial}), disks=(disk,))
    bare = replace(disk, by_id=(), wwn="")
    with pytest.raises(GuardError, match="another disk has the same serial number"):
        check_disk(bare, frozenset({disk.serial}), disks=(bare, twin))


def test_names_with_a_colon_may_be_disks_of_other_hosts() -> None:
    device = Device("a", Disk("v1g0dddd"))
    check_wiped([_NAME, f"/dev/disk/by-id/{_NAME.upper()}", "V1G0DDDD", "nas2:S7"], [device], server())
    with pytest.raises(UsageError, match="--wipe V1G0AAAA: the campaign does not use this disk") as caught:
        check_wiped(["V1G0AAAA"], [device], server())
    assert "the campaign uses v1g0dddd" in caught.value.hint
