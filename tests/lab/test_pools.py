"""Tests of pools: every kind of vdev on partitions, the ARC limit, a busy pool, and a run killed during a change."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.errors import BuildError
from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.lab.reach import reach_host
from poolproof.layers import open_layout
from poolproof.layers.directory import FLUSH
from poolproof.layers.layer_catalogue import describe_found, device_under, expected_found, storage_at

from .layer_bench import LabFacts, LayerBench, facts_of
from .machine import Machine

BOTH = pytest.mark.zfs("2.1", "2.3")
_MIB = 1024**2
_WRITTEN_MIB = 8
_HELD_MIB = 4
_METADATA_MIB = 8
"""More than an idle machine needs. On a busy one, the same data takes more transaction groups, each with metadata."""
_COLD = 0.85
"""The minimum share of reads from the disks after caches are dropped.

It is not 1, because udev reads the beginning of each new block device.
"""


@pytest.fixture(scope="session")
def testbed(lab: Machine) -> Iterator[LabFacts]:
    disks = {name: f"/dev/disk/by-id/{lab.record.disks[name]}" for name in "abcde"}
    with reach_host(f"lab:{lab.name}") as host:
        yield facts_of(host, disks)


@pytest.fixture
def bench(testbed: LabFacts, tmp_path: Path) -> Iterator[LayerBench]:
    made = LayerBench(testbed, tmp_path)
    try:
        yield made
    finally:
        left = made.tear_down()
    assert [f"{entry.change.title}: {entry.reason}" for entry in left] == []
    assert made.traces() == []
    made.wipe()


@pytest.fixture(scope="module")
def partitions(lab: Machine) -> Iterator[dict[str, str]]:
    """Return partitions, keyed by name.

    zpool uses partitions as they are, whereas it first partitions a whole disk.
    """
    disks = [f"/dev/disk/by-id/{lab.record.disks[name]}" for name in "de"]
    split = "; ".join(f"printf ',100M\\n,100M\\n,100M\\n' | sfdisk --quiet {disk}" for disk in disks)
    named = {f"p{number}": f"{disks[number // 3]}-part{number % 3 + 1}" for number in range(6)}
    there = " && ".join(f"[ -b {path} ]" for path in named.values())
    lab.ask(f"{split}; for n in $(seq 60); do {there} && break; sleep 1; done; udevadm settle")
    yield named
    lab.ask(f"wipefs --all --quiet {' '.join(named.values())}; wipefs --all --quiet {' '.join(disks)}; udevadm settle")


@BOTH
@pytest.mark.parametrize(
    ("text", "seen", "written"),
    [
        ("zfs raidz2 p0 p1 p2 p3 log p4", (r"raidz2-0\s+ONLINE", r"logs\s+\S+_e-part2\s+ONLINE"), ("p0 p1 p2 p3", 0.5)),
        ("zfs raidz3 p0 p1 p2 p3 p4", (r"raidz3-0\s+ONLINE",), ("p0 p1 p2 p3 p4", 0.5)),
        ("zfs draid1:1d:3c:1s p0 p1 p2", (r"draid1:1d:3c:1s-0", r"spares\s+draid1-0-0\s+AVAIL"), ("p0 p1 p2", 0.66)),
        (
            "zfs -f mirror p0 p1 special p2 dedup p3 spare p4",
            (r"special\s+\S+_d-part3", r"dedup\s+\S+_e-part1", r"spares\s+\S+_e-part2\s+AVAIL"),
            ("p0 p1", 1),
        ),
        ("zfs p0 | zvol 48M sparse volblocksize=128k", (r"d-part1\s+ONLINE",), ("p0", 1)),
    ],
    ids=["raidz2", "raidz3", "draid", "special", "zvol"],
)
def test_every_kind_of_vdev_over_partitions(
    bench: LayerBench, partitions: dict[str, str], text: str, seen: tuple[str, ...], written: tuple[str, float]
) -> None:
    bench.use(partitions)
    plan = bench.build(text)
    status = bench.sh("zpool status -P")
    for pattern in seen:
        assert re.search(pattern, status), status
    before = bench.moved()
    summed = bench.write(plan, _WRITTEN_MIB)
    wrote = {name: write - before[name][1] for name, (_, write) in bench.moved().items()}
    members, part = written
    for name in members.split():
        # at most twice, because synced data may be written to the intent log first
        assert part * _WRITTEN_MIB <= wrote[name] / _MIB <= 2 * part * _WRITTEN_MIB + _METADATA_MIB, wrote
    bench.cool(plan)
    before = bench.moved()
    assert bench.checksum(plan, _WRITTEN_MIB) == summed
    assert sum(read - before[name][0] for name, (read, _) in bench.moved().items()) >= _COLD * _WRITTEN_MIB * _MIB
    stored = open_layout.stored_per_leaf(plan, bench.host)
    assert stored.keys() == {leaf.name for leaf in plan.leaves}


@BOTH
def test_a_pool_is_described_and_the_arc_limit_is_restored(lab: Machine, bench: LayerBench) -> None:
    parameter = "cat /sys/module/zfs/parameters/zfs_arc_max; grep -w c_max /proc/spl/kstat/zfs/arcstats"
    before = bench.sh(f"modprobe zfs; {parameter}")
    plan = bench.build("zfs a log b recordsize=16k compression=zstd-3 ashift=12 sync=always encryption=on arc_max=128M")
    written = bench.write(plan, _HELD_MIB)
    bench.cool(plan)
    assert (open_layout.cached_bytes(plan, bench.host) or 0) < _HELD_MIB * _MIB / 4
    assert bench.checksum(plan, _HELD_MIB) == written
    assert (open_layout.cached_bytes(plan, bench.host) or 0) >= 0.9 * _HELD_MIB * _MIB
    told = open_layout.describe(plan, bench.host, Target("zfs"))
    assert "aes-256-gcm" in bench.sh("zfs get -H -o value encryption")
    assert (told.record_bytes, told.compression, told.alignment_bytes) == (16384, "zstd-3", 4096)
    assert told.zfs is not None
    assert (told.zfs.sync, told.zfs.has_log, told.zfs.has_cache) == ("always", True, False)
    assert told.zfs.arc_max_bytes == 128 * _MIB
    assert (told.zfs.version or "").startswith(lab.record.series)
    assert bench.tear_down() == ()
    assert bench.sh(parameter) == before


@BOTH
def test_an_existing_directory_has_the_state_and_disks_of_its_pool(lab: Machine, bench: LayerBench) -> None:
    disks = {name: f"/dev/disk/by-id/{lab.record.disks[name]}" for name in "abc"}
    bench.sh(f"zpool create -f -m /found found mirror {disks['a']} {disks['b']} log {disks['c']}")
    try:
        bench.sh(f"zpool offline found {disks['b']}")
        storage = storage_at(bench.host, "/found")
        assert storage is not None
        target = describe_found(bench.host, storage, Target("zfs"))
        assert [text.partition(" (")[0] for text in target.degraded] == ["the pool found is DEGRADED"]
        assert target.zfs is not None
        assert (target.zfs.version or "").startswith(lab.record.series)
        assert (target.zfs.pools, len(target.zfs.log_devices)) == (("found",), 1)
        assert expected_found(bench.host, storage) == Expected(1.0, commit_factor=1.0)
        assert len(device_under(bench.host, "/found")) == 2
        before = bench.moved()
        bench.sh(f"head -c {_WRITTEN_MIB}M /dev/urandom >/found/data")
        bench.host.run(("sh", "-c", FLUSH, "sh", "/found"), timeout_s=120)
        assert bench.moved()["a"][1] - before["a"][1] >= _WRITTEN_MIB * _MIB
    finally:
        bench.sh("zpool destroy found; umount /found 2>/dev/null; rmdir /found; true")


@BOTH
def test_a_busy_pool_is_a_clear_error(bench: LayerBench) -> None:
    plan = bench.build("zfs a")
    holder = f"cd {plan.volume.path} && {{ sleep 600 >/dev/null 2>&1 </dev/null & echo $!; }}"
    pid = bench.sh(holder).strip()
    try:
        with pytest.raises(BuildError, match="busy"):
            bench.cool(plan)
    finally:
        bench.sh(f"kill {pid}")


@pytest.mark.parametrize("last", ["attach", "detach"])
def test_a_run_killed_while_a_pool_changes_leaves_nothing(bench: LayerBench, last: str) -> None:
    pool = bench.build("zfs mirror (a | luks) b | zvol 100M | ext4")
    bench.change_until(pool, "zfs mirror (a | luks) (c | luks) | zvol 100M | ext4", last)
    bench.reopen_journal()
    assert bench.tear_down() == ()
    assert bench.traces() == []
    bench.renew()
