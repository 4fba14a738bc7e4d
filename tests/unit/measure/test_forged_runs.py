"""A forged run directory cannot remove what belongs to another run, or a directory that only has a similar name."""

import secrets
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import BuildError, PoolproofError, RunError
from poolproof.hosts.base import Host
from poolproof.measure.cleanup import clean, locked
from poolproof.measure.host_lock import label_locked
from poolproof.measure.session import reopen_session
from poolproof.provision import undo
from poolproof.provision.journal import Journal
from poolproof.provision.owned import new_label
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import UndoTree
from tests.golden import Message

from ..results.compare.making import RECORD
from .test_cleanup import LABEL, WorkDirectory


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkDirectory:
    monkeypatch.setenv("POOLPROOF_LOCKS", str(tmp_path / "locks"))
    return WorkDirectory(tmp_path.resolve())


def forge(path: Path, label: str, victim: Path) -> RunDirectory:
    """Create a run directory whose journal says that the run with this label has created the victim."""
    name = f"poolproof-{label}"
    record = replace(RECORD, label=label, state_dir=str(path / "state" / name), ram_dir=f"/dev/shm/{name}", facts={})
    run = RunDirectory.create(path / "forged", record.campaign, record)
    Journal(run.journal_path).record(Step("it", ("true",), UndoTree(str(victim))))
    return run


def data_of(path: Path, label: str) -> Path:
    folder = path / f"poolproof-{label}-one-dir"
    folder.mkdir()
    (folder / "file").write_text("data")
    return folder


@pytest.mark.parametrize("command", ["clean", "resume"])
def test_the_data_of_a_run_in_progress_stays(
    place: WorkDirectory, tmp_path: Path, command: str, message: Message
) -> None:
    run, data = place.leave(), data_of(tmp_path, LABEL)
    forged = forge(tmp_path, LABEL, data)
    with locked(run), pytest.raises(RunError, match="the same label") as refused:
        if command == "clean":
            clean(forged.path, print)
        else:
            reopen_session(forged, print, on=None).__enter__()
    message(refused.value)
    assert (data / "file").exists()
    assert len(Journal(forged.journal_path).outstanding()) == 1


def test_nothing_is_removed_if_another_state_directory_has_the_same_label(place: WorkDirectory, tmp_path: Path) -> None:
    label = new_label()
    data, other = data_of(tmp_path, label), Path(f"/var/tmp/poolproof-{label}")
    forged = forge(tmp_path, label, data)
    other.mkdir()
    try:
        with pytest.raises(RunError, match=f"^{other} belongs to another run"):
            clean(forged.path, print)
    finally:
        other.rmdir()
    assert (data / "file").exists()
    assert place.work.is_dir()


@pytest.mark.parametrize("name", ["poolproof-0badcafe-results", "poolproof-0badcafe.old"])
def test_a_directory_that_only_has_a_similar_name_stays(tmp_path: Path, name: str) -> None:
    results = tmp_path / name
    results.mkdir()
    forged = forge(tmp_path, LABEL, results)
    with pytest.raises(BuildError, match=r"not performed: nothing shows that this run created .*/owner\.json "):
        clean(forged.path, print)
    assert results.is_dir()


def test_a_directory_without_a_state_directory_counts_as_removed_once_the_user_removed_it(tmp_path: Path) -> None:
    data = data_of(tmp_path, LABEL)
    forged = forge(tmp_path, LABEL, data)
    with pytest.raises(BuildError, match="remove it yourself"):
        clean(forged.path, print)
    shutil.rmtree(data)
    assert clean(forged.path, print) == 1
    assert Journal(forged.journal_path).outstanding() == ()


@pytest.mark.parametrize("name", ["poolproof-20261129", "poolproof-20261129/measured", "poolproof-20261129-results"])
def test_a_directory_with_a_date_in_its_name_stays(tmp_path: Path, name: str) -> None:
    """A date has eight digits too, so the label of a run has at least one letter."""
    results = tmp_path / "state" / name
    results.mkdir(parents=True)
    forged = forge(tmp_path, "20261129", results)
    with pytest.raises(RunError, match="20261129"):
        clean(forged.path, print)
    assert results.is_dir()


def test_the_label_of_a_new_run_is_not_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(("20261129", "00000000", "2026112e"))
    monkeypatch.setattr(secrets, "token_hex", lambda _bytes: next(drawn))
    assert new_label() == "2026112e"


def test_the_state_directory_stays_until_the_directories_elsewhere_are_removed(
    place: WorkDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shows that the directories belong to the run."""
    data = tmp_path / f"poolproof-{LABEL}-one-dir"
    run = place.leave(LABEL, Step("create it", ("mkdir", str(data)), UndoTree(str(data))))
    remove = undo._remove_tree

    def hang(tree: UndoTree, host: Host) -> str | None:
        return "it hangs" if tree.path == str(data) else remove(tree, host)

    with monkeypatch.context() as hanging:
        hanging.setattr(undo, "_remove_tree", hang)
        with pytest.raises(BuildError, match="it hangs"):
            clean(run.path, print)
    assert data.is_dir() and place.state().is_dir()
    assert clean(run.path, print) == 2
    assert not data.exists() and not place.state().exists()


def test_the_lock_of_a_label_is_held_once_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPROOF_LOCKS", str(tmp_path / "locks"))
    with label_locked(LABEL) as first, label_locked(LABEL) as second, label_locked("00000001") as other:
        assert (first, second, other) == (True, False, True)
    assert list((tmp_path / "locks").iterdir()) == []
    with label_locked(LABEL) as again:
        assert again


def test_a_lock_that_cannot_be_opened_does_not_allow_root_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPROOF_LOCKS", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(PoolproofError), label_locked(LABEL):
        pass
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with label_locked(LABEL) as without:
        assert without


def test_a_copy_of_a_crashed_run_can_still_be_cleaned_up(place: WorkDirectory, tmp_path: Path) -> None:
    data = tmp_path / f"poolproof-{LABEL}-one-dir"
    run = place.leave(LABEL, Step("create it", ("mkdir", str(data)), UndoTree(str(data))))
    shutil.move(run.path, tmp_path / "moved")
    assert clean(tmp_path / "moved", print) == 2
    assert not data.exists()


def test_a_state_directory_with_files_but_without_owner_json_stays(tmp_path: Path, message: Message) -> None:
    state = tmp_path / "state" / f"poolproof-{LABEL}"
    state.mkdir(parents=True)
    (state / "letters").write_text("data")
    with pytest.raises(RunError, match="no owner") as refused:
        clean(forge(tmp_path, LABEL, state).path, print)
    message(refused.value)
    assert (state / "letters").exists()


def test_an_empty_state_directory_is_removed(tmp_path: Path) -> None:
    """A run that crashes right after it has created its state directory leaves an empty one."""
    state = tmp_path.resolve() / "state" / f"poolproof-{LABEL}"
    state.mkdir(parents=True)
    clean(forge(tmp_path.resolve(), LABEL, state).path, print)
    assert not state.exists()
