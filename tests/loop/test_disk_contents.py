"""A disk that is not empty or is in use is refused, with what was found on it, and no byte of it changes.

Loop devices take the place of disks.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.devices.guard import check_disk
from poolproof.errors import GuardError
from poolproof.facts.block import BlockFacts, block_devices, examine
from poolproof.facts.disk_use import disk_uses
from poolproof.hosts.local import LocalHost
from poolproof.process import Completed
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

HOST = LocalHost()
_SIZE = 128 << 20
_SECTOR = 512


def _write(path: str, at: int, data: bytes) -> None:
    with Path(path).open("r+b") as disk:
        disk.seek(at)
        disk.write(data)


def _gpt_at_the_end(path: str) -> None:
    _write(path, _SIZE - _SECTOR, b"EFI PART" + struct.pack("<IIIIQQ", 0x10000, 92, 0, 0, _SIZE // _SECTOR - 1, 1))


def _partition_table(path: str) -> None:
    entry = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\0\0\0", 2048, 4096)
    _write(path, 446, entry + bytes(48) + b"\x55\xaa")


def _zfs_label(path: str) -> None:
    for at in range(128 << 10, 256 << 10, 1024):  # uberblocks of the first label
        _write(path, at, struct.pack("<QQQ", 0x00BAB10C, 5000, 7))
        _write(path, (256 << 10) + at, struct.pack("<QQQ", 0x00BAB10C, 5000, 7))


def _luks(path: str) -> None:
    _write(path, 0, b"LUKS\xba\xbe\x00\x01" + b"aes".ljust(32, b"\0") + b"xts-plain64".ljust(32, b"\0"))


def _md(path: str) -> None:
    _write(path, 4096, struct.pack("<II", 0xA92B4EFC, 1) + bytes(24) + b"u" * 16 + bytes(96) + struct.pack("<Q", 8))


def _pv(path: str) -> None:
    _write(path, 512, b"LABELONE" + struct.pack("<QII", 1, 0, 32) + b"LVM2 001" + b"a" * 32)


CONTENTS: dict[str, tuple[tuple[str, ...] | Callable[[str], None], str]] = {
    "ext4": (("mkfs.ext4", "-q"), "contains ext4"),
    "btrfs member": (("mkfs.btrfs", "-q"), "contains btrfs"),
    "swap, not in use": (("mkswap",), "contains swap"),
    "partition table": (_partition_table, "contains dos"),
    "GPT backup only": (_gpt_at_the_end, "contains gpt"),
    "member of a stopped array": (_md, "contains linux_raid_member"),
    "LUKS": (_luks, "contains crypto_LUKS"),
    "physical volume": (_pv, "contains LVM2_member"),
    "exported pool": (_zfs_label, "contains zfs_member"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_disk_that_is_not_empty_is_refused_and_not_changed(testbed: Testbed, name: str) -> None:
    make, said = CONTENTS[name]
    with _disk(testbed) as (disk, image):
        if callable(make):
            make(disk.path)
        else:
            testbed.command(*make, disk.path)
        testbed.command("blockdev", "--flushbufs", disk.path)
        before = _content(image)
        _refused(disk, said)
        assert _content(image) == before


def test_an_empty_disk_is_allowed(testbed: Testbed) -> None:
    with _disk(testbed) as (disk, _):
        check_disk(_facts(disk), frozenset({"SN-1"}))


def test_a_disk_for_another_identity_is_refused(testbed: Testbed) -> None:
    with _disk(testbed) as (disk, _), pytest.raises(GuardError, match="--wipe does not name it"):
        check_disk(_facts(disk), frozenset({"SN-2"}))


def test_a_disk_under_a_loop_device_is_refused(testbed: Testbed) -> None:
    with _disk(testbed) as (disk, _):
        upper = testbed.command("losetup", "--find", "--show", "--offset", "1048576", disk.path)
        try:
            _refused(disk, f"backs the loop device {upper}")
        finally:
            testbed.command("losetup", "--detach", upper)


@pytest.mark.parametrize("mode", ["<>", "<"], ids=["for writing", "for reading"])
def test_a_disk_that_a_program_holds_open_is_refused(testbed: Testbed, mode: str) -> None:
    with _disk(testbed) as (disk, _), _open(disk.path, mode) as process:
        _refused(disk, f"is held open by sleep (process {process})")


def test_a_disk_that_is_open_through_another_node_is_refused(testbed: Testbed, tmp_path: Path) -> None:
    """In its jail, a virtual machine opens a disk by a node outside /dev, which may be removed afterwards."""
    with _disk(testbed) as (disk, _):
        node = _other_node(tmp_path / "drive", disk)
        with _open(str(node), "<>") as process:
            _refused(disk, f"is held open by sleep (process {process})")
            node.unlink()
            _refused(disk, f"is held open by sleep (process {process})")


def test_a_disk_under_a_loop_device_is_found_if_its_node_is_gone(testbed: Testbed, tmp_path: Path) -> None:
    """The node can also be in another mount namespace, so its path does not lead to the disk."""
    with _disk(testbed) as (disk, _):
        node = _other_node(tmp_path / "drive", disk)
        upper = testbed.command("losetup", "--find", "--show", str(node))
        try:
            node.unlink()
            _refused(disk, f"backs the loop device {upper}")
            found = disk_uses(WithoutPython(tmp_path), [disk.number])[disk.number]
            assert [use.what for use in found] == [f"backs the loop device {upper}"]
        finally:
            testbed.command("losetup", "--detach", upper)


class WithoutPython(LocalHost):
    """This machine with Perl but without Python."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._programs = path / "programs"
        self._programs.mkdir()
        for name in ("perl", "sh", "find", "timeout", "stat", "grep", "awk", "xargs", "sed"):
            (self._programs / name).symlink_to(str(shutil.which(name)))

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        if argv[0] != "sh":
            return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)
        script = argv[2].replace("PATH=$PATH:/sbin:/usr/sbin", f"PATH={self._programs}")
        return super().run([*argv[:2], script, *argv[3:]], timeout_s=timeout_s, stdin=stdin, check=check)


_OPENED = "file = os.open(sys.argv[1], os.O_RDWR)"
_THREAD = """
import ctypes, mmap, os, sys, threading, time
libc, ready = ctypes.CDLL(None, use_errno=True), threading.Event()
def work():
    {work}
    ready.set()
    time.sleep(60)
threading.Thread(target=work).start()
ready.wait()
print("ready", flush=True)
{end}
"""
_LEADER_ENDS = "os.close(1); libc.syscall(ctypes.c_long({'x86_64': 60}.get(os.uname().machine, 93)), 0)"


@pytest.mark.parametrize(
    ("work", "end", "said"),
    [
        (f"libc.unshare(0x400); {_OPENED}", "time.sleep(60)", "is held open by "),
        (_OPENED, _LEADER_ENDS, "is held open by "),
        (
            f"{_OPENED}; global kept; kept = mmap.mmap(file, 4096); os.closerange(3, 99)",
            _LEADER_ENDS,
            "is mapped into ",
        ),
    ],
    ids=["a thread with files of its own", "the first thread has ended", "mapped, and the first thread has ended"],
)
def test_a_disk_that_only_a_thread_uses_is_refused(testbed: Testbed, work: str, end: str, said: str) -> None:
    script = _THREAD.format(work=work, end=end)
    with _disk(testbed) as (disk, _), _using("python3", "-c", script, disk.path):
        time.sleep(0.2)
        _refused(disk, said)


@pytest.mark.parametrize("how", ["MAP_SHARED", "MAP_PRIVATE"])
def test_a_disk_that_a_program_only_maps_is_refused(testbed: Testbed, tmp_path: Path, how: str) -> None:
    """The program has closed its file descriptors, and the device node in its jail may be removed afterwards."""
    with _disk(testbed) as (disk, _):
        node = _other_node(tmp_path / "drive of a jail", disk)
        with _mapped(disk.path, how) as process:
            _refused(disk, f"is mapped into memory by python3 (process {process})")
        with _mapped(str(node), how) as process:
            node.unlink()
            _refused(disk, f"is mapped into memory by python3 (process {process})")


def test_a_mapped_disk_is_found_by_its_path_if_map_files_cannot_be_followed(testbed: Testbed, tmp_path: Path) -> None:
    """In a container, root lacks the capability to follow the links in /proc/PID/map_files."""
    with _disk(testbed) as (disk, _):
        node = _other_node(tmp_path / 'its "drive"', disk)
        with _mapped(str(node), "MAP_SHARED") as process:
            found = disk_uses(Confined(), [disk.number])
    assert [use.what for use in found[disk.number]] == [f"is mapped into memory by python3 (process {process})"]


class Confined(LocalHost):
    """This machine without CAP_SYS_ADMIN and CAP_CHECKPOINT_RESTORE."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        without = ["setpriv", "--bounding-set=-sys_admin,-checkpoint_restore", "--inh-caps=-all"]
        return super().run([*without, *argv], timeout_s=timeout_s, stdin=stdin, check=check)


def test_a_disk_mounted_where_we_cannot_see_it_is_refused(testbed: Testbed) -> None:
    """As in a container, the mount is in a different namespace, so lsblk does not show it."""
    with _disk(testbed) as (disk, _):
        testbed.command("mkfs.ext4", "-q", disk.path)
        script = 'mount "$1" /mnt && echo ready && exec sleep 60'
        with _using("unshare", "--mount", "sh", "-c", script, "sh", disk.path):
            _refused(disk, "is in use: the kernel refuses to open it exclusively")


def _open(path: str, mode: str) -> AbstractContextManager[int]:
    return _using("sh", "-c", f'exec 9{mode}"$1"; echo ready; exec sleep 60', "sh", path)


def _mapped(path: str, how: str) -> AbstractContextManager[int]:
    script = (
        "import mmap, os, sys, time; file = open(sys.argv[1], 'r+b')\n"
        f"mapped = mmap.mmap(file.fileno(), 4096, mmap.{how}); os.closerange(3, 99)\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    return _using("python3", "-c", script, path)


@contextlib.contextmanager
def _using(*argv: str) -> Iterator[int]:
    """Run a program until it prints `ready`, and kill it at the end. Yields its process ID."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None and program.stdout.read(6) == b"ready\n"
            yield program.pid
        finally:
            program.kill()


def _other_node(path: Path, disk: BlockFacts) -> Path:
    """Create another device node of the disk at this path."""
    os.mknod(path, 0o600 | stat.S_IFBLK, Path(disk.path).stat().st_rdev)
    return path


@contextlib.contextmanager
def _disk(testbed: Testbed) -> Iterator[tuple[BlockFacts, Path]]:
    image = testbed.path / "disk.img"
    testbed.command("truncate", "-s", str(_SIZE), str(image))
    path = testbed.command("losetup", "--find", "--show", str(image))
    try:
        number = testbed.command("lsblk", "--nodeps", "--noheadings", "--output", "MAJ:MIN", path)
        yield BlockFacts(Path(path).name, path, _SIZE, "disk", number=number, serial="SN-1"), image
    finally:
        testbed.command("losetup", "--detach", path)


def _facts(disk: BlockFacts) -> BlockFacts:
    """Return the current facts about a loop device, as if it were a disk with a serial number."""
    (found,) = [each for each in block_devices(HOST, ()) if each.path == disk.path]
    return examine(HOST, [replace(found, kind="disk", serial="SN-1")])[0]


def _refused(disk: BlockFacts, said: str) -> None:
    """Check that the disk is refused for this reason.

    A test that runs at the same time may open the loop device for a moment: losetup opens a free device before it takes
    it.
    """
    until = time.monotonic() + 5
    while True:
        with pytest.raises(GuardError) as caught:
            check_disk(_facts(disk), frozenset({"SN-1"}))
        if "held open by losetup" not in caught.value.message or time.monotonic() > until:
            break
        time.sleep(0.1)
    assert said in caught.value.message and caught.value.hint


def _content(image: Path) -> bytes:
    return hashlib.sha256(image.read_bytes()).digest()
