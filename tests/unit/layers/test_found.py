"""Directories on storage that poolproof did not build: btrfs in sysfs, a pool, and md and LVM arrays."""

from pathlib import Path

import pytest

from poolproof.evidence.model import Expected
from poolproof.evidence.target_facts import Target
from poolproof.facts.disk_state import BELOW, degraded_arrays
from poolproof.hosts.local import LocalHost
from poolproof.layers import open_layout
from poolproof.layers.btrfs import SYSFS
from poolproof.layers.directory import FLUSH
from poolproof.layers.layer_catalogue import device_under
from poolproof.layers.tree import expected
from poolproof.layers.zfs_found import STATUS
from tests.golden import Message

from .ground import plan
from .recorded import RecordedHost
from .test_zfs_status import ARCSTATS, PROPERTIES, get

_MOUNTS = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
61 24 0:46 / /srv/pool rw,relatime shared:31 - zfs tank/data rw,xattr,noacl
62 24 0:47 / /srv/btrfs rw,relatime shared:32 - btrfs /dev/sdb rw,space_cache=v2
"""
_STATUS = """\
  pool: tank
 state: DEGRADED
config:

\tNAME           STATE     READ WRITE CKSUM
\ttank           DEGRADED     0     0     0
\t  mirror-0     DEGRADED     0     0     0
\t    /dev/sdb1  ONLINE       0     0     0
\t    /dev/sdc1  OFFLINE      0     0     0
\t    /dev/sdd1  ONLINE       0     0     0
\tlogs\t
\t  /dev/sde1    ONLINE       0     0     0

errors: No known data errors
"""
_SYSFS = "uuid b07f-1\ndisk sdb\ndisk sdc\nmissing 0\nmissing 1\nmissing 0\nnodesize 32768\nprofile raid1\n"
_FILES = {
    "/proc/self/mountinfo": _MOUNTS,
    "/sys/module/zfs/version": "2.3.2-2~bpo12+2\n",
    "/proc/spl/kstat/zfs/arcstats": ARCSTATS,
}
_HOST = RecordedHost(
    {
        (*STATUS, "tank"): _STATUS,
        get("tank/data"): f"{PROPERTIES}direct\tstandard\nobjsetid\t54\n",
        ("realpath", "--canonicalize-existing", "/srv/pool"): "/srv/pool\n",
        ("realpath", "--canonicalize-existing", "/srv/btrfs"): "/srv/btrfs\n",
        ("realpath", "/dev/sdb"): "/dev/sdb\n",
        ("sh", "-c", SYSFS, "sh", "sdb"): _SYSFS,
    },
    _FILES,
)


def _described(text: str) -> tuple[Target, Expected]:
    planned = plan(text, host=_HOST)
    found = open_layout.expected_below(planned, _HOST)
    return open_layout.describe(planned, _HOST, Target("?")), expected(planned.top.node, {}, found)


def test_a_directory_on_a_pool_has_the_state_and_version_of_the_pool(message: Message) -> None:
    target, on_leaves = _described("dir /srv/pool")
    (degraded,) = target.degraded
    assert {"tank", "DEGRADED", "(/dev/sdc1)"} <= set(message(degraded).split())
    assert (target.record_bytes, target.compression) == (16384, "lz4")
    assert target.zfs is not None
    assert (target.zfs.version, target.zfs.direct, target.zfs.sync) == ("2.3.2-2~bpo12+2", "standard", "standard")
    assert (target.zfs.pools, target.zfs.objsets, target.zfs.log_devices) == (
        ("tank",),
        ("tank/objset-0x36",),
        ("sde1",),
    )
    assert on_leaves == Expected(2.0, commit_factor=1.0)


@pytest.mark.parametrize(
    ("path", "names"), [("/srv/pool", ["sdb1", "sdd1", "sde1"]), ("/srv/btrfs", ["sdb", "sdc"])], ids=["pool", "btrfs"]
)
def test_the_disks_below_a_directory(path: str, names: list[str]) -> None:
    assert [below.device for below in device_under(_HOST, path)] == names


_JOURNALS = """\
70 24 7:1 / /ext rw,relatime - ext4 /dev/loop1 rw,data=ordered
71 24 8:17 / /inner rw,relatime - ext4 /dev/sdb1 rw
72 24 259:3 / /long rw,relatime - ext4 /dev/nvme10n1p12 rw
73 24 7:2 / /xfs rw,relatime - xfs /dev/loop2 rw,inode64,logdev=/dev/mapper/vg-log,noquota
74 24 7:3 / /plain rw,relatime - xfs /dev/loop3 rw,inode64,noquota
75 24 9:0 / /array rw,relatime - xfs /dev/md0 rw,logdev=/dev/sdx1
"""
_WITH_JOURNALS = RecordedHost(
    {
        **{
            ("realpath", "--canonicalize-existing", path): f"{path}\n"
            for path in ("/ext", "/inner", "/long", "/xfs", "/plain", "/array")
        },
        ("realpath", "/dev/mapper/vg-log"): "/dev/dm-3\n",
        ("realpath", "/dev/sdx1"): "/dev/sdx1\n",
    },
    {
        "/proc/self/mountinfo": _JOURNALS,
        "/sys/dev/block/7:1/uevent": "MAJOR=7\nDEVNAME=loop1\n",
        "/sys/dev/block/8:17/uevent": "DEVNAME=sdb1\n",
        "/sys/dev/block/259:3/uevent": "DEVNAME=nvme10n1p12\n",
        "/sys/dev/block/7:2/uevent": "DEVNAME=loop2\n",
        "/sys/dev/block/7:3/uevent": "DEVNAME=loop3\n",
        "/sys/dev/block/9:0/uevent": "DEVNAME=md0\n",
        "/sys/fs/ext4/loop1/journal_task": "700\n",
        "/sys/fs/ext4/sdb1/journal_task": "701\n",
        "/sys/fs/ext4/nvme10n1p12/journal_task": "702\n",
        "/proc/700/comm": "jbd2/loop4\n",
        "/proc/701/comm": "jbd2/sdb1-8\n",
        "/proc/702/comm": "jbd2/nvme10n1p1\n",
        "/sys/class/block/loop4/dev": "7:4\n",
        "/sys/class/block/nvme10n1p1/dev": "259:1\n",
    },
)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/ext", ["loop1", "loop4"]),
        ("/inner", ["sdb1"]),
        ("/long", ["nvme10n1p12"]),  # the kernel has cut off the name of the thread
        ("/xfs", ["loop2", "dm-3"]),
        ("/plain", ["loop3"]),
        ("/array", ["md0", "sdx1"]),
    ],
)
def test_a_journal_on_a_device_of_its_own_is_counted_too(path: str, names: list[str]) -> None:
    """A sync waits for the journal: with the journal in RAM, the latency of syncs was `sound`."""
    assert [below.device for below in device_under(_WITH_JOURNALS, path)] == names


def test_a_directory_on_btrfs_without_a_disk_is_degraded(message: Message) -> None:
    target, on_leaves = _described("dir /srv/btrfs")
    (degraded,) = target.degraded
    assert "b07f-1" in message(degraded).split()
    assert target.tree_block_bytes == 32768
    assert on_leaves == Expected(1.0)


def test_a_union_of_directories_knows_both() -> None:
    target, on_leaves = _described("mergerfs (dir /srv/pool) (dir /srv/btrfs)")
    assert len(target.degraded) == 2
    assert on_leaves == Expected(1.0, commit_factor=1.0)


def test_arrays_below_a_mapping_are_degraded(message: Message) -> None:
    mdstat = "md0 : active raid1 sda1[0]\n      1046528 blocks super 1.2 [2/1] [U_]\n"
    said = {
        ("sh", "-c", BELOW, "sh", "dm-3"): "dm-3\nmd0p1\nmd0\nsda1\nsda\n",
        ("sh", "-c", BELOW, "sh", "dm-4"): "dm-4\nsdx\n",
        ("dmsetup", "status", "--target", "raid"): (
            "vg-data: 0 204800 raid raid1 2 AD 204800/204800 idle 0 0 -\nvg-ok: 0 9 raid raid1 2 AA 9/9 idle 0 0 -\n"
        ),
    }
    names = {f"/sys/class/block/dm-{n}/dm/name": name for n, name in ((3, "crypt\n"), (4, "vg-data\n"), (5, "vg-ok\n"))}
    host = RecordedHost(said, {"/proc/mdstat": mdstat, **names})
    ((array,), (volume,)) = (degraded_arrays(host, [name]) for name in ("dm-3", "dm-4"))
    assert message(array).startswith("md0 ")
    assert "vg-data" in message(volume).split()
    assert degraded_arrays(host, ["dm-5"]) == ()


@pytest.mark.parametrize(
    ("kind", "source", "synced"),
    [
        ("zfs", "tank/data", "tank"),
        ("zfs", "my pool", "my pool"),
        ("zfs", "tank[/srv]", "tank"),
        ("ext4", "/dev/sda1", ""),
        ("ext4", "/dev/mapper/vg-zd0", ""),
    ],
)
def test_a_directory_on_a_pool_is_written_out_past_the_intent_log(
    tmp_path: Path, kind: str, source: str, synced: str
) -> None:
    """Only the directory's own pool is synced. The test uses substitutes for the programs."""
    (step,) = plan("dir /srv/pool").flush
    assert step.argv[:3] == ("sh", "-c", FLUSH)
    answer = f'case $3 in FSTYPE) echo "{kind}";; SOURCE) echo "{source}";; esac'
    for name, script in (("findmnt", answer), ("sync", "true"), ("zpool", f'echo "$1 $2" >{tmp_path}/zpool.log')):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    LocalHost().run(["env", f"PATH={tmp_path}:/bin:/usr/bin", "sh", "-c", FLUSH, "sh", "/srv"], timeout_s=30)
    log = tmp_path / "zpool.log"
    assert (log.read_text() if log.exists() else "") == (f"sync {synced}\n" if synced else "")
