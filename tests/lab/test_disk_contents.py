"""A disk that holds data or is in use is refused by `run`, which says what it found and writes nothing to the disk.

The cases are the ones that need md, the device mapper or ZFS. `tests/loop/test_disk_contents.py` has the others.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .machine import Machine, leftovers, poolproof

# udev may assemble a stopped array again, even while its superblock is being erased.
_STOP = "udevadm settle; mdadm --stop /dev/md7 2>/dev/null || true"
_NO_ARRAY = f"{_STOP}; mdadm --zero-superblock $a && {{ {_STOP}; }}"

_CASES = {
    "running md array": (
        "mdadm --create /dev/md7 --run --level=1 --raid-devices=2 --metadata=1.2 $a missing",
        _NO_ARRAY,
        r"is a member of the array /dev/md\S*7",
    ),
    "stopped md array": (
        "mdadm --create /dev/md7 --run --level=1 --raid-devices=2 --metadata=1.2 $a missing; mdadm --stop /dev/md7",
        _NO_ARRAY,
        r"contains linux_raid_member",
    ),
    "md array with its superblock at the end": (
        "mdadm --create /dev/md7 --run --level=1 --raid-devices=2 --metadata=1.0 $a missing; mdadm --stop /dev/md7",
        _NO_ARRAY,
        r"contains linux_raid_member",
    ),
    "active logical volume": (
        "vgcreate precious $a && lvcreate --name data --size 64M --yes precious",
        "vgremove --force --yes precious; pvremove $a",
        r"contains the logical volume /dev/mapper/precious-data",
    ),
    "volume group without volumes": ("vgcreate precious $a", "vgremove --yes precious; pvremove $a", "LVM2_member"),
    "open LUKS mapping": (
        "printf key | cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $a - &&"
        " printf key | cryptsetup open --key-file - $a precious",
        "cryptsetup close precious",
        r"is open as /dev/mapper/precious",
    ),
    "closed LUKS": (
        "printf key | cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $a -",
        "true",
        "contains crypto_LUKS",
    ),
    "another device mapping": (
        'dmsetup create precious --table "0 131072 linear $a 2048"',
        "dmsetup remove precious",
        r"is in use by /dev/mapper/precious",
    ),
    "imported pool": ("zpool create -f precious $a", "zpool destroy precious", "is a member of the ZFS pool precious"),
    "exported pool": (
        "zpool create -f precious $a && zpool export precious",
        "zpool import -d $a-part1 precious && zpool destroy precious",
        "is a member of the ZFS pool precious",
    ),
    "spare of a pool": (
        "zpool create -f precious $b spare $a",
        "zpool destroy precious",
        r"has partitions: \S+1, \S+9",  # a spare has no uberblocks, so wipefs does not recognize it
    ),
    "mounted btrfs of two disks": (
        "mkfs.btrfs --quiet $a $b && mkdir /run/precious && mount $b /run/precious",
        "umount /run/precious; rmdir /run/precious",
        r"(contains btrfs|is mounted at /run/precious)",
    ),
    "swap": ("mkswap $a && swapon $a", "swapoff $a", "is in use as swap"),
    "plain dm-crypt, open": (
        "printf key | cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 256 --key-file - $a precious",
        "cryptsetup close precious",
        r"is open as /dev/mapper/precious",
    ),
}
"""The commands that make the data, those that remove it, and a pattern for what the refusal says about disk a."""

_WIPE = "for disk in $a $b; do wipefs --all --quiet $disk*; done; udevadm settle"
_SETTLE = "udevadm settle; sync; sleep 2"
_WRITTEN = "awk '{print $7}' /sys/class/block/$(basename $(readlink -f $a))/stat"


@pytest.fixture
def names(lab: Machine) -> Iterator[str]:
    """Shell assignments that make $a and $b the two disks. Both are empty before and after the test."""
    given = "; ".join(f"{name}=/dev/disk/by-id/{lab.record.disks[name]}" for name in "ab")
    assert leftovers(lab) == ""
    yield given
    lab.ask(f"{given}; {_WIPE}")
    assert leftovers(lab) == ""


@pytest.mark.parametrize("case", _CASES)
def test_a_disk_with_data_is_refused_and_not_written(lab: Machine, names: str, tmp_path: Path, case: str) -> None:
    make, remove, said = _CASES[case]
    identity = lab.record.disks["a"]
    campaign = tmp_path / "c.yaml"
    campaign.write_text(
        f"devices: {{a: {{disk: {identity}}}}}\nlayouts: {{one: a | ext4}}\n"
        "workloads: {reads: {rw: randread, bs: 4k, size: 8m}}\nmeasure: {time: 1s, trials: 1}\n"
    )
    try:
        lab.ask(f"modprobe zfs; {names}; ({make}) >&2 && {_SETTLE}")
        before = lab.ask(f"{names}; {_WRITTEN}")
        answer = poolproof(
            "run", str(campaign), "--on", lab.on, "--wipe", identity, "--out", str(tmp_path / "run"), "--json"
        )
        assert lab.ask(f"{names}; {_WRITTEN}") == before
    finally:
        lab.ask(f"{names}; ({remove}) >&2")
    error = answer.error
    assert re.search(said, error["message"]), error
    assert error["hint"] and answer.code == 5, error
    assert not (tmp_path / "run").exists()
