"""Layouts that people use can be resolved, and have the write factor P that follows from their layers."""

import re

import pytest

from poolproof.layers import tree
from poolproof.layers.base import DeviceNode, LayerNode
from poolproof.layers.layer_catalogue import all_layers

from .ground import capacity, factor, resolve


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # from the design
        ("rust | ext4", 1),
        ("zfs rust", 1),
        ("zfs mirror rust ssd ashift=12 compression=off", 2),
        ("zfs small big", 1),
        ("zfs mirror hdd1 hdd2 cache nvme1 | zvol 100G | ext4", 2),
        ("zfs mirror hdd1 hdd2 log (nvme1 | luks) cache (nvme2 | luks) | zvol 100G | ext4", 2),
        ("btrfs raid1 nvme ssd", 2),
        ("md raid1 nvme ssd bitmap=none | ext4", 2),
        ("mergerfs (hdd1 | xfs) (hdd2 | ext4) category.create=epmfs minfreespace=300G cache.files=off", 1),
        ("mergerfs (zfs mirror nvme ssd)", 2),
        ("autotier (zfs mirror nvme ssd) quota=20% (mergerfs (hdd1 | ext4) (hdd2 | ext4)) quota=100%", 1),
        ("dir /srv/data", 1),
        # from the seeds
        ("mergerfs (btrfs nvme) moveonenospc=true dropcacheonclose=true category.create=lfs use_ino", 1),
        ("md raid1 nvme ssd bitmap=internal bitmap-chunk=131072 | ext4", 2),
        ("zfs mirror hdd1 hdd2 log nvme1 nvme2 | zvol 1T | ext4", 2),
        ("rust", 1),
        # every kind of vdev
        ("zfs raidz a b c", 3 / 2),
        ("zfs raidz2 a b c d e", 5 / 3),
        ("zfs raidz1 a b c raidz1 d e f", 3 / 2),
        ("zfs mirror a b mirror c d special mirror e f", 2),
        ("zfs mirror a b log mirror c d mirror e f", 2),
        ("zfs mirror a b dedup mirror c d cache e spare f", 2),
        ("zfs draid2:2d:6c:1s a b c d e f", 2),
        ("zfs draid a b c", 3 / 2),
        ("zfs raidz1 a b c mirror d e", 3 / 2),
        ("zfs -f mirror a b c", 3),
        ("zfs cache a mirror b c", 2),
        ("zfs a copies=2 recordsize=16k zfs:mine=1 feature@lz4_compress=disabled", 2),
        # the other levels
        ("btrfs a b", 1),
        ("a | btrfs dup", 2),
        ("btrfs raid10 a b c d", 2),
        ("btrfs raid1c3 a b c d", 3),
        ("btrfs raid1c4 a b c d", 4),
        ("btrfs raid5 a b c", 3 / 2),
        ("btrfs raid6 a b c d", 2),
        ("btrfs raid1 (md raid1 a b) c", 3),
        ("md 0 a b | xfs", 1),
        ("md raid5 a b c chunk=64k", 3 / 2),
        ("md raid5 a b c d spare-devices=1", 3 / 2),
        ("md raid6 a b c d", 2),
        ("md raid10 a b c d layout=f3", 3),
        ("md raid1 a write-mostly b write-behind=256", 2),
        ("lvm raid1 a b | ext4", 2),
        ("lvm raid1 a b c mirrors=1", 2),
        ("lvm raid10 a b c d e f mirrors=2 stripes=2", 3),
        ("lvm raid5 a b c d stripes=2", 3 / 2),
        ("lvm raid6 a b c d e", 5 / 3),
        ("lvm cache hdd1 hdd2 cachevol nvme1 cachemode=writeback | ext4", 1),
        ("lvm thin a b chunksize=64k zero=n", 1),
        ("a | luks integrity=hmac-sha256", 1),
        ("a | luks integrity=hmac-sha256 integrity-no-journal", 1),
        ("a | ext4 data=journal", 2),
        ('dir "/srv/my data"', 1),
    ],
)
def test_the_write_factor(text: str, expected: float) -> None:
    assert factor(text) == pytest.approx(expected)


def test_the_tree_of_a_stack() -> None:
    node = resolve("zfs mirror hdd1 hdd2 log (nvme1 | luks) | zvol 100G volblocksize=16k sparse | ext4 noatime")
    words = [entry.layer.word for entry in tree.layer_nodes(node)]
    assert words == ["luks", "zfs", "zvol", "ext4"]
    assert tree.devices(node) == ("hdd1", "hdd2", "nvme1")
    assert tree.directories(node) == ()


def test_a_directory_is_no_device() -> None:
    node = resolve("mergerfs (dir /srv//data/) (a | ext4)")
    assert tree.devices(node) == ("a",)
    assert tree.directories(node) == ("/srv/data",)


def test_one_device_left_of_the_bar_or_after_the_word_is_the_same() -> None:
    assert resolve("a | btrfs compress=zstd:3") == resolve("btrfs a compress=zstd:3")


def test_a_bare_device() -> None:
    assert resolve("a") == DeviceNode("a")


@pytest.mark.parametrize("word", sorted(all_layers()))
def test_the_example_in_each_summary_resolves(word: str) -> None:
    layer = all_layers()[word]
    example = re.findall(r"`([^`]+)`", layer.summary)[0]
    node = resolve(example)
    assert any(entry.layer is layer for entry in tree.layer_nodes(node))


@pytest.mark.parametrize("word", sorted(all_layers()))
def test_each_layer_names_its_requirements(word: str) -> None:
    layer = all_layers()[word]
    assert layer.word == word
    assert bool(layer.programs) or word == "dir"


def test_unequal_sizes() -> None:
    gib = 1024**3
    sizes = {"a": 8 * gib, "b": 20 * gib, "c": 40 * gib}
    assert capacity("zfs mirror a b", **sizes) < 8 * gib
    assert capacity("zfs a b", **sizes) > 24 * gib
    assert 20 * gib < capacity("btrfs raid1 a b c", **sizes) < 28 * gib
    assert capacity("btrfs raid1 a b", **sizes) < 8 * gib
    assert capacity("md raid5 a b c", **sizes) < 16 * gib
    assert capacity("lvm linear a b", **sizes) > 27 * gib
    assert capacity("lvm linear a b size=3G", **sizes) == 3 * gib
    assert capacity("lvm thin a virtualsize=64G", **sizes) == 64 * gib
    assert capacity("lvm raid1 a b c mirrors=1", **sizes) < 8 * gib
    assert capacity("lvm striped a b c stripes=2", **sizes) < 16 * gib
    assert capacity("md raid5 a b c size=2G", **sizes) == 4 * gib
    assert capacity("zfs c | zvol 10G", **sizes) == 10 * gib
    tiers = "autotier (a | ext4) quota=50% (b | ext4) quota=5G"
    assert capacity(tiers, **sizes) == capacity("a | ext4", **sizes) // 2 + 5 * gib


def test_a_file_over_mergerfs_must_fit_one_branch() -> None:
    node = resolve("mergerfs (a | ext4) (b | xfs)")
    sizes = {"a": 10 * 1024**3, "b": 30 * 1024**3}
    assert tree.largest_file_bytes(node, sizes) == capacity("b | xfs", **sizes)
    assert tree.capacity_bytes(node, sizes) == capacity("a | ext4", **sizes) + capacity("b | xfs", **sizes)


def test_the_layers_are_those_of_the_folder() -> None:
    words = {"autotier", "btrfs", "dir", "ext4", "luks", "lvm", "md", "mergerfs", "xfs", "zfs", "zvol"}
    assert words <= set(all_layers())
    assert isinstance(resolve("a | ext4"), LayerNode)
