"""If a command outlives the poolproof process that started it, the undo waits for the command, up to a limit."""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from poolproof.hosts.local import LocalHost
from poolproof.provision.journal import Change, Journal
from poolproof.provision.undo import undo_all
from poolproof.provision.unfinished import await_unfinished
from poolproof.steps import Step, daemon
from poolproof.undos import Owned, UndoTree
from tests.golden import Message

HOST = LocalHost()
_MAKE = 'read -r go <"$1" && mkdir "$2"'


class Orphan:
    """A command whose poolproof process was killed. It creates the directory `made` when it may continue."""

    def __init__(self, folder: Path, argv: Sequence[str] = ()) -> None:
        self._gate, self.made = folder / "gate", folder / "poolproof-made"
        os.mkfifo(self._gate)
        self.argv = tuple(argv) or ("sh", "-c", _MAKE, "sh", str(self._gate), str(self.made))
        self.titles: list[str] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        process = subprocess.Popen(self.argv, start_new_session=True)
        try:
            yield
        finally:
            process.kill()
            process.wait(10)

    def told(self, title: str) -> None:
        """Record a message from await_unfinished.

        After the first message, the command may continue, so it ends during the wait.
        """
        self.titles.append(title)
        if title.startswith("waiting for process"):
            self._gate.write_text("go\n")

    def change(self, argv: tuple[str, ...] | None = None) -> Change:
        return Change(1, "make it", argv or self.argv, UndoTree(str(self.made)))


def has_landed(change: Change) -> bool:
    assert isinstance(change.undo, UndoTree)
    return Path(change.undo.path).exists()


def test_a_change_in_the_making_is_waited_for_and_then_undone(tmp_path: Path) -> None:
    orphan, journal = Orphan(tmp_path), Journal(tmp_path / "journal.jsonl")
    journal.record(Step("make it", orphan.argv, UndoTree(str(orphan.made))))
    with orphan.running():
        assert undo_all(journal, HOST, Owned("0badcafe", (str(tmp_path),)), tell=orphan.told) == ()
    assert [title.split()[0] for title in orphan.titles] == ["waiting", "undo:"]
    assert not orphan.made.exists()
    assert journal.outstanding() == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_a_command_of_another_user_is_not_waited_for(tmp_path: Path) -> None:
    argv = ("sleep", f"100{os.getpid()}")
    orphan = Orphan(tmp_path, argv)
    with subprocess.Popen(argv, user=65534, group=65534, extra_groups=[]) as stranger:
        assert await_unfinished([orphan.change()], has_landed, HOST, limit_s=0, tell=orphan.told) == {}
        with orphan.running():
            assert list(await_unfinished([orphan.change()], has_landed, HOST, limit_s=0)) == [1]
        stranger.kill()
    assert orphan.titles == []


def test_a_script_is_known_by_its_own_words_after_its_interpreter(tmp_path: Path) -> None:
    orphan, script = Orphan(tmp_path), tmp_path / "slowly"
    script.write_text(f"#!/bin/sh -e\n{_MAKE}\n")
    script.chmod(0o755)
    argv = ("slowly", *orphan.argv[4:])
    orphan.argv = (str(script), *argv[1:])
    with orphan.running():
        assert await_unfinished([orphan.change(argv)], has_landed, HOST, tell=orphan.told) == {}
    assert orphan.titles and orphan.made.exists()


def test_a_daemon_is_waited_for_after_the_shell_that_started_it(tmp_path: Path) -> None:
    orphan = Orphan(tmp_path)
    with orphan.running():
        change = orphan.change(daemon(orphan.argv, str(tmp_path / "log")))
        assert await_unfinished([change], has_landed, HOST, tell=orphan.told) == {}
    assert orphan.titles and orphan.made.exists()


def test_what_still_runs_at_the_limit_is_named_and_its_change_stays_in_the_journal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    message: Message,
) -> None:
    monkeypatch.setattr("poolproof.provision.unfinished.UNFINISHED_LIMIT_S", 0.2)
    orphan, journal = Orphan(tmp_path), Journal(tmp_path / "journal.jsonl")
    journal.record(Step("make it", orphan.argv, UndoTree(str(orphan.made))))
    with orphan.running():
        (left,) = undo_all(journal, HOST, Owned("0badcafe", (str(tmp_path),)))
    assert (left.change.title, left.can_repeat) == ("make it", True)
    message(re.sub(r"process \d+", "process PID", left.reason))
    assert len(journal.outstanding()) == 1


@pytest.mark.parametrize(
    "argv",
    [("sh", "-c", _MAKE, "sh", "/elsewhere", "/elsewhere/made"), ("no-such-program",), ("sh", "-c", _MAKE)],
    ids=["the same program for somebody else", "another program", "fewer words"],
)
def test_the_process_of_another_is_not_waited_for(tmp_path: Path, argv: tuple[str, ...]) -> None:
    orphan = Orphan(tmp_path)
    with orphan.running():
        assert await_unfinished([orphan.change(argv)], has_landed, HOST, limit_s=0, tell=orphan.told) == {}
    assert orphan.titles == []


def test_a_daemon_that_stands_is_not_waited_for(tmp_path: Path) -> None:
    orphan = Orphan(tmp_path)
    stands = Change(1, "serve", orphan.argv, UndoTree(str(tmp_path)))
    with orphan.running():
        assert await_unfinished([stands], lambda _change: True, HOST, limit_s=0) == {}
