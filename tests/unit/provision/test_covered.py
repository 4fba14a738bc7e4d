"""A mount of the run is not unmounted if someone else's mount is over it or inside it."""

from pathlib import Path

import pytest

from poolproof.hosts.local import LocalHost
from poolproof.layers.zfs_commands import UndoPool
from poolproof.provision.covered import covered, replaced
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import Owned

_OTHERS = """\
21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 21 0:5 / /var/tmp/poolproof-0badcafe/mnt/one-ext4-2 rw - tmpfs tmpfs rw
"""
_OWN = "40 21 7:0 / /var/tmp/poolproof-0badcafe/mnt/one-ext4 rw shared:9 - ext4 /dev/loop0 rw\n"
_POINT = "/var/tmp/poolproof-0badcafe/mnt/one-ext4"


class _Mounted(LocalHost):
    def __init__(self, mountinfo: str) -> None:
        self._mountinfo = mountinfo

    def read(self, path: str) -> str:
        assert path == "/proc/self/mountinfo"
        return self._mountinfo


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "damaged\n",
        # /var/tmp is mounted over itself, so the kernel lists the mount under both
        "22 21 253:0 /var/tmp /var/tmp rw shared:1 - ext4 /dev/vda1 rw\n" + _OWN.replace("40 21", "41 22"),
    ],
)
def test_a_mount_of_the_run_alone_is_not_covered(rest: str) -> None:
    assert covered(_POINT, _Mounted(_OTHERS + _OWN + rest)) is None


@pytest.mark.parametrize("order", [1, -1])
def test_a_mount_over_it_is_named(order: int) -> None:
    over = f"50 40 0:6 / {_POINT} rw - tmpfs tmpfs rw\n"
    found = covered(_POINT, _Mounted(_OTHERS + "".join((_OWN, over)[::order])))
    assert found == f"something else is mounted over it; if you don't need that: umount {_POINT}"


def test_a_mount_inside_is_named_with_a_command_that_a_shell_does_not_expand() -> None:
    inside = f"50 40 0:6 / {_POINT}/$(id)\\040x rw - tmpfs tmpfs rw\n"
    found = covered(_POINT, _Mounted(_OTHERS + _OWN + inside))
    assert found == (f"something else is mounted at {_POINT}/$(id) x; if you don't need it: umount '{_POINT}/$(id) x'")


@pytest.mark.parametrize("over", ["", "/inside"])
def test_a_pool_is_not_destroyed_if_something_else_is_mounted_over_its_dataset(tmp_path: Path, over: str) -> None:
    """zpool would unmount what is on top."""
    label, pool = "0badcafe", "poolproof-0badcafe-one-zfs"
    state = f"/var/tmp/poolproof-{label}"
    dataset = f"40 21 0:50 / {state}/mnt/{pool} rw - zfs {pool} rw\n"
    other = f"50 40 0:6 / {state}/mnt/{pool}{over} rw - tmpfs tmpfs rw\n"
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(Step("create the pool", ("zpool", "create"), UndoPool(pool)))
    (left,) = undo_all(journal, _Mounted(_OTHERS + dataset + other), Owned(label, (state,)))
    assert left.is_covered and "something else is mounted" in left.reason


_MOUNT = ("mount", "-t", "ext4", "-o", "noatime", "/dev/zero", _POINT)


@pytest.mark.parametrize(
    ("argv", "is_fuse", "line", "is_own"),
    [
        (_MOUNT, False, "ext4 /dev/zero rw", True),
        (_MOUNT, False, "tmpfs tmpfs rw", False),
        (_MOUNT, False, "ext4 /dev/null rw", False),
        (("mount", "-t", "ext4", "/dev/does-not-exist", _POINT), False, "ext4 /dev/sdb rw", True),
        (("mount", "-t", "ext4", "/dev/../dev/null", _POINT), False, "ext4 /dev/null rw", True),
        (("mount", "-t", "btrfs", "-o", "device=/dev/null", "/dev/zero", _POINT), False, "btrfs /dev/null rw", True),
        (("sh", "-c", "autotierfs", _POINT), True, "fuse.autotierfs autotierfs rw", True),
        (("sh", "-c", "autotierfs", _POINT), True, "ext4 /dev/sdb rw", False),
        (("true",), False, "tmpfs tmpfs rw", True),
    ],
)
def test_a_mount_that_took_the_place_of_the_runs_is_named(
    argv: tuple[str, ...], is_fuse: bool, line: str, is_own: bool
) -> None:
    host = _Mounted(f"{_OTHERS}40 21 7:0 / {_POINT} rw - {line}\n")
    found = replaced(_POINT, argv, host, is_fuse=is_fuse)
    assert (found is None) == is_own
    assert is_own or "is mounted there instead" in str(found)
    assert replaced(_POINT, argv, _Mounted(_OTHERS), is_fuse=is_fuse) is None
