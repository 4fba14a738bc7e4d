"""Temporary directories of killed processes are removed by the next process. Those of others are not."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from poolproof.files.scratch import scratch_directory

_PREFIX = "poolproof-test-"
_WAIT = f"""
import sys, time
from poolproof.files.scratch import scratch_directory
with scratch_directory({_PREFIX!r}) as path:
    (path / "spill").write_text("data")
    print(path, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def _make_old(path: Path) -> None:
    then = time.time() - 3600
    os.utime(path, (then, then))


def test_the_directory_of_a_killed_process_is_removed_by_the_next_one() -> None:
    process = subprocess.Popen([sys.executable, "-c", _WAIT], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    path = Path(process.stdout.readline().strip())
    _make_old(path)
    with scratch_directory(_PREFIX) as own:
        assert path.is_dir()  # its process is still running
        assert own.is_dir()
    assert not own.exists()
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    with scratch_directory(_PREFIX):
        assert not path.exists()


@pytest.mark.parametrize(
    ("owner", "mode", "is_used"),
    [(0, 0o755, True), (0, 0o1777, True), (0, 0o777, False), (12345, 0o755, False), (12345, 0o1777, False)],
)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create a directory of another user")
def test_a_directory_in_which_others_can_replace_files_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, *, is_used: bool
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    os.chown(shared, owner, owner)
    shared.chmod(mode)
    monkeypatch.setenv("TMPDIR", str(shared))
    with scratch_directory(_PREFIX) as own:
        assert own.parent == (shared if is_used else Path("/tmp"))
    assert not own.exists()


def test_a_new_directory_and_a_link_are_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / f"{_PREFIX}link").symlink_to(kept)
    new = tmp_path / f"{_PREFIX}new"
    new.mkdir()
    for each in (kept, new):
        (each / ".poolproof-scratch").touch()
    _make_old(kept)
    with scratch_directory(_PREFIX):
        assert new.is_dir() and kept.is_dir()


def test_a_directory_of_this_user_with_the_same_prefix_is_kept(tmp_path: Path) -> None:
    own = tmp_path / f"{_PREFIX}november"
    own.mkdir()
    (own / "results.csv").write_text("data")
    _make_old(own)
    with scratch_directory(_PREFIX):
        assert (own / "results.csv").read_text() == "data"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create a directory of another user")
def test_a_directory_of_another_user_is_kept(tmp_path: Path) -> None:
    other = tmp_path / f"{_PREFIX}other"
    other.mkdir()
    (other / ".poolproof-scratch").touch()
    _make_old(other)
    os.chown(other, 65534, 65534)
    with scratch_directory(_PREFIX):
        assert other.is_dir()
