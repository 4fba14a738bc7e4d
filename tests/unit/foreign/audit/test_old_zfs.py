"""Files on a ZFS that ignores direct=1, as programs and commands in the text show it."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_JOB = (
    "fio --name=a --filename={} --rw=randread --bs=8k --size=3g --direct=1 --ioengine=psync --runtime=30 --time_based"
)
_RESULT = """\
a: (groupid=0, jobs=1): err= 0: pid=4242: Sat Jun 12 09:30:00 {}
  read: IOPS=44.1k, BW=345MiB/s (361MB/s)(10.1GiB/30001msec)
    clat (usec): min=18, max=4100, avg=21.90, stdev=6.00
     lat (usec): min=18, max=4101, avg=22.02, stdev=6.01
"""
_LIST = "NAME            USED  AVAIL     REFER  MOUNTPOINT\nvault           900G  2.0T       96K  /vault"


def _is_suspect(above: str, path: str = "/vault/bench/f", year: int = 2023) -> bool:
    (judged,) = audit_text("post", f"{above}\n\n$ {_JOB.format(path)}\n{_RESULT.format(year)}", Context())
    return any(finding.rule == "small-file" and finding.effect == "suspects" for finding in judged.findings)


@pytest.mark.parametrize(
    "shown",
    [
        "vault/bench on /vault/bench type zfs (rw,noatime,xattr)",
        "vault/bench    zfs   3.0T  900G  2.1T  30% /vault/bench",
        "vault/bench  recordsize  16K  local",
        _LIST,
        "# zfs create -o recordsize=16k vault/bench",
        "# zpool create -o ashift=12 vault mirror sdx sdy",
        "  pool: vault\n state: ONLINE",
        "# zfs create -o mountpoint=/vault/bench rpool/x",
    ],
)
def test_small_files_on_an_old_zfs_are_read_through_the_arc_in_spite_of_direct(shown: str) -> None:
    assert _is_suspect(shown)
    assert not _is_suspect(shown, path="/other/f")
    assert not _is_suspect(shown, year=2025)


def test_a_release_takes_precedence_over_the_dates() -> None:
    assert _is_suspect(f"{_LIST}\nzfs-2.1.9-2", year=2025)
    assert _is_suspect(f"{_LIST}\nOpenZFS version: 2.2.7", year=2025)
    assert not _is_suspect(f"{_LIST}\nzfs-kmod-2.3.0-1", year=2024)


def test_no_release_honours_direct_on_a_zvol() -> None:
    assert _is_suspect("", path="/dev/zvol/vault/disk", year=2026)
    assert not _is_suspect("", path="/dev/sdq", year=2026)


@pytest.mark.parametrize(
    ("path", "is_on_zfs"),
    [
        ("/mnt/zfs/f", True),
        ("/srv/zfs-test/f", True),
        ("/zfspool/vm/f", True),
        ("/mnt/notzfs/f", False),
        ("/mnt/zfsend/f", False),
        ("/mnt/zfs-vs-ext4/ext4/f", False),
        ("/mnt/data/zfs", False),
    ],
)
def test_a_directory_can_be_named_after_zfs(path: str, is_on_zfs: bool) -> None:
    assert _is_suspect("", path) is is_on_zfs
    assert not _is_suspect("", path, year=2025)


def test_writes_to_an_old_zfs_are_not_synced_in_spite_of_direct() -> None:
    job = "fio --name=a --filename=/vault/bench/f --rw=randwrite --bs=8k --size=30g --direct=1 --ioengine=psync"
    result = _RESULT.format(2023).replace("  read:", "  write:")

    def is_unsynced(above: str, options: str = "") -> bool:
        (judged,) = audit_text("post", f"{above}\n\n$ {job}{options}\n{result}", Context())
        return any(each.rule == "write-without-sync" and each.effect == "suspects" for each in judged.findings)

    assert is_unsynced(_LIST)
    assert not is_unsynced(_LIST, " --end_fsync=1")
    assert not is_unsynced("")
