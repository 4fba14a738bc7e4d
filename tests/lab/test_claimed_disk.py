"""A run that wrote to real disks is killed. `clean` erases what the run wrote, and nothing that came later."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import Answer, Started

from .machine import Machine, kill_in_trial, leftovers, poolproof

LAYOUTS = {
    "zfs": "zfs a log b",
    "lvm and luks": "lvm linear (a | luks) b | ext4",
    "md": "md raid1 a b bitmap=none size=64M | ext4",
}
MADE_BY_HAND = {
    "crypto_LUKS": (
        "printf key | cryptsetup luksFormat --batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $a -"
    ),
    "LVM2_member": "lvm pvcreate --yes $a >&2",
}
"""Shell commands that use the first disk, keyed by the signature that they write."""

LIMIT_S = 600.0
_REMOVE_LAYOUT = (
    "umount --all --types zfs; umount /var/tmp/poolproof-*/mnt/*; zpool list -Ho name | xargs -r -n1 zpool destroy -f;"
    " for disk in $a $b; do wipefs --all --quiet --force $disk*; done; udevadm settle"
)


@pytest.fixture
def disks(lab: Machine) -> Iterator[str]:
    """Shell assignments that make $a and $b the two disks. Both are empty before and after the test."""
    assert leftovers(lab) == ""
    yield "; ".join(f"{name}=/dev/disk/by-id/{lab.record.disks[name]}" for name in "ab")
    assert leftovers(lab) == ""


@pytest.mark.usefixtures("disks")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_clean_empties_the_disks_of_a_killed_run(lab: Machine, tmp_path: Path, layout: str) -> None:
    run = _killed_run(lab, tmp_path, LAYOUTS[layout])
    answer = _clean(run)
    assert answer.code == 0, answer.out + answer.err


@pytest.mark.parametrize("made", MADE_BY_HAND)
def test_clean_keeps_what_someone_made_on_the_disk_of_a_killed_run(
    lab: Machine, disks: str, tmp_path: Path, made: str
) -> None:
    """The machine was not rebooted, so it still has the record that the run claimed the disk."""
    run = _killed_run(lab, tmp_path, LAYOUTS["zfs"])
    try:
        lab.ask(f"{disks}; ({_REMOVE_LAYOUT}) >&2; {MADE_BY_HAND[made]}")
        answer = _clean(run)
        assert f"contains {made}, which this run did not make" in answer.out + answer.err
        assert answer.code != 0
        assert lab.ask(f"{disks}; blkid --probe --output value --match-tag TYPE $a").strip() == made
    finally:
        lab.ask(f"{disks}; wipefs --all --quiet $a $b")
    assert _clean(run).code == 0


def _killed_run(lab: Machine, folder: Path, layout: str) -> Path:
    """Return a run that was killed in a trial, so that its layout still exists."""
    devices = ", ".join(f"{name}: {{disk: {lab.record.disks[name]}}}" for name in "ab")
    (folder / "c.yaml").write_text(
        f"devices: {{{devices}}}\nlayouts: {{one: {json.dumps(layout)}}}\n"
        "workloads: {writes: {rw: randwrite, bs: 4k, size: 8m, fdatasync: 1}}\nmeasure: {time: 60s, trials: 1}\n"
    )
    run = folder / "run"
    wiped = (word for name in "ab" for word in ("--wipe", lab.record.disks[name]))
    begun = Started(folder, "run", str(folder / "c.yaml"), "--on", lab.on, *wiped, "--out", str(run))
    kill_in_trial(lab, begun, LIMIT_S)
    return run


def _clean(run: Path) -> Answer:
    return poolproof("clean", str(run), "--json")
