"""A run directory is either complete or absent, is read as it was written, and is refused if its schema differs."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolproof.errors import FioError, RunError
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import TrialMetrics
from poolproof.results.query.find_runs import find_runs
from poolproof.results.runs.directory import RunDirectory, file_name
from poolproof.results.runs.model import Trial, TrialKey
from poolproof.rules.model import Finding
from tests.golden import Message
from tests.unit.results.compare.making import RECORD


def trial(number: int = 1, layout: str = "raid1", workload: str = "grid[rw=read,bs=4k]") -> Trial:
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict="refuted",
        findings=(Finding("loop-cache", "refutes", "0 of 64 MiB reached vda", "losetup --direct-io=on"),),
        metric="iops",
        figures=TrialMetrics(iops=1234.5, bandwidth_bytes=5e6, p99_ns=1.5e6),
        account=Account(100, 0, 50, 0, 0, 2.0, 1.0, 0.1),
        leaves=(LeafUse("a", 50, 0, 0, 5, 0, 0, 0.4, 0.001),),
        stored_bytes={"a": 64},
        seconds={"fio": 1.25},
    )


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "name: t # mine\n", RECORD)
    run.append(trial(1))
    run.append(trial(2))
    again = RunDirectory.open(tmp_path / "r")
    assert again.record() == RECORD
    assert again.trials() == (trial(1), trial(2))
    assert (tmp_path / "r" / "campaign.yaml").read_text() == "name: t # mine\n"
    assert not list((tmp_path / "r").rglob("*.part"))


def test_files_kept_together_are_whole_when_the_context_is_left_by_an_error_too(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "", RECORD)
    folder = run.trial_directory(TrialKey("raid1", "reads", 1))
    with pytest.raises(FioError), run.together():
        for number in range(8):
            run.keep_text(folder, f"{number}.txt", f"{number}" * 10_000)
        assert not list(folder.iterdir())
        raise FioError("fio was ended")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        f"{number}.txt": f"{number}" * 10_000 for number in range(8)
    }
    run.keep_text(folder, "alone.txt", "at once")
    assert (folder / "alone.txt").read_text() == "at once"


def test_a_file_that_cannot_be_kept_keeps_no_other_from_it(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "", RECORD)
    folder = run.trial_directory(TrialKey("raid1", "reads", 1))
    (folder / "taken.txt").mkdir()
    with pytest.raises(OSError, match="taken"), run.together():
        run.keep_text(folder, "taken.txt", "no")
        run.keep_text(folder, "free.txt", "yes")
    assert (folder / "free.txt").read_text() == "yes"


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 3000))
def test_trials_cut_off_anywhere_lose_the_half_line_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "r"
    run = RunDirectory(path)
    path.mkdir(exist_ok=True)
    (path / "trials.jsonl").unlink(missing_ok=True)
    for number in range(1, 4):
        run.append(trial(number))
    whole = (path / "trials.jsonl").read_bytes()
    (path / "trials.jsonl").write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    assert [entry.number for entry in run.trials()] == list(range(1, kept + 1))
    run.append(trial(9))
    assert [entry.number for entry in run.trials()] == [*range(1, kept + 1), 9]


def test_another_schema_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "", RECORD)
    path = tmp_path / "r" / "run.json"
    for schema, word in ((99, "newer poolproof"), (0, "older poolproof")):
        path.write_text(json.dumps({**json.loads(path.read_text()), "schema": schema}))
        with pytest.raises(RunError, match=word) as caught:
            run.record()
        assert caught.value.hint


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "", RECORD)
    run.append(trial())
    with (tmp_path / "r" / "trials.jsonl").open("a") as file:
        file.write('{"schema": 1, "layout": 3}\n')
    with pytest.raises(RunError, match=r"trials\.jsonl, line 2 is damaged"):
        run.trials()


def test_a_directory_that_holds_something_is_never_written_to(tmp_path: Path, message: Message) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(RunError, match="not empty"):
        RunDirectory.create(tmp_path, "", RECORD)
    with pytest.raises(RunError, match="run directory") as refused:
        RunDirectory.open(tmp_path)
    message(refused.value)


def test_two_at_once_are_kept_apart(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "r", "", RECORD)
    again = RunDirectory.open(tmp_path / "r")
    with run.locked(), pytest.raises(RunError, match="another poolproof") as refused, again.locked():
        pass
    assert refused.value.hint.endswith(f"lsof {tmp_path}/r/.lock")  # any user who may read the file can lock it


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user may enter, unlike those that pytest creates."""
    with tempfile.TemporaryDirectory(prefix="poolproof-test-", dir="/var/tmp") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@contextlib.contextmanager
def _closed(folder: Path, mode: int) -> Iterator[None]:
    """Run the context as a user who has no access to the folder with this mode.

    Because every mode gives root access, root becomes nobody while the context is active.
    """
    was, is_root = folder.stat().st_mode, os.geteuid() == 0
    folder.chmod(mode)
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(was)


def test_a_run_of_another_user_is_refused_with_the_command_that_is_allowed(open_path: Path) -> None:
    run = RunDirectory.create(open_path / "r", "", RECORD)
    run.append(trial())
    with _closed(run.path, 0o555):
        with pytest.raises(RunError, match=r"/r .*: Permission denied") as caught, run.locked():
            pass
        assert "sudo poolproof" in caught.value.hint
    with _closed(run.path, 0o000):
        for read in (lambda: RunDirectory.open(run.path), run.record, run.trials):
            with pytest.raises(RunError, match=r"/r\b.*: Permission denied") as caught:
                read()
            assert "sudo poolproof" in caught.value.hint
    assert run.trials() == (trial(),)


def test_runs_that_are_closed_to_this_user_are_named_beside_the_others(open_path: Path) -> None:
    RunDirectory.create(open_path / "mine", "", RECORD)
    (open_path / "lost+found").mkdir(mode=0)
    closed = RunDirectory.create(open_path / "roots", "", RECORD)
    with _closed(closed.path, 0o000):
        runs, left_out = find_runs(open_path)
        with pytest.raises(RunError, match=r"roots .*Permission denied") as caught:
            find_runs(closed.path)
    assert [found.name for found in runs] == ["mine"]
    assert [each.what for each in left_out] == ["roots"]
    assert left_out[0].why.endswith("Permission denied")
    assert "sudo poolproof" in left_out[0].hint
    assert "sudo poolproof" in caught.value.hint


@given(st.text(min_size=1, max_size=30))
def test_any_name_becomes_one_path_component(name: str) -> None:
    assert "/" not in file_name(name)
    assert file_name(name) not in (".", "..")


def test_a_folder_with_runs_is_named_in_the_hint(tmp_path: Path) -> None:
    (tmp_path / "old" / "one").mkdir(parents=True)
    (tmp_path / "old" / "one" / "run.json").touch()
    with pytest.raises(RunError) as caught:
        RunDirectory.open(tmp_path / "old")
    assert caught.value.hint.endswith(f"poolproof runs {tmp_path}/old")


def test_a_new_directory_that_is_replaced_by_a_link_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    make = os.mkdir

    def make_and_replace(name: str, *, dir_fd: int) -> None:
        make(name, dir_fd=dir_fd)
        os.rmdir(name, dir_fd=dir_fd)
        os.symlink(tmp_path / "elsewhere", name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", make_and_replace)
    with pytest.raises(RunError, match="symbolic link"):
        RunDirectory.create(tmp_path / "r", "", RECORD)
    assert not list((tmp_path / "elsewhere").iterdir())
