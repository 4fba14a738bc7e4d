"""`clean` and `resume` refuse a run that another user could have written, and a record not written by poolproof."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from poolproof.devices.disk import UndoClaim
from poolproof.errors import BuildError, PoolproofError, RunError
from poolproof.files import access_lists
from poolproof.layers.zfs_commands import UndoPool
from poolproof.measure.cleanup import clean
from poolproof.measure.session import reopen_session
from poolproof.provision.directories import FILE, owner_of
from poolproof.provision.journal import Journal
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import Undo, UndoTree
from tests.golden import Message
from tests.unit.access_lists import NFS4_OF_MODE_755, OWNER, allow_to_write, as_root, nfs4_list
from tests.unit.results.compare.making import RECORD

LABEL = "0badcafe"
STRANGER = 12345


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A crashed run that has left its state directory behind."""
    state = tmp_path.resolve() / "work" / f"poolproof-{LABEL}"
    state.mkdir(parents=True)
    record = replace(RECORD, label=LABEL, state_dir=str(state), ram_dir=f"/dev/shm/poolproof-{LABEL}", facts={})
    made = RunDirectory.create(tmp_path / "runs" / "a", record.campaign, record)
    Journal(made.journal_path).record(Step("make it", ("true",), UndoTree(str(state))))
    return made


def _refused(run: RunDirectory, match: str) -> None:
    with pytest.raises(RunError, match=match):
        clean(run.path, print)
    with pytest.raises(RunError, match=match), reopen_session(run, print, on=None):
        raise AssertionError("resumed")
    assert next(run.path.parent.parent.glob("work/poolproof-*")).is_dir()


def test_a_run_of_ones_own_is_cleaned_up(run: RunDirectory) -> None:
    assert clean(run.path, print) == 1
    assert not Path(run.record().state_dir).exists()


@as_root
@pytest.mark.parametrize("name", [".", "run.json", "journal.jsonl", ".."])
def test_a_file_or_folder_of_another_user_is_refused(run: RunDirectory, name: str) -> None:
    os.chown(run.path / name, STRANGER, STRANGER)
    _refused(run, f"user {STRANGER}")


@pytest.mark.parametrize("name", [".", "run.json", "journal.jsonl", ".."])
def test_a_file_or_folder_that_others_can_write_is_refused(run: RunDirectory, name: str) -> None:
    (run.path / name).chmod(0o777 if name.startswith(".") else 0o666)
    _refused(run, "other users")


@pytest.mark.parametrize("name", [".", "run.json", "journal.jsonl", ".."])
def test_what_an_access_control_list_lets_others_write_is_refused(run: RunDirectory, name: str) -> None:
    allow_to_write(run.path / name, STRANGER)
    _refused(run, "other users")


@pytest.mark.parametrize("name", [".", "run.json", "journal.jsonl", ".."])
@pytest.mark.parametrize(
    ("value", "said"),
    [(nfs4_list(OWNER, (0, 0, 2, "1234@example.org")), "allows 1234@example.org to write"), (b"", "can't interpret")],
)
def test_what_an_nfs4_list_lets_others_write_is_refused(
    run: RunDirectory, name: str, value: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attribute in the namespace `user` takes the place of `system.nfs4_acl`, which only NFS has."""
    monkeypatch.setattr(access_lists, "NFS4", "user.nfs4_acl")
    monkeypatch.setattr(access_lists, "LISTS", ("user.nfs4_acl",))
    os.setxattr(run.path / name, "user.nfs4_acl", value)
    _refused(run, said)
    os.setxattr(run.path / name, "user.nfs4_acl", NFS4_OF_MODE_755)
    assert clean(run.path, print) == 1


def test_a_journal_with_more_changes_than_a_run_leaves_behind_is_refused(run: RunDirectory) -> None:
    line = run.journal_path.read_bytes().splitlines()[0]
    lines = (line.replace(b'"number":1', b'"number":%d' % number) for number in range(1, 10_002))
    run.journal_path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(RunError, match="lists 10001 changes"):
        clean(run.path, print)
    assert Path(run.record().state_dir).is_dir()


def test_a_parent_with_the_sticky_bit_is_no_danger(run: RunDirectory) -> None:
    run.path.parent.chmod(0o1777)
    assert clean(run.path, print) == 1


def test_a_linked_journal_is_refused(run: RunDirectory, tmp_path: Path) -> None:
    run.journal_path.rename(tmp_path / "elsewhere")
    run.journal_path.symlink_to(tmp_path / "elsewhere")
    _refused(run, "regular file")


@pytest.mark.parametrize("name", ["trials.jsonl", "journal.jsonl", "run.json", ".lock"])
def test_a_file_that_is_a_hard_link_is_refused(run: RunDirectory, tmp_path: Path, name: str) -> None:
    """An archive can contain hard links to files outside the run directory."""
    (run.path / name).touch()
    (tmp_path / "precious").hardlink_to(run.path / name)
    before = (tmp_path / "precious").read_bytes()
    _refused(run, "several names")
    assert (tmp_path / "precious").read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(label="../../x"),
        lambda record: record.update(label=""),
        lambda record: record.update(label="0badbeef"),
        lambda record: record.update(state_dir="/"),
        lambda record: record.update(state_dir=f"/home/../x/poolproof-{LABEL}"),
        lambda record: record.update(ram_dir="/home"),
        lambda record: record.update(ram_dir=f"/root/poolproof-{LABEL}"),
        lambda record: record.update(ram_dir=f"/dev/shm/x/poolproof-{LABEL}"),
        lambda record: record.update(state_dir=f"/dev/shm/poolproof-{LABEL}"),
        lambda record: record.update(state_dir=f"/var/tmp/a b/poolproof-{LABEL}"),
        lambda record: record.update(state_dir=f"/{'a/' * 3000}poolproof-{LABEL}"),
    ],
)
def test_a_forged_record_is_refused(run: RunDirectory, change: Callable[[dict[str, object]], None]) -> None:
    path = run.path / "run.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    _refused(run, "poolproof run")


@pytest.mark.parametrize("place", ["precious", f"work/poolproof-{LABEL}/link/precious"])
def test_refused_entries_are_not_said_to_succeed_later(run: RunDirectory, tmp_path: Path, place: str) -> None:
    state = Path(run.record().state_dir)
    (state / FILE).write_bytes(msgspec.json.encode(owner_of(run.path)))
    (state / "link").symlink_to(tmp_path)
    Journal(run.journal_path).record(Step("forged", ("true",), UndoTree(str(tmp_path.resolve() / place))))
    with pytest.raises(BuildError, match="forged: not performed: ") as caught:
        clean(run.path, print)
    assert caught.value.hint is not None
    assert caught.value.hint.endswith(f"less {run.journal_path}")


@as_root
def test_a_state_directory_of_another_user_is_left_alone(run: RunDirectory, message: Message) -> None:
    state = Path(run.record().state_dir)
    os.chown(state, STRANGER, STRANGER)
    with pytest.raises(PoolproofError, match="another user") as refused:
        clean(run.path, print)
    message(str(refused.value).replace(str(state), "STATE"))
    assert state.is_dir()


@pytest.mark.parametrize("still_exists", [True, False])
def test_nothing_is_removed_in_a_work_directory_that_others_can_replace(
    run: RunDirectory, tmp_path: Path, still_exists: bool
) -> None:
    state = Path(run.record().state_dir)
    if not still_exists:  # the other user may put it back during the cleanup
        state.rmdir()
    (tmp_path / "work").chmod(0o777)
    _refused_at_work(run)
    assert state.is_dir() == still_exists
    (tmp_path / "work").chmod(0o1777)
    assert clean(run.path, print) == 1


@as_root
def test_nothing_is_removed_in_a_work_directory_of_another_user(run: RunDirectory, tmp_path: Path) -> None:
    os.chown(tmp_path / "work", STRANGER, STRANGER)
    _refused_at_work(run)
    assert Path(run.record().state_dir).is_dir()


def _refused_at_work(run: RunDirectory) -> None:
    with pytest.raises(RunError, match=r"/work .*nothing is removed") as caught:
        clean(run.path, print)
    assert caught.value.hint
    with pytest.raises(RunError, match="nothing is removed"), reopen_session(run, print, on=None):
        raise AssertionError("resumed")


def test_a_state_directory_behind_a_link_is_left_alone(run: RunDirectory, tmp_path: Path, message: Message) -> None:
    state, precious = Path(run.record().state_dir), tmp_path / "precious"
    state.rmdir()
    precious.mkdir()
    state.symlink_to(precious)
    with pytest.raises(PoolproofError, match="another directory") as refused:
        clean(run.path, print)
    message(str(refused.value).replace(str(state), "STATE"))
    assert precious.is_dir()


def _forged(run: RunDirectory, undo: Undo, *, number: int = 99, title: str = "forged", host: str = "") -> None:
    line = {"line": "change", "number": number, "title": title, "argv": ["true"], "schema": 1, "host": host}
    text = msgspec.json.encode({**line, "undo": undo})
    with run.journal_path.open("ab") as file:
        file.write(text + b"\n")


def test_a_null_character_in_a_journal_is_an_error(run: RunDirectory) -> None:
    note = f"{run.record().state_dir}/note"
    Path(note).with_name(FILE).write_bytes(msgspec.json.encode(owner_of(run.path)))
    Path(note).write_text("a\0b\n")
    _forged(run, UndoClaim("a\0b", "/dev/null", 1, "", "", "", note, LABEL))
    with pytest.raises(BuildError, match="null character"):
        clean(run.path, print)


def test_a_null_character_in_the_owner_of_a_state_directory_is_no_owner(run: RunDirectory) -> None:
    owner = owner_of(run.path)
    file = Path(run.record().state_dir, FILE)
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(owner, run="a\0b")))
    assert clean(run.path, print) == 1


@pytest.mark.parametrize("name", ["journal.jsonl", "run.json"])
def test_an_integer_that_could_not_be_written_again_is_damage(run: RunDirectory, name: str) -> None:
    path = run.path / name
    key = '"number":1' if name == "journal.jsonl" else '"seed": 7'
    text = path.read_text()
    assert key in text
    path.write_text(text.replace(key, f"{key}{'0' * 19}"))
    with pytest.raises(RunError, match="larger than 2"):
        clean(run.path, print)


def test_a_journal_that_names_many_hosts_is_refused(run: RunDirectory, message: Message) -> None:
    for number in range(100):
        _forged(run, UndoTree(run.record().state_dir), number=number, host=f"host{number}")
    with pytest.raises(RunError, match="100 hosts") as refused:
        clean(run.path, print)
    message(refused.value)


@pytest.mark.slow
def test_a_long_journal_leads_to_a_short_message(run: RunDirectory) -> None:
    for number in range(200):
        undo = UndoPool("x" * 100_000) if number % 2 else UndoTree("/" + "a/" * 100_000)
        _forged(run, undo, number=number, title="t" * 100_000)
    with pytest.raises(BuildError, match="more") as caught:
        clean(run.path, print)
    assert len(str(caught.value)) < 200_000


def test_a_file_that_a_refused_entry_names_is_not_opened(run: RunDirectory, tmp_path: Path) -> None:
    """Opening a FIFO or a device has effects. Here, a program waits for a reader of the FIFO."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", 'echo >"$1"', "sh", str(fifo)]) as writer:
        line = {"line": "change", "number": 99, "title": "forged", "schema": 1}
        line["argv"] = ["sh", "-c", 'echo >"$1"', "sh", str(fifo)]
        line["undo"] = {"kind": "daemon", "pidfile": str(fifo), "marker": "/"}
        with run.journal_path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        try:
            with pytest.raises(BuildError, match="not performed"):
                clean(run.path, print)
            assert writer.poll() is None
        finally:
            writer.kill()
