"""Every layer that needs a kernel of its own, in the lab: built, written to, cooled, counted, undone.

The lab is started for these tests and removed after them. POOLPROOF_LAB=NAME uses one that runs already and has the
disks a to e of 1 GiB (`poolproof lab start NAME -d a=file:1G … -d e=file:1G`). A trial takes a minute or two under
emulation, so each row is a technology or a kind of vdev, not an option.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.campaign.model import Device, LoopFile
from poolproof.errors import BuildError, HostError
from poolproof.evidence.model import Target
from poolproof.hosts.base import Host
from poolproof.lab import link, standing
from poolproof.lab.build import built
from poolproof.lab.start import LabRequest, start
from poolproof.layers import open_layout

from .layer_bench import LayerBench

pytestmark = pytest.mark.timeout(1800)

_MIB = 1024**2
_NAMES = "abcde"
_WRITTEN_MIB = 24


@pytest.fixture(scope="module")
def machine() -> Iterator[Host]:
    given = os.environ.get("POOLPROOF_LAB")
    if given:
        with link.reached(standing.find(given)) as host:
            yield host
        return
    try:
        image = built("2.1")
    except HostError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    disks = tuple(Device(name, LoopFile(1024 * _MIB)) for name in _NAMES)
    name = f"layers-{secrets.token_hex(3)}"
    request = LabRequest(name, "2.1", image, disks, 2048 * _MIB, 2, owner=standing.this_process())
    lab = start(request, lambda _line: None)
    try:
        with link.reached(lab) as host:
            yield host
    finally:
        standing.remove_named(name)


@pytest.fixture
def bench(machine: Host, tmp_path: Path) -> Iterator[LayerBench]:
    made = LayerBench(machine, {name: f"/dev/disk/by-id/scsi-0LAB_file_{name}" for name in _NAMES}, tmp_path)
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
        ("zfs mirror a b log (c | luks) cache d arc_max=256M | zvol 400M volblocksize=16k | ext4", {"a": 1, "b": 1}),
        ("zfs a | zvol 400M", None),
        ("a | luks sector-size=4096 | ext4", {"a": 1}),
        ("md raid0 a b | ext4", {"a": 0.5, "b": 0.5}),
        ("md raid1 a b bitmap=none | ext4", {"a": 1, "b": 1}),
        ("md raid5 a b c bitmap=internal | ext4", {"a": 0.5, "b": 0.5, "c": 0.5}),
        ("lvm linear a b | ext4", {"a": 0.5, "b": 0.5}),
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
    ],
)
def test_every_kind_of_vdev_is_what_zpool_takes(bench: LayerBench, text: str) -> None:
    plan = bench.build(text)
    assert "ONLINE" in bench.sh("zpool list -H -o health")
    bench.cool(plan)
    assert open_layout.stored_per_leaf(plan, bench.host).keys() == set(_NAMES[: len(plan.leaves)])


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
    core = bench.build("zfs a | zvol 400M | ext4")
    written = bench.write(core, _WRITTEN_MIB)
    for text in ("zfs a log (b | luks) cache c | zvol 400M | ext4", "zfs a log mirror b c | zvol 400M | ext4"):
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
