"""Values that are parsed from the output of zpool and zfs."""

import pytest

from poolproof.evidence.target_facts import Target
from poolproof.layers import open_layout
from poolproof.layers.base import DeviceNode, OpenLayer
from poolproof.layers.zfs_status import busy_with, fault_of, module_facts, parse_list

from .ground import MIB, plan
from .recorded import RecordedHost

# `zpool list -v -p` of OpenZFS 2.1.11
LIST = """\
NAME                                   SIZE   ALLOC        FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
poolproof-1ee769e9-bench-zfs     1006632960  634880  1005998080        -         -      0      0   1.00    ONLINE  /var/mnt
  mirror-0                       1006632960  634880  1005998080        -         -      0      0      -    ONLINE
    scsi-0LAB_file_a             1063256064      -      -        -         -      -      -      -    ONLINE
    scsi-0LAB_file_b             1063256064      -      -        -         -      -      -      -    ONLINE
logs                                 -      -      -        -         -      -      -      -  -
  poolproof-1ee769e9-bench-luks  1056964608      0  1006632960        -         -      0      0      -    ONLINE
cache                                -      -      -        -         -      -      -      -  -
  scsi-0LAB_file_d               1063256064   8192  1058525184        -         -      0      0      -    ONLINE
"""  # noqa: E501

# `zpool status -i -t` of the same pool
STATUS = """\
  pool: poolproof-1ee769e9-bench-zfs
 state: ONLINE
config:

\tNAME                             STATE     READ WRITE CKSUM
\tpoolproof-1ee769e9-bench-zfs     ONLINE       0     0     0
\t  mirror-0                       ONLINE       0     0     0
\t    scsi-0LAB_file_a             ONLINE       0     0     0  (uninitialized)  (untrimmed)
\t    scsi-0LAB_file_b             ONLINE       0     0     0  (uninitialized)  (untrimmed)
\tlogs\t
\t  poolproof-1ee769e9-bench-luks  ONLINE       0     0     0  (uninitialized)  (trim unsupported)

errors: No known data errors
"""

# from `zfs get -H -p -o property,value all` of OpenZFS 2.1.11, only the relevant lines
PROPERTIES = """\
type\tfilesystem
recordsize\t16384
compression\tlz4
logbias\tlatency
dedup\toff
sync\tstandard
primarycache\tall
"""
VOLUME = """\
type\tvolume
volsize\t1073741824
volblocksize\t8192
compression\toff
logbias\tthroughput
dedup\toff
sync\talways
primarycache\tmetadata
"""
ARCSTATS = """\
12 1 0x01 123 33456 179338576520 1072051326490
name                            type data
hits                            4    20569
c_max                           4    268435456
size                            4    33594240
data_size                       4    29818880
"""
POOL = "poolproof-r1-mix-zfs"
KSTATS = "/proc/spl/kstat/zfs/arcstats"


def get(dataset: str) -> tuple[str, ...]:
    return ("zfs", "get", "-H", "-p", "-o", "property,value", "all", dataset)


def test_the_rows_of_a_pool() -> None:
    rows = [(row.depth, row.name, row.section, row.allocated_bytes) for row in parse_list(LIST)]
    assert rows == [
        (0, "poolproof-1ee769e9-bench-zfs", "", 634880),
        (1, "mirror-0", "", 634880),
        (2, "scsi-0LAB_file_a", "", None),
        (2, "scsi-0LAB_file_b", "", None),
        (1, "poolproof-1ee769e9-bench-luks", "logs", 0),
        (1, "scsi-0LAB_file_d", "cache", 8192),
    ]


@pytest.mark.parametrize("text", ["", "no pools available\n"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="ALLOC"):
        parse_list(text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", None),
        ("  scan: resilver in progress since Sat Nov 21 22:00:00 2026", "resilver in progress since Sat Nov 21"),
        ("  scan: resilvered 1.00G in 00:00:04 with 0 errors on Sat Nov 21 22:00:04 2026", None),
        ("  scan: scrub paused since Sat Nov 21 22:00:00 2026", None),
        ("remove: Evacuation of sdb in progress since Sat Nov 21 22:00:00 2026", "Evacuation of sdb in progress"),
        ("remove: Removal of vdev 1 copied 24.1M in 0h0m, completed on Sat Nov 21 22:00:00 2026", None),
        ("\t  sdb  ONLINE  0  0  0  (45% initialized, started at Sat Nov 21)  (untrimmed)", "45% initialized"),
        ("\t  sdb  ONLINE  0  0  0  (100% trimmed, completed at Sat Nov 21)", None),
    ],
)
def test_what_a_pool_is_busy_with(line: str, said: str | None) -> None:
    found = busy_with(STATUS.replace(" state: ONLINE\n", f" state: ONLINE\n{line}\n"))
    assert found is None if said is None else found is not None and found.startswith(said)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("ONLINE\n", None),
        (None, None),
        ("SUSPENDED\n", f"ZFS suspended the pool {POOL}"),
        ("DEGRADED\n", f"the pool {POOL} is DEGRADED"),
    ],
)
def test_what_is_wrong_with_a_pool(state: str | None, said: str | None) -> None:
    path = f"/proc/spl/kstat/zfs/{POOL}/state"
    fault = fault_of(POOL, RecordedHost(files={} if state is None else {path: state}))
    assert (fault is None) if said is None else (fault is not None and fault.message.startswith(said))


def rows_of(*vdevs: tuple[str, int]) -> RecordedHost:
    lines = ["NAME SIZE ALLOC FREE", f"{POOL} 100 100 100", *(f"  {name} 100 {count} 100" for name, count in vdevs)]
    return RecordedHost({("zpool", "list", "-v", "-p", POOL): "\n".join(lines)})


@pytest.mark.parametrize(
    ("text", "vdevs", "held"),
    [
        ("zfs a b", [("a", 30), ("b", 90)], {"a": 1, "b": 3}),
        ("zfs mirror a b", [("mirror-0", 40)], {"a": 4, "b": 4}),
        ("zfs mirror a b mirror c d", [("mirror-0", 40), ("mirror-1", 120)], {"a": 1, "b": 1, "c": 3, "d": 3}),
        ("zfs raidz1 a b c", [("raidz1-0", 90)], {"a": 2, "b": 2, "c": 2}),
        ("zfs raidz2 a b c d e f", [("raidz2-0", 90)], dict.fromkeys("abcdef", 1)),
        ("zfs draid1:1d:3c:1s a b c", [("draid1:1d:3c:1s-0", 90)], {"a": 8 / 3, "b": 8 / 3, "c": 8 / 3}),
        ("zfs a log b cache c copies=2", [("a", 30)], {"a": 8, "b": 0, "c": 0}),
        ("zfs a b", [("a", 0), ("b", 0)], {"a": 0, "b": 0}),
    ],
)
def test_bytes_stored_on_each_leaf(text: str, vdevs: list[tuple[str, int]], held: dict[str, float]) -> None:
    built = plan(text)
    node = built.top.node
    assert not isinstance(node, DeviceNode)
    inputs = [below.volume for below in built.top.inputs]
    found = node.layer.stored(OpenLayer(node.spec, built.volume, inputs, rows_of(*vdevs)), 4 * MIB)
    assert dict(zip(held, found, strict=True)) == pytest.approx({name: count * MIB for name, count in held.items()})


def test_the_target_of_a_dataset() -> None:
    files = {"/sys/module/zfs/version": "2.1.11-1+deb12u1\n", KSTATS: ARCSTATS}
    host = RecordedHost({get(POOL): PROPERTIES}, files)
    told = open_layout.describe(plan("zfs mirror a b log c ashift=12"), host, Target("zfs"))
    assert (told.record_bytes, told.compression, told.alignment_bytes) == (16384, "lz4", 4096)
    zfs = told.zfs
    assert zfs is not None
    assert (zfs.version, zfs.direct, zfs.sync, zfs.logbias) == ("2.1.11-1+deb12u1", None, "standard", "latency")
    assert (zfs.has_log, zfs.has_cache, zfs.is_zvol, zfs.arc_max_bytes) == (True, False, False, 268435456)
    assert zfs.pools == (POOL,)


@pytest.mark.parametrize(
    ("settings", "shortest_s"),
    [
        ({"l2arc_feed_again": "1", "l2arc_feed_min_ms": "200", "l2arc_feed_secs": "1"}, 0.2),
        ({"l2arc_feed_again": "0", "l2arc_feed_min_ms": "200", "l2arc_feed_secs": "1"}, 1.0),
        ({}, None),
    ],
)
def test_how_often_a_cache_device_is_fed(settings: dict[str, str], shortest_s: float | None) -> None:
    given = {**settings, "l2arc_write_boost": "67108864"}
    files = {f"/sys/module/zfs/parameters/{name}": f"{value}\n" for name, value in given.items()}
    found = module_facts(RecordedHost({}, files))
    assert (found.l2arc_shortest_s, found.l2arc_boost_bytes_per_s) == (shortest_s, 67108864)


def test_the_target_of_a_zvol() -> None:
    host = RecordedHost({get(POOL): PROPERTIES, get(f"{POOL}/mix-zvol"): VOLUME})
    told = open_layout.describe(plan("zfs a cache b | zvol 1G | ext4"), host, Target("ext4"))
    assert (told.file_system, told.record_bytes, told.compression) == ("ext4", 8192, None)
    assert told.zfs is not None
    assert (told.zfs.is_zvol, told.zfs.sync, told.zfs.primarycache) == (True, "always", "metadata")
    assert told.zfs.has_cache
    assert told.zfs.pools == (POOL,)


@pytest.mark.parametrize(
    ("text", "imported", "held"),
    [
        ("zfs a | zvol 1G | ext4", [POOL], 29818880),
        ("zfs a | zvol 1G | ext4", ["rpool", POOL], None),
        ("zfs a | zvol 1G | ext4", ["rpool"], None),
        ("mergerfs (zfs a) (zfs b)", [f"{POOL}-2", f"{POOL}-1"], 29818880),
        ("mergerfs (zfs a) (zfs b)", [f"{POOL}-1", f"{POOL}-2", "poolproof-r2-mix-zfs"], None),
        ("zfs a | zvol 1G | zfs", [f"{POOL}-1", f"{POOL}-2"], 29818880),
    ],
)
def test_the_arc_is_counted_only_if_no_other_pools_are_imported(
    text: str, imported: list[str], held: int | None
) -> None:
    """All pools share the ARC, so it is counted once, and only if no pools of others are imported."""
    asked = ("sh", "-c", 'cd "$0" && for pool in */; do echo "${pool%/}"; done', KSTATS.rpartition("/")[0])
    host = RecordedHost({asked: "".join(f"{pool}\n" for pool in imported)}, {KSTATS: ARCSTATS})
    assert open_layout.cached_bytes(plan(text), host) == held
