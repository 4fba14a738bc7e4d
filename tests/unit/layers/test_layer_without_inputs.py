"""A layer without inputs is itself a device: the layers on it, the accounting and the counters work as usual."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.evidence.account import DEVICE, CountingPoint
from poolproof.hosts.base import Hosts
from poolproof.layers import open_layout, tree

from .ground import GIB, plan, resolve
from .recorded import RecordedHost
from .toys import toy_layers

_STAT = "/sys/class/block/loop7/stat"


@pytest.fixture(autouse=True)
def _leaf() -> Iterator[None]:
    with toy_layers(Path(__file__).parent / "leaf"):
        yield


@pytest.mark.parametrize(
    ("text", "factor", "redundancy"),
    [
        ("remote 2G", 1, 0),
        ("remote 2G | ext4", 1, 0),
        ("btrfs raid1 a (remote 2G)", 2, 1),
        ("md raid1 (remote 2G) a", 2, 1),
        ("mergerfs (remote 2G | ext4) (a | ext4)", 1, 0),
    ],
)
def test_the_accounting_treats_it_like_a_device(text: str, factor: float, redundancy: int) -> None:
    node = resolve(text)
    assert tree.write_factor(node) == factor
    assert tree.write_factor(node, {"a": 1 << 20}) == factor
    assert tree.redundancy(node) == redundancy
    assert tree.hosts_of(node) == {"nas2"}
    assert tree.uses_page_cache(node)
    assert 0 < tree.capacity_bytes(node, {"a": 2 * GIB}) < 4 * GIB


def test_a_layout_on_it_needs_no_device_of_the_campaign() -> None:
    built = plan("remote 2G | ext4")
    assert tree.devices(built.top.node) == ()
    assert ("mkfs.ext4", "/dev/remote0") in [(step.argv[0], step.argv[-1]) for step in built.make]
    assert [leaf.name for leaf in built.leaves] == ["mix-remote-disk"]


def test_its_disk_on_the_other_host_is_counted_and_stores_all_data() -> None:
    built = plan("remote 2G | ext4")
    host = Hosts(_host_with(built), {"nas2": RecordedHost(name="nas2")})
    points = open_layout.counting_points(built, host)
    assert points == (CountingPoint(DEVICE, "mix-remote-disk", 3, (_STAT,), "nas2"),)
    assert open_layout.stored_per_leaf(built, host) == {"mix-remote-disk": 5120}
    assert open_layout.write_backs(built, host) == ()
    assert open_layout.cached_bytes(built, host) == 0
    assert open_layout.deviations(built, host) == ()


def test_an_array_of_it_and_a_device_has_a_level_for_each() -> None:
    built = plan("md raid1 (remote 2G) a")
    host = Hosts(_host_with(built), {"nas2": RecordedHost(name="nas2")})
    devices = {(point.name, point.host) for point in open_layout.counting_points(built, host) if point.layer == DEVICE}
    assert devices == {("mix-remote-disk", "nas2"), ("a", "")}


def _host_with(built: tree.TreePlan) -> RecordedHost:
    """Return a host on which the layout's block devices have no counters, and its files occupy 10 blocks."""
    blocks = [entry.volume.path for entry in tree.from_bottom(built.top) if entry.plan and entry.volume.is_block]
    found = ("sh", "-c", open_layout._STAT, "sh", *blocks)
    path = built.volume.path
    sizes = ("find", path, "-xdev", "-type", "f", "-printf", "%b\\n")
    return RecordedHost({found: "\n" * len(blocks), sizes: "10\n"})
