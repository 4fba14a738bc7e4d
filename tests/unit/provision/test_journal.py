"""The journal survives a crash at any byte, and never loses a change that was made."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolproof.errors import RunError
from poolproof.layers.zfs_commands import UndoVdevs
from poolproof.provision.journal import Journal
from poolproof.steps import Step
from poolproof.undos import Undo, UndoDaemon, UndoMount, UndoPrograms, UndoTree

UNDOS: tuple[Undo, ...] = (
    UndoMount("/mnt/a b", lazy=True),
    UndoDaemon("/run/a.pid", "/run/a.sock"),
    UndoPrograms(("fio", "sh"), "/run/a/"),
    UndoTree("/var/tmp/poolproof-1"),
    UndoVdevs("tank", (("/dev/a", "/dev/b"), ("/dev/c",)), "/run/note"),
)


def step(number: int) -> Step:
    return Step(f"change {number}", ("true", str(number)), UNDOS[number % len(UNDOS)])


def test_standing_changes_come_back_newest_first_with_their_undos(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for number in range(4):
        journal.record(step(number))
    journal.mark_undone(journal.outstanding()[1])
    again = Journal(tmp_path / "journal.jsonl")
    assert [change.title for change in again.outstanding()] == ["change 3", "change 1", "change 0"]
    assert [change.undo for change in again.outstanding()] == [UNDOS[3], UNDOS[1], UNDOS[0]]


def test_a_step_without_undo_is_not_written_down(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(Step("look", ("true",)))
    assert journal.outstanding() == ()
    assert not (tmp_path / "journal.jsonl").exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 2000))
def test_a_file_cut_off_anywhere_gives_a_prefix_and_takes_new_lines(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    journal = Journal(path)
    for number in range(5):
        journal.record(step(number))
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    kept = [change.title for change in reversed(Journal(path).outstanding())]
    assert kept == [f"change {number}" for number in range(whole[:cut].count(b"\n"))]
    after = Journal(path)
    after.record(Step("later", ("true",), UNDOS[0]))
    assert [change.title for change in reversed(Journal(path).outstanding())] == [*kept, "later"]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).record(step(0))
    path.write_bytes(b"rubbish\n" + path.read_bytes())
    with pytest.raises(RunError, match="line 1, is damaged"):
        Journal(path)


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).record(step(0))
    path.write_bytes(path.read_bytes().replace(b"change 0", b"change \xff"))
    with pytest.raises(RunError, match="line 1, is damaged"):
        Journal(path)
