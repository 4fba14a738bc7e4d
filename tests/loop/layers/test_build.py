"""Build every layer that this kernel supports on loop devices, write to it, drop its caches and read its counters.

The fixture checks that everything can be undone.
"""

from pathlib import Path

import pytest

from poolproof.layers import open_layout, tree
from tests.unit.layers.toys import toy_layers

from .conftest import Bench

pytestmark = pytest.mark.parallel

_MIB = 1024**2


@pytest.mark.parametrize(
    ("text", "size_mib"),
    [
        ("a | ext4", 64),
        ("a | ext4 data=writeback", 64),
        ("a | ext4 noatime features=^has_journal inode_ratio=65536", 64),
        ("a | xfs", 300),
        ("a | xfs metadata.reflink=0 data.agcount=2 log.size=64m logbsize=256k nodiratime", 320),
        ("btrfs a", 128),
        ("a | btrfs dup compress=zstd:3 noatime nodesize=32k", 256),
        ("btrfs raid0 a b", 128),
        ("btrfs raid1 a b metadata=raid1", 128),
        ("btrfs raid10 a b", 160),
        ("btrfs single a b nodatacow", 128),
        ("mergerfs (a | ext4) (b | xfs)", 300),
        ("mergerfs (btrfs raid1 a b) category.create=mfs cache.files=off", 128),
    ],
)
def test_a_file_survives_dropping_caches_and_leaves_ram(bench: Bench, text: str, size_mib: int) -> None:
    bench.device("a", size_mib)
    bench.device("b", size_mib)
    plan = bench.build(text)
    file = bench.write(plan, "data", 8)
    before = file.read_bytes()
    assert sum(bench.resident_bytes(path) for path in _copies(plan, "data")) > 0

    bench.cool(plan)

    assert [bench.resident_bytes(path) for path in _copies(plan, "data")] == [0] * len(_copies(plan, "data"))
    assert file.read_bytes() == before
    assert open_layout.busy_with(plan, bench.host) == ()


def test_a_layer_outside_the_package_is_built(bench: Bench) -> None:
    """The layer `tests/unit/layers/toy/ext2.py` shows that adding a layer takes only one new file."""
    bench.device("a", 64)
    with toy_layers():
        plan = bench.build("a | ext2 noatime")
    file = bench.write(plan, "data", 8)
    bench.cool(plan)
    assert bench.resident_bytes(file) == 0
    assert open_layout.stored_per_leaf(plan, bench.host)["a"] >= 8 * _MIB


def test_a_bare_device_drops_caches_too(bench: Bench) -> None:
    """Buffered reads of a device node fill its page cache.

    After caches have been dropped, the same read comes from the device again.
    """
    device = bench.device("a", 64)
    plan = bench.build("a")
    assert plan.volume == device
    read = ("dd", f"if={device.path}", "of=/dev/null", "bs=1M", "count=8", "status=none")
    sectors = []
    for _ in range(2):
        before = _sectors_read(bench)
        bench.host.run(read, timeout_s=30)
        sectors.append(_sectors_read(bench) - before)
        bench.cool(plan)
    assert min(sectors) >= 8 * _MIB // 512


def _sectors_read(bench: Bench) -> int:
    return int(bench.host.read(bench.volumes["a"].leaves[0].counter).split()[2])


def _copies(plan: tree.TreePlan, name: str) -> list[Path]:
    """Return the paths of a file in the layout and in each branch, because each has its own pages in the cache."""
    shown = [Path(entry.volume.path) / name for entry in (plan.top, *plan.top.inputs) if not entry.volume.is_block]
    return [path for path in shown if path.exists()]


@pytest.mark.parametrize("text", ["btrfs raid1 a b", "btrfs raid0 a b", "btrfs raid10 a b"])
def test_btrfs_stores_the_same_on_both_devices(bench: Bench, text: str) -> None:
    bench.device("a", 200)
    bench.device("b", 200)
    plan = bench.build(text)
    bench.write(plan, "data", 8)
    bench.cool(plan)
    stored = open_layout.stored_per_leaf(plan, bench.host)
    assert stored == {"a": stored["b"], "b": stored["b"]}
    assert sum(stored.values()) == 8 * _MIB * tree.write_factor(plan.top.node)


def test_mergerfs_stores_on_the_branch_that_holds_the_file(bench: Bench) -> None:
    bench.device("a", 64)
    bench.device("b", 128)
    plan = bench.build("mergerfs (a | ext4) (b | ext4) category.create=mfs")
    bench.write(plan, "data", 8)
    bench.cool(plan)
    stored = open_layout.stored_per_leaf(plan, bench.host)
    assert stored["a"] == 0
    assert stored["b"] == pytest.approx(8 * _MIB, rel=0.01)


@pytest.mark.parametrize(("on_each", "branches_used"), [(False, 1), (True, 2)])
def test_mergerfs_preserves_paths_so_each_branch_has_the_directory(
    bench: Bench, on_each: bool, branches_used: int
) -> None:
    bench.device("a", 64)
    bench.device("b", 64)
    plan = bench.build("mergerfs (a | ext4) (b | ext4)")
    for path in tree.branches(plan) if on_each else [plan.volume.path]:
        (Path(path) / "files").mkdir()
    for number in range(4):
        bench.write(plan, f"files/{number}", 8)
    stored = open_layout.stored_per_leaf(plan, bench.host)
    assert sum(count > 0 for count in stored.values()) == branches_used


def test_an_existing_directory_is_not_changed(bench: Bench) -> None:
    data = bench.folder / "data"
    data.mkdir()
    (data / "mine").write_text("keep me")
    bench.directory(data)
    plan = bench.build(f"dir {data}")
    file = bench.write(plan, "a file", 8)
    assert bench.resident_bytes(file) > 0
    bench.cool(plan)
    assert bench.resident_bytes(file) == 0
    assert open_layout.stored_per_leaf(plan, bench.host) == {"disk": 8 * _MIB}
    assert bench.tear_down() == ()
    assert [entry.name for entry in data.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("text", "size_mib", "share"),
    [
        ("a | ext4", 64, 0.75),
        ("a | ext4", 600, 0.85),
        ("a | xfs", 300, 0.7),
        ("a | xfs", 1200, 0.85),
        ("btrfs a", 114, 0.1),
        ("btrfs a", 1200, 0.8),
        ("btrfs raid1 a b", 200, 0.7),
        ("btrfs raid0 a b", 200, 1.4),
        ("btrfs single a b", 300, 1.6),
        ("mergerfs (a | ext4) (b | ext4)", 64, 1.5),
    ],
)
def test_the_estimated_capacity_fits_and_is_close(bench: Bench, text: str, size_mib: int, share: float) -> None:
    """fallocate allocates as much space as writing the data would, but without writing it."""
    bench.device("a", size_mib)
    bench.device("b", size_mib)
    plan = bench.build(text)
    sizes = {"a": size_mib * _MIB, "b": size_mib * _MIB}
    assert plan.volume.size_bytes == tree.capacity_bytes(plan.top.node, sizes) > share * size_mib * _MIB
    argv = ("fallocate", "--length", str(tree.largest_file_bytes(plan.top.node, sizes)), f"{plan.volume.path}/full")
    assert bench.host.run(argv, timeout_s=30, check=False).stderr == ""


def test_a_file_system_over_an_old_one(bench: Bench) -> None:
    bench.device("a", 300)
    bench.device("b", 300)
    for text in ("btrfs raid1 a b", "a | ext4", "a | xfs", "btrfs a b", "a | ext4"):
        plan = bench.build(text)
        assert bench.write(plan, "data", 1).stat().st_size == _MIB
        assert bench.tear_down() == ()


def test_a_mount_that_is_briefly_busy(bench: Bench) -> None:
    bench.device("a", 64)
    plan = bench.build("a | ext4")
    file = bench.write(plan, "data", 1)
    holder = ("sh", "-c", 'sh -c "sleep 1 <\\"$0\\"" "$0" >/dev/null 2>&1 &', str(file))
    bench.host.run(holder, timeout_s=10)
    bench.cool(plan)
    assert bench.resident_bytes(file) == 0
