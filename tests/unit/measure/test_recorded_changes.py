"""`clean` changes a setting of the machine only if the machine itself has a record that a run changed this setting."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.hosts.local import LocalHost
from poolproof.layers import zfs_commands
from poolproof.measure.cleanup import clean
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_one
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step

from .test_cleanup import LABEL, WorkDirectory

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can write to /run")
_LIMIT = 1 << 27


@pytest.fixture
def parameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that takes the place of the parameter zfs_arc_max. The statistics always contain the limit."""
    parameter, statistics = tmp_path / "zfs_arc_max", tmp_path / "arcstats"
    parameter.write_text("0\n")
    statistics.write_text(f"c_min 4 1\nc_max 4 {_LIMIT}\n")
    monkeypatch.setattr(zfs_commands, "ARC_PARAMETER", str(parameter))
    monkeypatch.setattr(zfs_commands, "ARC_STATISTICS", str(statistics))
    return parameter


@pytest.fixture
def note(tmp_path: Path) -> Iterator[Path]:
    note = tmp_path.resolve() / "work" / f"poolproof-{LABEL}" / "one-zfs.arc"
    yield note
    _record(note).unlink(missing_ok=True)


@pytest.fixture
def limited(tmp_path: Path, parameter: Path, note: Path) -> RunDirectory:
    """A crashed run that has limited the ARC."""
    run = WorkDirectory(tmp_path.resolve()).leave(LABEL, zfs_commands.limit_arc(_LIMIT, str(note)))
    assert parameter.read_text() == f"{_LIMIT}\n"
    return run


def _record(note: Path) -> Path:
    return Path(f"/run/poolproof-setting-{hashlib.sha256(str(note).encode()).hexdigest()[:32]}")


def test_the_limit_of_a_crashed_run_is_restored(limited: RunDirectory, parameter: Path, note: Path) -> None:
    assert _record(note).stat().st_mode & 0o777 == 0o600
    assert clean(limited.path, print) == 2
    assert parameter.read_text() == "0\n"
    assert not _record(note).exists()


def test_the_recorded_limit_is_restored_and_not_the_one_in_the_note(
    limited: RunDirectory, parameter: Path, note: Path
) -> None:
    note.write_text("64 77\n")
    clean(limited.path, print)
    assert parameter.read_text() == "0\n"


def test_a_forged_note_changes_nothing(tmp_path: Path, parameter: Path, note: Path) -> None:
    run = WorkDirectory(tmp_path.resolve()).leave(LABEL)
    Journal(run.journal_path).record(Step("it", ("true",), zfs_commands.UndoArcLimit(str(note))))
    note.write_text("64 77\n")
    clean(run.path, print)
    assert parameter.read_text() == "0\n"
    assert not note.exists()


def test_after_a_reboot_nothing_has_to_be_restored(limited: RunDirectory, parameter: Path, note: Path) -> None:
    record = _record(note)
    record.write_text(re.sub("^.*", "the boot before", record.read_text()))
    clean(limited.path, print)
    assert parameter.read_text() == f"{_LIMIT}\n"


def test_a_value_that_someone_else_has_set_stays(limited: RunDirectory, parameter: Path) -> None:
    parameter.write_text("5\n")
    clean(limited.path, print)
    assert parameter.read_text() == "5\n"


@pytest.mark.parametrize("is_another", [True, False], ids=["another setting", "another user"])
def test_a_record_of_another_setting_or_user_is_not_used(
    limited: RunDirectory, parameter: Path, note: Path, is_another: bool
) -> None:
    record = _record(note)
    if is_another:
        record.write_text(record.read_text().replace(str(parameter), "/sys/module/other"))
    else:
        os.chown(record, 12345, 12345)
    clean(limited.path, print)
    assert parameter.read_text() == f"{_LIMIT}\n"


def test_two_runs_with_a_limit_leave_the_value_from_before_both(tmp_path: Path, parameter: Path) -> None:
    """While one of them is in progress, its limit stays."""
    host, notes = LocalHost(), [tmp_path / "first.arc", tmp_path / "second.arc"]
    try:
        for note in notes:
            host.run(zfs_commands.limit_arc(_LIMIT, str(note)).argv, timeout_s=20)
        for note, expected in zip(notes, (_LIMIT, 0), strict=True):
            assert undo_one(zfs_commands.UndoArcLimit(str(note)), host) is None
            assert parameter.read_text() == f"{expected}\n"
            assert not _record(note).exists()
    finally:
        for note in notes:
            _record(note).unlink(missing_ok=True)
