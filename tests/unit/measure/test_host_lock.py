"""A second run on the same machine is refused, unless both may share the machine and use nothing in common."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import HostError
from poolproof.facts.block import BlockFacts
from poolproof.measure.host_lock import host_locked, uses_of
from tests.golden import Message

from ..command import Command

_HOLD = """
import sys, time
from poolproof.measure.host_lock import host_locked
with host_locked(sys.argv[2:], share=sys.argv[1] == "share"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POOLPROOF_LOCKS", str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.mark.parametrize("command", ["run", "resume", "demo"])
def test_every_command_that_measures_has_the_option_that_the_message_names(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--share-host" in Command(monkeypatch, capsys)(command, "--help")[1]


def test_a_second_run_is_refused_until_the_first_one_dies(message: Message) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLD, "alone", "the disk a"], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(HostError, match=f"process {other.pid}") as caught:
                host_locked((), share=False).__enter__()
            assert "--share-host" in caught.value.hint
            message(str(caught.value).replace(str(other.pid), "PID"))
            with pytest.raises(HostError, match=f"the disk a .*process {other.pid}") as caught:
                host_locked({"the disk a"}, share=True).__enter__()
            message(str(caught.value).replace(str(other.pid), "PID"))
            with host_locked({"the disk b"}, share=True):
                pass
        finally:
            other.kill()
            other.wait(10)
    with host_locked({"the disk a"}, share=False):
        pass


def test_a_run_that_does_not_share_is_refused_while_others_share() -> None:
    with host_locked({"the disk a"}, share=True):
        with pytest.raises(HostError, match="is in progress"):
            host_locked({"the disk b"}, share=False).__enter__()
        with host_locked({"the disk b"}, share=True):
            pass
    with host_locked({"the disk b"}, share=False):
        pass


def test_a_lock_of_the_machine_that_another_program_holds_is_reported(locks: Path, message: Message) -> None:
    locks.mkdir()
    with (locks / "poolproof-host").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HostError) as caught:
            host_locked((), share=True).__enter__()
    message(str(caught.value).replace(str(locks), "LOCKS"))
    with host_locked((), share=True):
        pass


def test_a_directory_is_the_same_by_every_path(tmp_path: Path) -> None:
    """The lock depends on the directory's inode, because a bind mount has another path that no link resolves."""
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    paths = [f"the directory {tmp_path}/{each}" for each in ("data", "link", "data/../data")]
    for path in paths:
        with host_locked({paths[0]}, share=True), pytest.raises(HostError, match="another poolproof run uses"):
            host_locked({path}, share=True).__enter__()
    with host_locked(paths, share=True), host_locked({f"the directory {tmp_path}"}, share=True):
        pass


def test_what_runs_must_not_share() -> None:
    text = "devices: {a: {file: 1G}, b: {disk: /dev/disk/by-id/ATA-X}}\nlayouts: {one: a | ext4, two: b | ext4}\n"
    campaign = parse_campaign(f"{text}workloads: {{r: {{rw: read}}}}\n", "c.yaml")
    assert uses_of(campaign, ["/srv"], ()) == {"the disk ata-x", "the directory /srv"}


def test_all_names_of_a_disk_stand_for_the_same_disk() -> None:
    disk = BlockFacts("sdx", "/dev/sdx", 2**30, "disk", serial="S1", by_id=("ata-X_S1",))
    uses: set[str] = set()
    for identity in ("/dev/disk/by-id/ata-X_S1", "ata-x_s1", "S1"):
        text = f"devices: {{b: {{disk: {identity}}}}}\nlayouts: {{two: b | ext4}}\nworkloads: {{r: {{rw: read}}}}\n"
        uses |= uses_of(parse_campaign(text, "c.yaml"), (), (disk,))
    assert uses == {"the disk ata-x_s1"}


def test_a_link_to_a_directory_is_the_same_directory(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    campaign = parse_campaign("layouts: {one: dir /srv}\nworkloads: {r: {rw: read}}\n", "c.yaml")
    paths = [str(tmp_path / "data" / "deep"), str(tmp_path / "link" / "deep"), f"{tmp_path}/data/../link/deep"]
    assert uses_of(campaign, paths, ()) == {f"the directory {tmp_path.resolve()}/data/deep"}


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/passwd"), Path.mkdir])
def test_a_prepared_lock_is_reported(locks: Path, make: Callable[[Path], None]) -> None:
    locks.mkdir()
    make(locks / "poolproof-host")
    with pytest.raises(HostError, match="regular file"):
        host_locked((), share=False).__enter__()


def test_any_user_can_lock_the_file_and_its_content_is_only_a_number(locks: Path) -> None:
    with host_locked((), share=False):
        assert (locks / "poolproof-host").read_text() == f"{os.getpid()}\n"
        assert (locks / "poolproof-host").stat().st_mode & 0o777 == 0o666
