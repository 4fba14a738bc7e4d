"""A real disk that is in use, not empty or not permitted is refused and not changed."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from poolproof.facts.disk_use import disk_uses
from poolproof.hosts.local import LocalHost
from poolproof.process import Completed
from tests.loop.command import Answer, ask
from tests.loop.testbed import Testbed
from tests.unit.docs.pages import documented, keys_of_value

pytestmark = pytest.mark.parallel

_BY_ID = Path("/dev/disk/by-id")
_NAME = "poolproof-test-disk"
_GUARD = 5
_CAMPAIGN = f"""
devices: {{a: {{disk: {_NAME}}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, size: 16m}}}}
"""


@pytest.mark.parametrize("permitted", [(), ("--wipe", _NAME)], ids=["", "with --wipe"])
def test_the_disk_that_this_machine_runs_on(testbed: Testbed, permitted: tuple[str, ...]) -> None:
    """The test only plans the run, so that nothing is lost if the guard fails.

    --dry-run uses the same guard, and changes nothing.
    """
    with _named(_a_mounted_disk(testbed)):
        answer = ask(*testbed.words(testbed.campaign(_CAMPAIGN)), *permitted, "--dry-run")
    _is_refused(testbed, answer)
    assert "is mounted at" in answer.error["message"]
    assert answer.error["hint"].startswith("umount ")


@pytest.mark.parametrize("permitted", [(), ("--wipe", _NAME)], ids=["", "with --wipe"])
def test_a_block_device_with_a_mounted_file_system(testbed: Testbed, permitted: tuple[str, ...]) -> None:
    point = testbed.loop_mount("used", "ext4", "64M")
    (point / "kept").write_text("mine")
    testbed.command("mount", "-o", "remount,ro", str(point))  # ext4 itself goes on writing for a while
    image, device = (
        testbed.path / "used.img",
        testbed.command("findmnt", "--noheadings", "--output", "SOURCE", str(point)),
    )
    before = hashlib.sha256(image.read_bytes()).digest()
    with _named(device):
        answer = ask(*testbed.words(testbed.campaign(_CAMPAIGN)), *permitted)
    _is_refused(testbed, answer)
    assert hashlib.sha256(image.read_bytes()).digest() == before


class _Contained(LocalHost):
    """This machine, seen from a container with its own process IDs."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        inside = ["unshare", "--pid", "--fork", "--mount-proc", *argv]
        return super().run(inside, timeout_s=timeout_s, stdin=stdin, check=check)


def test_in_a_container_no_disk_counts_as_free() -> None:
    (use,) = disk_uses(_Contained(), ["8:0"])["8:0"]
    assert "in a container it cannot see all programs" in use.what


def test_the_list_of_disks_says_who_uses_each(testbed: Testbed) -> None:
    path = _a_mounted_disk(testbed)
    found = ask("devices", "--json").json
    (disk,) = [disk for disk in found["disks"] if disk["path"] == path]
    assert not disk["usable"]
    assert disk["state"].startswith(("mounted at ", "in use as swap"))
    assert disk["hint"].startswith(("umount ", "swapoff "))
    assert keys_of_value(found, free=frozenset({"models"})) <= documented("json.md", "`poolproof devices --json`")
    (line,) = [line for line in ask("devices").out.splitlines() if line.split()[:1] == [path]]
    assert line.endswith(disk["state"])


def _is_refused(testbed: Testbed, answer: Answer) -> None:
    assert answer.code == _GUARD, answer.out + answer.err
    assert _NAME in answer.error["message"]
    assert answer.error["hint"]
    assert not (testbed.runs / "run").exists()
    assert testbed.traces() == []


@contextlib.contextmanager
def _named(device: str) -> Iterator[None]:
    """Give a block device a name in /dev/disk/by-id, as udev does."""
    made = [folder for folder in (_BY_ID, _BY_ID.parent) if not folder.exists()]
    _BY_ID.mkdir(parents=True, exist_ok=True)
    link = _BY_ID / _NAME
    link.symlink_to(device)
    try:
        yield
    finally:
        link.unlink()
        for folder in made:
            folder.rmdir()


def _a_mounted_disk(testbed: Testbed) -> str:
    listing = json.loads(testbed.command("lsblk", "--json", "--output", "PATH,TYPE,MOUNTPOINTS"))
    disks = [
        row
        for row in listing["blockdevices"]
        if row["type"] == "disk" and _mount_points(row) and not row["path"].startswith("/dev/zram")  # of another test
    ]
    assert disks, "this machine shows no disk that is mounted"
    path: str = disks[0]["path"]
    return path


def _mount_points(row: dict[str, Any]) -> list[str]:
    own = [point for point in row["mountpoints"] if point]
    return own + [point for child in row.get("children", []) for point in _mount_points(child)]
