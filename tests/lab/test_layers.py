"""Every layer that needs a kernel of its own, in the lab: built, written to, cooled, counted, undone.

The lab is started for these tests and removed after them. POOLPROOF_LAB=NAME uses one that runs already and has the
disks a to e of 320 MiB (`poolproof lab start NAME -d a=file:320M … -d e=file:320M`). A trial takes a minute or two
under emulation, so each row is a technology or a kind of vdev, not an option.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.campaign.model import Device, LoopFile
from poolproof.errors import BuildError
from poolproof.evidence.account import Window
from poolproof.evidence.levels import levels_of
from poolproof.evidence.model import Target
from poolproof.evidence.sampler import counter_paths, read_now
from poolproof.lab import link, standing
from poolproof.lab.build import built
from poolproof.lab.start import LabRequest, start
from poolproof.layers import open_layout
from poolproof.layers.counted import places_of

from .layer_bench import LabGround, LayerBench, ground_of

pytestmark = pytest.mark.timeout(1800)

_MIB = 1024**2
_NAMES = "abcde"
_WRITTEN_MIB = 12
_DISK_MIB = 320


@pytest.fixture(scope="module")
def ground() -> Iterator[LabGround]:
    disks = {name: f"/dev/disk/by-id/scsi-0LAB_file_{name}" for name in _NAMES}
    given = os.environ.get("POOLPROOF_LAB")
    if given:
        with link.reached(standing.find(given)) as host:
            yield ground_of(host, disks)
        return
    devices = tuple(Device(name, LoopFile(_DISK_MIB * _MIB)) for name in _NAMES)
    name = f"layers-{secrets.token_hex(3)}"
    # One processor: emulated, each program that starts costs less than with two.
    request = LabRequest(name, "2.1", built("2.1"), devices, 2048 * _MIB, 1, owner=standing.this_process())
    lab = start(request, lambda _line: None)
    try:
        with link.reached(lab) as host:
            yield ground_of(host, disks)
    finally:
        standing.remove_named(name)


@pytest.fixture
def bench(ground: LabGround, tmp_path: Path) -> Iterator[LayerBench]:
    made = LayerBench(ground, tmp_path)
    try:
        yield made
    finally:
        left = made.tear_down()
    assert [f"{entry.change.title}: {entry.reason}" for entry in left] == []
    assert made.traces() == []


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("zfs a b", {"a": 0.5, "b": 0.5}),
        ("zfs raidz1 a b c encryption=on", {"a": 0.5, "b": 0.5, "c": 0.5}),
        ("zfs mirror a b log (c | luks) cache d arc_max=256M | zvol 100M volblocksize=16k | ext4", {"a": 1, "b": 1}),
        ("zfs a | zvol 100M sparse", None),
        ("a | luks sector-size=4096 key-size=256 | xfs", {"a": 1}),
        ("md raid1 a write-mostly b bitmap=none | ext4", {"a": 1, "b": 1}),
        ("md raid5 a b c bitmap=internal bitmap-chunk=64M | ext4", {"a": 0.5, "b": 0.5, "c": 0.5}),
        ("lvm raid1 a b | ext4", {"a": 1, "b": 1}),
        ("lvm thin a b | ext4", {"a": 0.5, "b": 0.5}),
        ("lvm cache a cachevol b cachemode=writeback | ext4", {"a": 1}),
        ("lvm writecache a cachevol b | ext4", {"a": 1}),
    ],
)
def test_what_was_written_is_read_from_the_disks_again(
    bench: LayerBench, text: str, shares: dict[str, float] | None
) -> None:
    plan = bench.build(text)
    written = bench.write(plan, _WRITTEN_MIB)
    bench.cool(plan)
    before = bench.read_bytes()
    assert bench.checksum(plan, _WRITTEN_MIB) == written
    assert bench.read_bytes() - before >= 0.98 * _WRITTEN_MIB * _MIB
    assert open_layout.busy_with(plan, bench.host) == ()
    if shares is not None:
        stored = open_layout.stored_per_leaf(plan, bench.host)
        for leaf, count in stored.items():
            assert count == pytest.approx(shares.get(leaf, 0) * _WRITTEN_MIB * _MIB, rel=0.25, abs=_MIB), leaf


@pytest.mark.parametrize(
    "text",
    [
        "zfs -f mirror a b special c",
        "zfs mirror a b dedup mirror c d spare e",
        "zfs draid1:1d:3c:1s a b c",
        "zfs raidz2 a b c d log e",
        "zfs raidz3 a b c d e",
    ],
)
def test_every_kind_of_vdev_is_what_zpool_takes(bench: LayerBench, text: str) -> None:
    plan = bench.build(text)
    assert "ONLINE" in bench.sh("zpool list -H -o health")
    bench.cool(plan)
    assert open_layout.stored_per_leaf(plan, bench.host).keys() == set(_NAMES[: len(plan.leaves)])


@pytest.mark.parametrize(
    "text",
    [
        "md raid0 a b",
        "md raid6 a b c d",
        "md raid10 a b c d layout=f2 chunk=256k",
        "lvm linear a b",
        "lvm striped a b stripesize=64k",
        "lvm raid5 a b c",
        "lvm raid6 a b c d e",
        "lvm raid10 a b c d",
    ],
)
def test_every_other_level_is_made_and_in_sync(bench: LayerBench, text: str) -> None:
    plan = bench.build(text)
    bench.cool(plan)
    assert open_layout.busy_with(plan, bench.host) == ()
    size = int(bench.sh(f"blockdev --getsize64 {plan.volume.path}"))
    assert plan.volume.size_bytes is not None
    assert 0.8 * size <= plan.volume.size_bytes <= size


def test_partitions_serve_as_disks(bench: LayerBench) -> None:
    disk = bench.volumes["a"].path
    bench.sh(f"printf ',140M\\n,140M\\n' | sfdisk -q {disk} && udevadm settle --timeout=30")
    try:
        bench.add_disks({"p1": f"{disk}-part1", "p2": f"{disk}-part2"})
        plan = bench.build("zfs mirror p1 p2")
        written = bench.write(plan, _WRITTEN_MIB)
        bench.cool(plan)
        assert bench.checksum(plan, _WRITTEN_MIB) == written
        assert bench.tear_down() == ()
        bench.renew()
    finally:
        bench.sh(f"wipefs -a -q {disk}-part1 {disk}-part2 {disk}")


def test_what_this_release_of_zfs_lacks_is_told_in_its_own_words(bench: LayerBench) -> None:
    """Direct I/O came with 2.3; that 2.1 has no such property only zpool knows."""
    with pytest.raises(BuildError, match=r"property 'direct'|invalid property.*direct"):
        bench.build("zfs a direct=always")


def test_a_pool_tells_of_itself_and_the_arc_gets_its_limit_back(bench: LayerBench) -> None:
    parameter = "cat /sys/module/zfs/parameters/zfs_arc_max; grep -w c_max /proc/spl/kstat/zfs/arcstats"
    before = bench.sh(f"modprobe zfs; {parameter}")
    plan = bench.build("zfs a log b recordsize=16k compression=zstd-3 ashift=12 sync=always arc_max=128M")
    told = open_layout.describe(plan, bench.host, Target("zfs"))
    assert (told.record_bytes, told.compression, told.alignment_bytes) == (16384, "zstd-3", 4096)
    assert told.zfs is not None
    assert (told.zfs.sync, told.zfs.has_log, told.zfs.has_cache) == ("always", True, False)
    assert told.zfs.arc_max_bytes == 128 * _MIB
    assert told.zfs.version is not None
    assert told.zfs.version.startswith("2.1")
    assert bench.tear_down() == ()
    assert bench.sh(parameter) == before


def test_a_busy_pool_is_a_clear_error(bench: LayerBench) -> None:
    plan = bench.build("zfs a")
    holder = f"cd {plan.volume.path} && {{ sleep 600 >/dev/null 2>&1 </dev/null & echo $!; }}"
    pid = bench.sh(holder).strip()
    try:
        with pytest.raises(BuildError, match="busy"):
            bench.cool(plan)
    finally:
        bench.sh(f"kill {pid}")


def test_a_layout_over_the_remains_of_others(bench: LayerBench) -> None:
    for text in ("zfs a b", "md raid1 a b assume-clean", "lvm linear a b", "a | luks", "zfs mirror a b"):
        assert bench.build(text).volume.path
        assert bench.tear_down() == ()
        bench.renew()


def test_a_standing_pool_gets_log_and_cache_devices_and_loses_them(bench: LayerBench) -> None:
    core = bench.build("zfs a | zvol 100M | ext4")
    written = bench.write(core, _WRITTEN_MIB)
    for text in ("zfs a log (b | luks) cache c | zvol 100M | ext4", "zfs a log mirror b c | zvol 100M | ext4"):
        whole = bench.extend(core, text)
        assert "logs" in bench.sh("zpool status")
        bench.cool(whole)
        assert bench.checksum(whole, _WRITTEN_MIB) == written
        assert bench.retract() == ()
        status = bench.sh("zpool status -P")
        assert "logs" not in status
        assert "_file_b" not in status
        assert "_file_c" not in status
    bench.cool(core)
    assert bench.checksum(core, _WRITTEN_MIB) == written


def test_a_standing_pool_gets_a_mirror_and_gives_up_its_first_disk(bench: LayerBench) -> None:
    alone = bench.build("zfs a | zvol 100M | ext4")
    written = bench.write(alone, _WRITTEN_MIB)
    mirrored = bench.change(alone, "zfs mirror a (b | luks) | zvol 100M | ext4")
    assert "resilvered" in bench.sh("zpool status")
    assert open_layout.stored_per_leaf(mirrored, bench.host).keys() == {"a", "b"}
    bench.cool(mirrored)
    moved = bench.change(mirrored, "zfs (b | luks) | zvol 100M | ext4")
    assert "_file_a" not in bench.sh("zpool status -P")
    bench.cool(moved)
    assert bench.checksum(moved, _WRITTEN_MIB) == written
    assert moved.volume.path == alone.volume.path


@pytest.mark.parametrize("last", ["attach", "detach"])
def test_a_run_that_dies_while_a_pool_changes_leaves_nothing(bench: LayerBench, last: str) -> None:
    standing_pool = bench.build("zfs mirror (a | luks) b | zvol 100M | ext4")
    bench.change_until(standing_pool, "zfs mirror (a | luks) (c | luks) | zvol 100M | ext4", last)
    bench.reopen_journal()
    assert bench.tear_down() == ()
    assert bench.traces() == []
    bench.renew()


def test_every_level_is_counted(bench: LayerBench) -> None:
    plan = bench.build("zfs mirror (a | luks) b | zvol 100M volblocksize=16k | ext4")
    places = places_of(plan, bench.host)
    assert [(place.layer, place.depth) for place in places] == [
        *(("zvol", 2), ("dataset", 3), ("zfs", 3), ("luks", 4), ("device", 5), ("device", 4)),
    ]
    paths = counter_paths(plan.leaves, [path for place in places for path in place.counters])
    start = read_now(bench.host, plan.leaves, paths)
    bench.write(plan, _WRITTEN_MIB)
    end = read_now(bench.host, plan.leaves, paths)
    written = _WRITTEN_MIB * _MIB
    levels = levels_of((0, written), places, paths, Window(start, end, end), None)
    found = {(level.layer, level.name): level.write_bytes for level in levels}
    assert [level.layer for level in levels] == ["fio", "zvol", "zfs", "luks", "device", "device"]
    assert found["device", "a"] >= found["luks", plan.top.inputs[0].inputs[0].inputs[0].volume.path] >= written
    assert found["device", "b"] >= written
    assert sum(level.write_bytes for level in levels if level.layer == "zfs") >= 2 * written
    assert open_layout.vdev_uses(plan, bench.host)[0].name == "mirror-0"
