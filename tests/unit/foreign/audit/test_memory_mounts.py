"""Directories and devices that commands in a text put into memory, and those in the output of mount and df."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_FIO = "$ fio --name=a --filename={file} --rw=read --bs=128k --direct=1 --size=6g --runtime=45 --time_based --numjobs=1"
_RESULT = """\
a: (g=0): rw=read, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=psync, iodepth=1
fio-3.36
Starting 1 process
a: (groupid=0, jobs=1): err= 0: pid=99: Sun Feb  1 10:10:10 2026
  read: IOPS=12.9k, BW=1612MiB/s (1690MB/s)(70.8GiB/45001msec)
    clat (usec): min=70, max=900, avg=76.10, stdev= 6.00
"""


def _verdict(above: str, file: str) -> str:
    (found,) = audit_text("post", f"{above}\n{_FIO.format(file=file)}\n{_RESULT}", Context())
    return found.verdict


@pytest.mark.parametrize(
    ("command", "file", "verdict"),
    [
        ("# mount -t tmpfs -o size=7g tmpfs /srv/fast/", "/srv/fast/x", "refuted"),
        ("$ sudo mount -o size=7g -t ramfs none /srv/fast && cd /srv/fast", "/srv/fast/x", "refuted"),
        ("# mkfs.ext4 /dev/ram0; mount /dev/ram0 /srv/fast", "/srv/fast/x", "refuted"),
        ("# mdconfig -a -t malloc -s 7g -u 12", "/dev/md12", "refuted"),
        ("# mdconfig -u md12 -a -t swap -s 7g", "/dev/md12", "refuted"),
        ("# mdconfig -a -t vnode -f /tank/img -u 12", "/dev/md12", "unproven"),
        ("# mdconfig -a -t malloc -s 7g -u 1", "/dev/md12", "unproven"),
        ("# mount -t tmpfs -o size=7g tmpfs /srv/fast", "/srv/faster/x", "unproven"),
        (
            "# mount -t tmpfs -o size=7g tmpfs /srv/fast\n# mount /dev/sdq1 /srv/fast/disk",
            "/srv/fast/disk/x",
            "unproven",
        ),
        ("# mount -t tmpfs tmpfs /srv/fast\n# mount /dev/sdq1 /srv/fast", "/srv/fast/x", "unproven"),
        ("# mount /dev/sdq1 /srv/fast\n# mount -t tmpfs tmpfs /srv/fast", "/srv/fast/x", "refuted"),
        ("# mount -t tmpfs tmpfs /srv/fast\n# umount -l /srv/fast; fsck /dev/sdq1", "/srv/fast/x", "unproven"),
        ("# mount -t xfs /dev/sdq1 /srv/fast", "/srv/fast/x", "unproven"),
        ("# umount -t tmpfs /srv/fast", "/srv/fast/x", "unproven"),
    ],
)
def test_a_command_puts_the_files_into_memory(command: str, file: str, verdict: str) -> None:
    assert _verdict(command, file) == verdict


@pytest.mark.parametrize(
    ("listed", "verdict"),
    [
        ("tmpfs on /scratch type tmpfs (rw,nosuid,size=8g)", "suspect"),
        ("tmpfs           7.8G   12K  7.8G   1% /scratch", "suspect"),
        ("tmpfs  tmpfs    7.8G   12K  7.8G   1% /scratch", "suspect"),
        ("/dev/ram1 on /scratch type ext4 (rw)", "suspect"),
        ("tmpfs on / type tmpfs (rw)\n/dev/sdq1 on /scratch type xfs (rw)", "unproven"),
        ("tmpfs           7.8G   12K  7.8G   1% /scratch2", "unproven"),
    ],
)
def test_mount_and_df_show_memory_but_cannot_refute(listed: str, verdict: str) -> None:
    assert _verdict(listed, "/scratch/x") == verdict


def test_a_command_below_a_result_does_not_apply_to_it() -> None:
    run = f"{_FIO.format(file='/srv/fast/x')}\n{_RESULT}\n"

    found = audit_text("post", f"{run}\nNow in RAM:\n# mount -t tmpfs tmpfs /srv/fast\n{run}", Context())

    assert [each.verdict for each in found] == ["unproven", "refuted"]
