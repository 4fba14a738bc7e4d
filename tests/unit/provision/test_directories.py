"""A state directory names its owner.

The run's own steps write this name, and it can be read from any host.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import HostError
from poolproof.facts.machine import mark_of
from poolproof.hosts.local import LocalHost
from poolproof.layers.resolve import resolve
from poolproof.process import CommandTimedOut, Completed
from poolproof.provision import directories
from poolproof.provision.apply import apply
from poolproof.provision.directories import (
    FILE,
    StateDirectory,
    StateOwner,
    existing_directory,
    lost,
    name_owner,
    owner_of,
    read_owner,
)
from poolproof.provision.journal import Journal
from poolproof.provision.layout_plan import gather_facts

HOST = LocalHost()


def test_what_a_run_writes_is_read_back(tmp_path: Path) -> None:
    owner = owner_of(tmp_path / "runs with blanks" / "x")
    apply([name_owner(str(tmp_path), owner)], HOST, Journal(tmp_path / "journal.jsonl"), may_overwrite=frozenset())
    assert read_owner(str(tmp_path), HOST) == owner
    assert owner.run == str(tmp_path.resolve() / "runs with blanks" / "x")
    assert owner.machine == mark_of(HOST)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_relative_run_is_named_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert owner_of(Path("runs/x")).run == str(tmp_path.resolve() / "runs/x")


@pytest.mark.parametrize("text", [None, "", '{"run":"/r"', '{"run":"/r","host":"h","machine":"","schema":2}', "[]"])
def test_what_is_no_such_file_names_nobody(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / FILE).write_text(text)
    assert read_owner(str(tmp_path), HOST) is None


def test_a_reader_finds_the_whole_file_or_none(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.part").write_text('{"run":"/r","ho')
    assert read_owner(str(tmp_path), HOST) is None
    step = name_owner(str(tmp_path), StateOwner("/r", "h", ""))
    HOST.run(step.argv, stdin=step.stdin, timeout_s=10)
    assert read_owner(str(tmp_path), HOST) == StateOwner("/r", "h", "")


def test_a_directory_whose_file_system_does_not_answer_is_not_called_missing(tmp_path: Path) -> None:
    class Hung(LocalHost):
        def run(
            self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
        ) -> Completed:
            if argv[:2] == ["stat", "--file-system"]:
                raise CommandTimedOut(argv, timeout_s)
            return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)

    campaign = parse_campaign(f"layouts: {{one: dir {tmp_path}}}\nworkloads: {{r: {{rw: read, size: 1m}}}}", "t")
    node = resolve(campaign.layouts[0].expression, set())
    with pytest.raises(CommandTimedOut):
        gather_facts(Hung(), campaign, [node], str(tmp_path / "state"))


def test_thousands_of_directories_of_another_user_are_read_by_few_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every user can create them in /var/tmp, or next to a FUSE mount of their own.

    A process for each of 30,000 directories exceeded the time limit.
    """
    places, programs, calls = tmp_path / "places", tmp_path / "programs", tmp_path / "calls"
    places.mkdir()
    programs.mkdir()
    counting = programs / "stat"
    counting.write_text(f'#!/bin/sh\necho call >>{calls}\nexec {shutil.which("stat")} "$@"\n')
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    for number in range(1_000):
        (places / f"poolproof-{0xABC00000 + number:08x}").mkdir()
    (places / "poolproof-abcdef12").symlink_to(places)
    (places / "poolproof-abcdef13").write_text("")
    found = [state.path for state in directories.state_directories(HOST, str(places))]
    own = {path for path in found if path.startswith(f"{places}/")}  # other runs on this machine are found too
    assert own == {f"{places}/poolproof-{0xABC00000 + each:08x}" for each in range(1_000)}
    assert 0 < len(calls.read_text().splitlines()) < 20


def test_a_hanging_mount_of_another_user_does_not_prevent_a_run() -> None:
    class Hung(LocalHost):
        def read(self, path: str) -> str:
            return "x /home/ada/poolproof-abcdef12/mnt fuse.x rw 0 0\n" if path == "/proc/self/mounts" else ""

        def run(self, argv: Sequence[str], *, timeout_s: float, **_options: object) -> Completed:
            raise CommandTimedOut(argv, timeout_s)

    warning = directories.crash_warning(Hung())
    assert warning is not None
    assert warning.startswith("warning: the mounts of crashed runs could not be searched for: ")


def test_a_directory_that_may_not_be_accessed_is_not_called_missing() -> None:
    class Closed(LocalHost):
        def run(self, argv: Sequence[str], **_options: object) -> Completed:
            return Completed(tuple(argv), 1, "", f"realpath: {argv[-1]}: Permission denied\n", 0.0)

    with pytest.raises(HostError, match="no permission to access /srv/closed") as refused:
        existing_directory(Closed(), "/srv/closed")
    assert refused.value.hint == "namei -l /srv/closed"


class MountTable(LocalHost):
    """This machine, with these lines as its mount table."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, path: str) -> str:
        return self._text if path == "/proc/self/mounts" else super().read(path)


def test_the_printed_commands_unmount_a_path_with_a_space() -> None:
    """The kernel escapes the space. umount would not find the escaped path, and rm would then empty a bind mount."""
    state = "/var/tmp/poolproof-0badcafe"
    host = MountTable(f"/dev/sda1 / ext4 rw 0 0\n/dev/sda1 {state}/my\\040files ext4 rw 0 0\n")
    found = lost(StateDirectory(state, "root", True, False, None), host, "it has no owner")
    assert f"umount -l '{state}/my files'" in found.next
