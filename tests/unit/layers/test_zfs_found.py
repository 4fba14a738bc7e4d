"""Pools that poolproof did not build, as listed by `zpool status -P -L -i -t`."""

import pytest

from poolproof.layers.zfs_found import FoundPool, parse_status

# the vdevs of each pool, below the header and the pool's own row
_MIRROR = """\
\t  mirror-0     DEGRADED     0     0     0
\t    /dev/sda1  ONLINE       0     0     0  (uninitialized)  (untrimmed)
\t    /dev/sdb1  OFFLINE      0     0     0  (uninitialized)  (untrimmed)
"""
_ALL = """\
\t  raidz2-0       ONLINE       0     0     0
\t    /dev/sda     ONLINE       0     0     0
\t    /dev/sdb     ONLINE       0     0     0
\t    replacing-2  DEGRADED     0     0     0
\t      1234567    UNAVAIL      0     0     0  was /dev/sdc1
\t      /dev/sdd   ONLINE       0     0     0  (resilvering)
\t    /dev/sde     ONLINE       0     0     0
\tspecial\t
\t  mirror-1       ONLINE       0     0     0
\t    /dev/sdf     ONLINE       0     0     0
\t    /dev/sdg     ONLINE       0     0     0
\tlogs\t
\t  mirror-2       ONLINE       0     0     0
\t    /dev/sdh     ONLINE       0     0     0
\t    /dev/sdi     ONLINE       0     0     0
\tcache
\t  /dev/sdj       ONLINE       0     0     0
\tspares
\t  /dev/sdk       AVAIL
"""
_FILES = "\t  /srv/a.img  ONLINE       0     0     0\n\t  /dev/sdb  ONLINE       0     0     0\n"
_DRAID = """\
\t  draid1:2d:4c:1s-0  ONLINE       0     0     0
\t    /dev/sda         ONLINE       0     0     0
\t    /dev/sdb         ONLINE       0     0     0
\t    /dev/sdc         ONLINE       0     0     0
\t    /dev/sdd         ONLINE       0     0     0
"""


def _pool(vdevs: str, state: str = "ONLINE") -> FoundPool:
    other = "  pool: a\n state: ONLINE\nconfig:\n\n\tNAME STATE\n\ta ONLINE\n\t  /dev/sdz ONLINE 0 0 0\n\n"
    text = f"  pool: tank\n state: {state}\nconfig:\n\n\tNAME  STATE\n\ttank  {state}  0  0  0\n{vdevs}\nerrors: none\n"
    return parse_status(other + text)[1]


@pytest.mark.parametrize(
    ("vdevs", "disks"),
    [
        (_MIRROR, ["sda1"]),
        (_ALL, ["sda", "sdb", "sdd", "sde", "sdf", "sdg", "sdh", "sdi", "sdj"]),
        (_FILES, []),
        (_DRAID, ["sda", "sdb", "sdc", "sdd"]),
    ],
)
def test_the_disks_of_a_pool_are_counted_unless_a_vdev_is_a_file(vdevs: str, disks: list[str]) -> None:
    assert list(_pool(vdevs).disks) == disks


def test_the_vdevs_of_a_pool_are_in_their_sections() -> None:
    pool = _pool(_ALL, "DEGRADED")
    assert [(vdev.name, vdev.section) for vdev in pool.vdevs] == [
        ("raidz2-0", ""), ("mirror-1", "special"), ("mirror-2", "logs"), ("/dev/sdj", "cache"), ("/dev/sdk", "spares")
    ]  # fmt: skip
    assert pool.devices_of("logs") == ("sdh", "sdi")
    assert [vdev.parity for vdev in pool.of("")] == [2]
    (degraded,) = pool.degraded
    assert {"tank", "DEGRADED", "(1234567)"} <= set(degraded.split())


@pytest.mark.parametrize(
    ("vdevs", "factors"),
    [(_MIRROR, [1.0]), (_ALL, [4 / 3, 2.0, 2.0, 1.0, 1.0]), (_FILES, [1.0, 1.0]), (_DRAID, [1.5])],
)
def test_write_amplification_without_the_missing_disks(vdevs: str, factors: list[float]) -> None:
    assert [vdev.write_factor for vdev in _pool(vdevs).vdevs] == pytest.approx(factors)


def test_no_pools() -> None:
    assert parse_status("no pools available\n") == ()
