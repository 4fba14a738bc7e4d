"""The number of disk failures that a layout survives, regardless of which disks fail."""

import pytest

from poolproof.layers import tree
from poolproof.layers.base import survives

from .ground import resolve

CASES = [
    ("a", 0),
    ("a | ext4", 0),
    ("a | xfs", 0),
    ("btrfs a", 0),
    ("btrfs dup a", 0),
    ("btrfs single a b", 0),
    ("btrfs raid0 a b", 0),
    ("btrfs raid1 a b", 1),
    ("btrfs raid1 a b c", 1),
    ("btrfs raid10 a b c d", 1),
    ("btrfs raid1c3 a b c metadata=raid1c3", 2),
    ("btrfs raid1c3 a b c", 1),  # mkfs.btrfs uses raid1 for metadata by default
    ("btrfs raid1 a b metadata=single", 0),
    ("btrfs raid5 a b c", 1),
    ("btrfs raid6 a b c metadata=raid1c3", 2),
    ("mergerfs (a | ext4) (b | xfs)", 0),
    ("mergerfs (btrfs raid1 a b) (btrfs raid1 c d)", 1),
    ("mergerfs (btrfs raid1 a b) (c | ext4)", 0),
    ("autotier (btrfs raid1 a b) quota=20% (c | ext4) quota=100%", 0),
    ("a | luks | ext4", 0),
    ("zfs a", 0),
    ("zfs a b", 0),
    ("zfs mirror a b", 1),
    ("zfs mirror a b c | zvol 1G | ext4", 2),
    ("zfs mirror a b log c cache d", 1),
    ("zfs mirror a b mirror c d", 1),
    ("zfs raidz2 a b c d", 2),
    ("zfs draid2:2d:1s a b c d e", 2),
    ("zfs -f mirror a b special c", 0),
    ("zfs mirror a b copies=2", 1),
    ("zfs a copies=2", 0),
    ("zfs mirror (md raid1 a b) (md raid1 c d)", 3),
    ("md raid0 a b", 0),
    ("md linear a b", 0),
    ("md raid1 a b c", 2),
    ("md raid1 a b c spare-devices=1", 1),
    ("md raid5 a b c | ext4", 1),
    ("md raid6 a b c d", 2),
    ("md raid10 a b c d", 1),
    ("md raid10 a b c layout=n3", 2),
    ("lvm linear a b", 0),
    ("lvm striped a b", 0),
    ("lvm raid1 a b", 1),
    ("lvm raid1 a b c mirrors=1", 1),
    ("lvm raid5 a b c", 1),
    ("lvm raid6 a b c d e", 2),
    ("lvm raid10 a b c d", 1),
    ("lvm cache (md raid1 a b) cachevol c", 1),
    ("lvm cache (md raid1 a b) cachevol c cachemode=writeback", 0),
    ("lvm writecache (md raid1 a b) cachevol c", 0),
    ("dir /srv", None),
    ("mergerfs (dir /srv) (a | ext4)", None),
]


@pytest.mark.parametrize(("text", "failures"), CASES, ids=[text for text, _ in CASES])
def test_a_layout_survives(text: str, failures: int | None) -> None:
    assert tree.redundancy(resolve(text)) == failures


def test_a_mirror_of_mirrors_survives_three_and_the_weakest_inputs_fail_first() -> None:
    assert survives([1, 1], 1) == 3
    assert survives([0, 2], 1) == 3
    assert survives([0, 1, 4], 1) == 2
    assert survives([0, 0, 0, 0], 2) == 2
