"""Cleaning up a host: only state directories of crashed runs are removed.

All others are reported and left unchanged.
"""

import contextlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import BuildError, RunError
from poolproof.hosts.local import LocalHost
from poolproof.measure.cleanup import CleanupResult, clean, clean_crashed_runs
from poolproof.provision.apply import apply
from poolproof.provision.directories import (
    FILE,
    Leftover,
    StateOwner,
    crash_warning,
    find_leftovers,
    name_owner,
    owner_of,
    state_directories,
)
from poolproof.provision.journal import Journal
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoTree
from tests.golden import Message
from tests.unit.results.compare.making import RECORD

from ..command import Command
from ..docs.pages import documented, keys_of_value
from ..facts.told import ToldHost

HOST = LocalHost()
LABEL = "0badcafe"


class WorkDirectory:
    """A work directory in which crashed runs have left what they had created."""

    def __init__(self, path: Path) -> None:
        self.work, self.runs = path / "work", path / "runs"
        self.work.mkdir()

    def leave(self, label: str = LABEL, *steps: Step) -> RunDirectory:
        """Create a crashed run with a state directory that names its owner, and with whatever the steps create."""
        state = str(self.work / f"poolproof-{label}")
        record = replace(RECORD, label=label, state_dir=state, ram_dir=f"/dev/shm/poolproof-{label}", facts={})
        run = RunDirectory.create(self.runs / label, record.campaign, record)
        places = [Step("make it", ("mkdir", state), UndoTree(state)), name_owner(state, owner_of(run.path))]
        with run.locked():
            apply([*places, *steps], HOST, Journal(run.journal_path), may_overwrite=frozenset())
        return run

    def state(self, label: str = LABEL) -> Path:
        return self.work / f"poolproof-{label}"

    def clean(self) -> tuple[dict[str, CleanupResult], dict[str, Leftover]]:
        """Clean up, and return what was undone and what is left in this work directory, both keyed by label.

        There may be other runs on this machine.
        """
        undone, left = clean_crashed_runs(HOST, str(self.work), print)
        return (
            {Path(each.state.path).name[-8:]: each for each in undone},
            {Path(each.state.path).name[-8:]: each for each in left if self.work in Path(each.state.path).parents},
        )


@pytest.fixture
def place(tmp_path: Path) -> WorkDirectory:
    return WorkDirectory(tmp_path.resolve())


def test_every_crashed_run_is_cleaned_up_and_its_results_stay(place: WorkDirectory) -> None:
    first, second = place.leave("0000000a"), place.leave("0000000b")
    undone, left = place.clean()
    assert {label: (each.run, each.changes) for label, each in undone.items()} == {
        "0000000a": (str(first.path), 1),
        "0000000b": (str(second.path), 1),
    }
    assert left == {}
    assert list(place.work.iterdir()) == []
    assert (first.path / "run.json").exists()
    assert place.clean() == ({}, {})


def test_an_active_run_is_left_alone_and_is_cleaned_up_after_it_has_died(place: WorkDirectory) -> None:
    run = place.leave()
    with run.locked():
        undone, left = place.clean()
        assert undone == {}
        assert left[LABEL].condition == "going"
        assert str(run.path) in left[LABEL].why
        assert place.state().is_dir()
        assert len(Journal(run.journal_path).outstanding()) == 1
    assert set(place.clean()[0]) == {LABEL}


def test_a_run_that_cannot_be_cleaned_up_does_not_stop_the_others(place: WorkDirectory) -> None:
    run = place.leave("0000000a", Step("mount what sticks", ("true",), UndoMount("/")))
    place.leave("0000000b")
    undone, left = place.clean()
    assert set(undone) == {"0000000b"}
    assert left["0000000a"].condition == "failed"
    assert "mount what sticks" in left["0000000a"].why
    assert str(run.journal_path) in left["0000000a"].next[0], "the entry is refused, so repeating clean does not help"


def _forget_the_run(run: RunDirectory) -> None:
    for path in run.path.iterdir():
        path.unlink()


def _forget_the_journal(run: RunDirectory) -> None:
    run.journal_path.unlink()


def _put_another_run_there(run: RunDirectory) -> None:
    _forget_the_run(run)
    RunDirectory.create(run.path, RECORD.campaign, replace(RECORD, state_dir="/var/tmp/poolproof-99999999"))


def _damage_the_run(run: RunDirectory) -> None:
    (run.path / "run.json").write_text('{"schema":1,')


def _say_nothing(run: RunDirectory) -> None:
    Path(run.record().state_dir, FILE).unlink()


def _count_it_as_undone(run: RunDirectory) -> None:
    journal = Journal(run.journal_path)
    for change in journal.outstanding():
        journal.mark_undone(change)


@pytest.mark.parametrize(
    ("lose", "fact"),
    [
        (_forget_the_run, "does not exist or has no run.json"),
        (_forget_the_journal, "has no journal"),
        (_put_another_run_there, "another run"),
        (_damage_the_run, "cannot be read"),
        (_say_nothing, "owner.json"),
        (_count_it_as_undone, "mentions"),
    ],
)
def test_a_state_directory_without_a_journal_is_reported_with_the_commands_to_remove_it(
    place: WorkDirectory, lose: Callable[[RunDirectory], None], fact: str, message: Message
) -> None:
    lose(place.leave())
    undone, left = place.clean()
    assert undone == {}
    assert left[LABEL].condition == "lost"
    assert fact in message(left[LABEL].why)
    state = place.state()
    assert left[LABEL].next == (
        f"pgrep -af poolproof-{LABEL}",
        f"rm -rf --one-file-system {state} /dev/shm/poolproof-{LABEL}",
    )
    assert state.is_dir()


def test_a_run_controlled_by_another_machine_is_left_alone(place: WorkDirectory) -> None:
    run = place.leave()
    owner = StateOwner(str(run.path), "nas", "0123456789abcdef")
    (place.state() / FILE).write_text(json.dumps({"run": owner.run, "host": owner.host, "machine": owner.machine}))
    undone, left = place.clean()
    if owner_of(run.path).machine:
        assert undone == {}
        assert (left[LABEL].condition, left[LABEL].next) == ("foreign", (f"there: poolproof clean {run.path}",))
    else:  # nothing distinguishes this machine from another one, and the run is on it
        assert set(undone) == {LABEL}


def test_a_directory_with_a_date_in_its_name_is_not_listed_for_removal(place: WorkDirectory) -> None:
    (place.work / "poolproof-20261129").mkdir()
    assert place.clean() == ({}, {})


def test_other_names_and_symbolic_links_are_ignored(place: WorkDirectory, tmp_path: Path) -> None:
    for name in ("poolproof-record-a1b2c3d4", "poolproof-ABCDEF01", "poolproof-0badcafe1", "0badcafe"):
        (place.work / name).mkdir()
    (tmp_path / "elsewhere").mkdir()
    (place.work / "poolproof-0badcafe").symlink_to(tmp_path / "elsewhere")
    (place.work / "poolproof-00000003").write_text("a file")
    assert place.clean() == ({}, {})


def test_directories_with_mounts_are_found_anywhere_and_those_of_other_users_are_left_alone() -> None:
    mounts = (
        "/dev/fuse /mnt/w/poolproof-0badcafe/a.disk fuse rw 0 0\n"
        "/dev/loop0 /mnt/w/poolproof-0badcafe/mnt/one-ext4 ext4 rw 0 0\n"
        "/dev/sda1 /mnt/poolproof-record-a1b2c3d4 ext4 rw 0 0\n"
    )
    listed = "1000\ndirectory 0 root /mnt/w/poolproof-0badcafe\ndirectory 1000 me /mnt/w/poolproof-0000000a\n"
    host = ToldHost({"/proc/self/mounts": mounts}, {"/mnt/w": listed})
    (found,) = find_leftovers(host, None)
    assert (found.state.path, found.condition) == ("/mnt/w/poolproof-0badcafe", "foreign")
    assert found.state.is_elsewhere
    (suggestion,) = found.next
    assert suggestion.endswith(": poolproof clean")


def test_a_crashed_run_outside_the_work_directory_is_reported_but_not_touched(
    place: WorkDirectory, tmp_path: Path
) -> None:
    """The run's mounts reveal its state directory, which is not in the work directory that is searched."""
    run = place.leave()

    class Mounted(LocalHost):
        def read(self, path: str) -> str:
            more = f"/dev/loop9 {place.state()}/mnt/one-ext4 ext4 rw 0 0\n" if path == "/proc/self/mounts" else ""
            return super().read(path) + more

    (found,) = [found for found in find_leftovers(Mounted(), None) if found.state.path == str(place.state())]
    assert (found.condition, found.next) == ("dead", (f"poolproof clean {run.path}",))
    assert not any(each.run == str(run.path) for each in clean_crashed_runs(Mounted(), str(tmp_path), print)[0])
    assert place.state().is_dir()


def test_what_crashed_runs_left_on_another_host_is_described_with_the_name_of_that_host(place: WorkDirectory) -> None:
    run = place.leave()
    mounted = f"/dev/fuse {place.state()}/a.disk fuse rw 0 0\n"

    class Nas(LocalHost):
        name = "nas"

        def read(self, path: str) -> str:
            return mounted if path == "/proc/self/mounts" else super().read(path)

    warning = crash_warning(Nas())
    assert warning is not None and warning.startswith("warning: nas has mounts of a crashed run")
    run.journal_path.unlink()
    (lost,) = find_leftovers(Nas(), None)
    assert lost.next == (f"poolproof clean --on nas --work {place.work}",)


@pytest.mark.parametrize("alive", [True, False])
def test_a_new_run_warns_of_mounts_left_by_crashed_runs(place: WorkDirectory, alive: bool) -> None:
    run = place.leave()

    class Mounted(LocalHost):
        def read(self, path: str) -> str:
            return (
                f"/dev/fuse {place.state()}/a.disk fuse rw 0 0\n" if path == "/proc/self/mounts" else super().read(path)
            )

    with run.locked() if alive else contextlib.nullcontext():
        warning = crash_warning(Mounted())
    if alive:
        assert warning is None
    else:
        assert warning is not None
        assert str(place.state()) in warning
        assert warning.endswith(f": poolproof clean {run.path}")


def test_without_leftovers_only_the_mounts_are_read() -> None:
    assert state_directories(ToldHost({"/proc/self/mounts": "/dev/sda1 / ext4 rw 0 0\n"}), None) == ()


@pytest.fixture
def poolproof(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, place: WorkDirectory
) -> Command:
    """The command line with its own labs and default work directory, so that other crashed runs are ignored."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("poolproof.provision.directories.DEFAULT_WORK", str(place.work))
    return Command(monkeypatch, capsys)


@pytest.mark.parametrize("named", [True, False])
def test_clean_prints_what_it_undid_and_what_is_left(
    place: WorkDirectory, poolproof: Command, named: bool, message: Message
) -> None:
    dead, lost = place.leave("0000000a"), place.leave("0000000b")
    _forget_the_journal(lost)
    code, out, _err = poolproof("clean", *(("--work", str(place.work)) if named else ()))
    assert code == 6
    message(_without_others(out, place).replace(str(place.work), "WORK").replace(str(dead.path.parent), "RUNS"))
    assert f"{dead.path}: 1 " in out
    assert f"{place.state('0000000b')}: its run {lost.path} " in out
    assert f"  rm -rf --one-file-system {place.state('0000000b')} /dev/shm/poolproof-0000000b" in out


def test_clean_json_lists_undone_and_remaining_runs(place: WorkDirectory, poolproof: Command, message: Message) -> None:
    dead, going = place.leave("0000000a"), place.leave("0000000b")
    with going.locked():
        code, out, _err = poolproof("clean", "--json")
    said = json.loads(out)
    assert code == 0
    assert said["runs_undone"] == [{"run": str(dead.path), "state_dir": str(place.state("0000000a")), "undone": 1}]
    (left,) = (each for each in said["left"] if each["run"] == str(going.path))  # other runs may be in progress
    why = left.pop("why")
    assert left == {
        "state_dir": str(place.state("0000000b")),
        "run": str(going.path),
        "standing": "going",
        "next": [],
    }
    assert str(going.path) in message(why)
    assert said["labs_ended"] == []


def test_docs_list_exactly_the_keys_of_clean_json(place: WorkDirectory, poolproof: Command) -> None:
    place.leave("0000000a")
    _say_nothing(place.leave("0000000b"))
    said = json.loads(poolproof("clean", "--json")[1])
    assert {*keys_of_value(said), "labs_ended[]"} == documented("json.md", "`poolproof clean --json`")


def test_clean_says_so_if_nothing_was_left(place: WorkDirectory, poolproof: Command, message: Message) -> None:
    code, out, _err = poolproof("clean")
    assert code == 0
    assert " lab" in message(_without_others(out, place))


def test_a_run_in_progress_is_not_reported_as_a_crashed_one(
    place: WorkDirectory, poolproof: Command, message: Message
) -> None:
    with place.leave().locked():
        code, out, _err = poolproof("clean")
    assert code == 0
    message(_without_others(out, place))


def _without_others(out: str, place: WorkDirectory) -> str:
    """Return the output of `clean` without the runs that other programs have on this machine at the moment."""
    own, is_own = [], True
    for line in out.splitlines():
        if not line.startswith(" "):
            is_own = not line.startswith("left alone: ") or line.startswith(f"left alone: {place.work}/")
        own += [line] * is_own
    return "\n".join(own)


def test_a_missing_work_directory_is_an_error(place: WorkDirectory, poolproof: Command) -> None:
    code, _out, err = poolproof("clean", "--work", str(place.work / "none"))
    assert code == 4
    assert "does not exist" in err


def test_a_lost_run_directory_is_an_error_that_leads_to_what_the_run_left(
    place: WorkDirectory, poolproof: Command
) -> None:
    code, _out, err = poolproof("clean", str(place.work / "lost"))
    assert code == 7
    assert "there is no run directory" in err
    assert err.endswith("to find what a run without its directory left behind: poolproof clean\n")


def test_work_cannot_be_combined_with_a_run_directory(place: WorkDirectory, poolproof: Command) -> None:
    code, _out, err = poolproof("clean", str(place.leave().path), "--work", str(place.work))
    assert code == 2
    assert "--work" in err
    assert place.state().is_dir()


def test_a_copy_of_a_run_in_progress_removes_nothing(place: WorkDirectory, tmp_path: Path, message: Message) -> None:
    run, copy = place.leave(), tmp_path / "copy"
    with run.locked():
        shutil.copytree(run.path, copy)
        with pytest.raises(RunError, match=r"\bcopy\b.*") as refused:
            clean(copy, print)
        message(refused.value)
        assert place.state().is_dir()
    assert clean(copy, print) == 1
    assert not place.state().exists()


def test_a_run_whose_journal_was_emptied_does_not_count_as_cleaned_up(place: WorkDirectory) -> None:
    run = place.leave()
    run.journal_path.write_text("")
    with pytest.raises(BuildError, match=r"still exists, but the journal of .* does not mention it") as error:
        clean(run.path, print)
    assert f"rm -rf --one-file-system {place.state()} /dev/shm/poolproof-{LABEL}" in error.value.hint
