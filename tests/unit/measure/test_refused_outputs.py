"""`run` saves its results only where no other user can change them, and keeps the directory open."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import RunError
from poolproof.provision.journal import Journal
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import UndoTree
from tests.golden import Message
from tests.unit.access_lists import allow_to_write, as_root
from tests.unit.results.compare.making import RECORD

from ..command import Command

STRANGER = 12345


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def _of_a_stranger(place: Path) -> None:
    os.chown(place, STRANGER, STRANGER)


def _below_a_stranger(place: Path) -> None:
    (place / "run").mkdir()
    os.chown(place, STRANGER, STRANGER)


def _writable(place: Path) -> None:
    place.chmod(0o777)


def _existing_writable(place: Path) -> None:
    (place / "run").mkdir()
    (place / "run").chmod(0o777)


def _listed(place: Path) -> None:
    allow_to_write(place, STRANGER)


def _link_of_a_stranger(place: Path) -> None:
    (place / "target").mkdir()
    (place / "run").symlink_to(place / "target")
    os.chown(place / "run", STRANGER, STRANGER, follow_symlinks=False)
    place.chmod(0o1777)


def _link_in_a_directory_of_a_stranger(place: Path) -> None:
    (place / "theirs").mkdir()
    (place / "target").mkdir()
    (place / "theirs" / "link").symlink_to(place / "target")
    os.chown(place / "theirs", STRANGER, STRANGER)
    (place / "run").symlink_to("theirs/link")


def _endless_link(place: Path) -> None:
    (place / "run").symlink_to("run/run")


@as_root
@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (_of_a_stranger, "belongs to user 12345"),
        (_below_a_stranger, "belongs to user 12345"),
        (_writable, "other users can write to"),
        (_existing_writable, "other users can write to"),
        (_listed, "other users can write to"),
        (_link_of_a_stranger, "link .*belongs to user 12345"),
        (_link_in_a_directory_of_a_stranger, "theirs belongs to user 12345"),
        (_endless_link, "too many links"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry run"])
def test_a_directory_that_others_can_change_is_refused(
    tmp_path: Path, poolproof: Command, prepare: Callable[[Path], None], reason: str, more: tuple[str, ...]
) -> None:
    place, measured = tmp_path / "place", tmp_path / "measured"
    place.mkdir()
    measured.mkdir()
    prepare(place)
    before = sorted(place.rglob("*"))
    out = place / "run"
    code, _out, err = poolproof(
        "run", "--layout", f"dir {measured}", "--workload", "rw=read,size=1m", "--out", str(out), *more
    )
    said = " ".join(err.split())
    assert code == RunError.exit_code
    assert f"the results cannot be saved in {out}, because others could change them: " in said
    assert re.search(reason, said)
    assert "--out " in said
    assert sorted(place.rglob("*")) == before
    assert list(measured.iterdir()) == []


def test_the_reason_and_what_to_type_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    tmp_path.chmod(0o777)
    home = tmp_path.parent
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(RunError) as refused:
        RunDirectory.create(tmp_path / "run", RECORD.campaign, RECORD)
    message(str(refused.value).replace(str(home), "HOME"))
    assert refused.value.hint.endswith(f": --out {home}/poolproof-runs/run")


def test_imported_results_may_be_saved_anywhere(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert RunDirectory.create(tmp_path / "run", RECORD.campaign, replace(RECORD, imported=True)).path.is_dir()


@pytest.mark.parametrize("name", ["run", "new/parents/run", "link/run", "link/../run"])
def test_a_directory_with_the_sticky_bit_and_ones_own_links_are_accepted(tmp_path: Path, name: str) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    path = tmp_path / name
    assert RunDirectory.create(path, RECORD.campaign, RECORD).path == Path(os.path.realpath(path))
    assert (path / "run.json").is_file()


def test_a_new_directory_whose_access_control_list_lets_others_write_is_refused(tmp_path: Path) -> None:
    allow_to_write(tmp_path, STRANGER)
    inherited = os.getxattr(tmp_path, "system.posix_acl_access")
    os.removexattr(tmp_path, "system.posix_acl_access")
    os.setxattr(tmp_path, "system.posix_acl_default", inherited)
    with pytest.raises(RunError, match="other users can write to"):
        RunDirectory.create(tmp_path / "run", RECORD.campaign, RECORD)
    assert not any((tmp_path / "run").iterdir())


def test_the_journal_stays_in_the_directory_of_the_run(tmp_path: Path) -> None:
    """Someone moves the run directory away and puts a link in its place."""
    run = RunDirectory.create(tmp_path / "run", RECORD.campaign, RECORD)
    journal = Journal(run.journal_path, root=run.root)
    (tmp_path / "precious").mkdir()
    (tmp_path / "run").rename(tmp_path / "moved")
    (tmp_path / "run").symlink_to("precious")
    journal.record(Step("create it", ("true",), UndoTree("/x")))
    journal.mark_undone(*journal.outstanding())
    assert not any((tmp_path / "precious").iterdir())
    assert len((tmp_path / "moved" / "journal.jsonl").read_bytes().splitlines()) == 2
