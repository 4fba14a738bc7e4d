"""The targets of jobs on a machine with ZFS, recorded on a real machine (OpenZFS 2.1.11, Linux 6.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from poolproof.evidence.target_facts import MirrorSide, Target, ZfsFacts
from poolproof.foreign.audit.context import read_context
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.job_groups import JobFiles
from poolproof.foreign.lint.targets import TARGET_AT, TargetLookup
from poolproof.layers.zfs_found import STATUS
from poolproof.process import Completed
from tests.unit.foreign.lint.making import job, source
from tests.unit.layers.recorded import RecordedHost
from tests.unit.layers.test_zfs_status import ARCSTATS, PROPERTIES, VOLUME

_MOUNTS = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
25 24 0:5 / /dev rw,nosuid shared:2 - devtmpfs udev rw,size=993444k,nr_inodes=248361,mode=755
61 24 0:46 / /tank rw,relatime shared:31 - zfs tank rw,xattr,noacl
63 24 0:47 / /tank/db rw,relatime shared:32 - zfs tank/db rw,xattr,noacl
70 24 230:0 / /mnt/vm rw,relatime shared:33 - ext4 /dev/zd0 rw
"""
# `zpool status -P -L -i -t` of OpenZFS 2.3.2
_STATUS = """\
  pool: tank
 state: ONLINE
config:

\tNAME           STATE     READ WRITE CKSUM
\ttank           ONLINE       0     0     0
\t  mirror-0     ONLINE       0     0     0
\t    /dev/sda1  ONLINE       0     0     0  (uninitialized)  (untrimmed)
\t    /dev/sdb1  ONLINE       0     0     0  (uninitialized)  (untrimmed)
\tlogs\t
\t  /dev/sdc1    ONLINE       0     0     0  (uninitialized)  (untrimmed)

errors: No known data errors
"""
_DEGRADED = _STATUS.replace("state: ONLINE", "state: DEGRADED").replace("/dev/sdb1  ONLINE ", "/dev/sdb1  OFFLINE")
_FILES = {
    "/proc/self/mountinfo": _MOUNTS,
    "/proc/meminfo": "MemTotal:        2033956 kB\nMemFree:         1511160 kB\nMemAvailable:    1572668 kB\n",
    "/proc/cpuinfo": "processor\t: 0\n\nprocessor\t: 1\n",
    "/proc/filesystems": "nodev\tsysfs\n\text4\nnodev\tzfs\n",
    "/proc/spl/kstat/zfs/arcstats": ARCSTATS,
    "/sys/module/zfs/version": "2.1.11-1+deb12u1\n",
    "/sys/dev/block/230:0/uevent": "MAJOR=230\nMINOR=0\nDEVNAME=zd0\nDEVTYPE=disk\n",
}


def _get(dataset: str) -> tuple[str, ...]:
    return ("zfs", "get", "-H", "-p", "-o", "property,value", "all", dataset)


def _stands(path: str, said: str) -> tuple[tuple[str, ...], str]:
    return ("sh", "-c", TARGET_AT, "sh", path), said


_SAID = dict(
    [
        _stands("/tank/db/a.0.0", "directory\n/tank/db\n"),
        _stands("/mnt/vm/a.0.0", "directory\n/mnt/vm\n"),
        _stands("/dev/zvol/tank/vol", "block special file\n/dev/zd0\n"),
        _stands("/dev/zvol/tank/gone", "directory\n/dev/zvol/tank\n"),
        _stands("/dev/nvme9n1", "directory\n/dev\n"),
        (("realpath", "--canonicalize-existing", "/tank/db"), "/tank/db\n"),
        (("realpath", "--canonicalize-existing", "/mnt/vm"), "/mnt/vm\n"),
        (("/lib/udev/zvol_id", "/dev/zd0"), "tank/vol\n"),
        (("uname", "-sr"), "Linux 6.1.0-41-amd64\n"),
        (("id", "-u"), "0\n"),
        (_get("tank/db"), PROPERTIES),
        (_get("tank/vol"), VOLUME),
        ((*STATUS, "tank"), _STATUS),
        (STATUS, _STATUS),
    ]
)


@dataclass(frozen=True)
class _ZfsHost(RecordedHost):
    """A recorded host on which scripts that look for programs and kernel modules find none."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        check = check and argv[0] != "sh"
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)


_HOST = _ZfsHost(_SAID, _FILES, "far")
_PLACES = TargetLookup(read_context(), _HOST)


def _target(path: str) -> Target:
    target = _PLACES.target(JobFiles((path,), ""))
    assert target is not None
    return target


def test_a_dataset_with_its_properties_the_ram_and_the_arc() -> None:
    target = _target("/tank/db/a.0.0")
    assert (target.file_system, target.record_bytes, target.compression) == ("zfs", 16384, "lz4")
    assert (target.ram_bytes, target.kernel) == (2033956 * 1024, (6, 1))
    assert target.zfs == ZfsFacts(
        version="2.1.11-1+deb12u1", sync="standard", logbias="latency", primarycache="all", dedup="off",
        arc_max_bytes=268435456, has_log=True, pools=("tank",), log_devices=("sdc1",),
        mirrors=((MirrorSide(("sda1",), None, is_file=False), MirrorSide(("sdb1",), None, is_file=False)),),
    )  # fmt: skip


@pytest.mark.parametrize(("path", "file_system"), [("/mnt/vm/a.0.0", "ext4"), ("/dev/zvol/tank/vol", "block device")])
def test_a_volume_as_a_device_and_under_a_file_system(path: str, file_system: str) -> None:
    target = _target(path)
    assert (target.file_system, target.record_bytes, target.compression) == (file_system, 8192, None)
    assert target.zfs is not None
    assert (target.zfs.is_zvol, target.zfs.sync, target.zfs.primarycache) == (True, "always", "metadata")


@pytest.mark.parametrize("path", ["/dev/zvol/tank/gone", "/dev/nvme9n1"])
def test_a_device_that_is_not_there_is_not_the_folder_it_would_be_in(path: str) -> None:
    assert _PLACES.target(JobFiles((path,), "")) is None


def test_flags_go_over_what_the_machine_says() -> None:
    told = TargetLookup(read_context(ram="64G", compression="off"), _HOST).target(JobFiles(("/tank/db/a.0.0",), ""))
    assert told is not None
    assert (told.file_system, told.ram_bytes, told.compression) == ("zfs", 64 * 1024**3, None)


def test_the_machine_sharpens_what_lint_says() -> None:
    text = job("rw=randread bs=4k size=64m direct=1 ioengine=libaio iodepth=8 filename=/tank/db/a.0.0")
    found = {each.rule: each for each in lint(source(text), _PLACES)}
    assert "OpenZFS 2.1 ignores O_DIRECT" in found["zfs-direct-ignored"].message
    assert "16 KiB" in found["recordsize-mismatch"].message
    assert not {each.rule for each in lint(source(text))} & {"zfs-direct-ignored", "recordsize-mismatch"}


@pytest.mark.parametrize("action", ["scrub", "resilver"])
@pytest.mark.parametrize("path", ["/tank/db/a.0.0", "/dev/zvol/tank/vol"])
def test_a_pool_that_scrubs_itself_is_told(action: str, path: str) -> None:
    scan = f"  scan: {action} in progress since Sun Nov 22 21:43:57 2026\n\t9.5G scanned at 1.2G/s\n"
    status = _STATUS.replace("config:", f"{scan}config:")
    host = _ZfsHost({**_SAID, (*STATUS, "tank"): status, STATUS: status}, _FILES, "far")
    text = job(f"rw=randread bs=16k size=64m direct=1 filename={path}")
    found = {each.rule: each.message for each in lint(source(text), TargetLookup(read_context(), host))}
    assert f"a ZFS {action}" in found["background-io"]
    assert "background-io" not in {each.rule for each in lint(source(text), _PLACES)}


@pytest.mark.parametrize("path", ["/tank/db/a.0.0", "/mnt/vm/a.0.0", "/dev/zvol/tank/vol"])
def test_a_pool_without_a_disk_is_degraded(path: str) -> None:
    host = _ZfsHost({**_SAID, (*STATUS, "tank"): _DEGRADED, STATUS: _DEGRADED}, _FILES, "far")
    target = TargetLookup(read_context(), host).target(JobFiles((path,), ""))
    assert target is not None
    (degraded,) = target.degraded
    assert {"tank", "DEGRADED", "(/dev/sdb1)"} <= set(degraded.split())
    assert _target(path).degraded == ()
