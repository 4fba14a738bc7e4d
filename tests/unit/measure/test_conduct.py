"""A run of two layouts under two workloads on a scripted host: what is built, measured, removed and recorded."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import BuildError
from poolproof.hosts.base import HostUnreachable
from poolproof.measure.leftovers import Leftovers
from poolproof.measure.model import Listener
from poolproof.process import Completed
from poolproof.provision.journal import Journal
from poolproof.provision.undo import FailedUndo
from poolproof.results.runs.model import Trial, TrialKey
from poolproof.steps import Step
from poolproof.undos import UndoPrograms
from tests.golden import Message

from ..layers.ground import plan
from .scripted_host import Argv, Run, ScriptedHost, planned, script

ALL_CELLS = {(layout, workload) for layout in ("one", "two") for workload in ("reads", "writes")}


class Heard(Listener):
    def __init__(self) -> None:
        self.trials: list[Trial] = []
        self.warnings: list[str] = []

    def trial_ends(self, trial: Trial) -> None:
        self.trials.append(trial)

    def warning(self, message: str) -> None:
        self.warnings.append(message)


def is_fio_trial(argv: Argv) -> bool:
    return any(word.startswith("--output-format=json") for word in argv)


def failing(argv: Argv) -> Completed:
    return Completed(argv, 1, "", "it failed", 0.1)


def run_of(tmp_path: Path, host: ScriptedHost) -> Run:
    return planned(host, tmp_path / "run")


def outstanding(run: Run) -> list[str]:
    return [change.title for change in Journal(run.directory.journal_path).outstanding()]


def programs(host: ScriptedHost, *names: str) -> list[str]:
    return [argv[0] for argv in host.ran if argv[0] in names]


def test_every_cell_is_measured_and_nothing_is_left(tmp_path: Path) -> None:
    run, heard = run_of(tmp_path, ScriptedHost(script())), Heard()
    run.conduct(heard)
    trials = run.directory.trials()
    assert {(trial.layout, trial.workload) for trial in trials} == ALL_CELLS
    assert {trial.verdict for trial in trials} == {"sound"}
    assert [trial.layout for trial in trials] == ["one", "one", "two", "two"]
    assert heard.trials == list(trials) and heard.warnings == []
    assert outstanding(run) == []


def test_each_layout_is_removed_before_the_next_one_is_built(tmp_path: Path) -> None:
    host = ScriptedHost(script())
    run_of(tmp_path, host).conduct()
    assert programs(host, "mkfs.ext4").count("mkfs.ext4") == 2
    first_built, second_built = (number for number, argv in enumerate(host.ran) if argv[0] == "mkfs.ext4")
    detached = [number for number, argv in enumerate(host.ran) if argv[0] == "losetup" and "--detach" in argv]
    assert first_built < detached[0] < second_built < detached[-1]


def test_steps_are_undone_in_reverse_order(tmp_path: Path) -> None:
    host = ScriptedHost(script())
    run = run_of(tmp_path, host)
    run.conduct()
    lines = run.directory.journal_path.read_text(encoding="utf-8").splitlines()
    assert lines, "every change is in the journal"
    tail = [argv[0] for argv in host.ran if argv[0] in ("umount", "losetup")][-2:]
    assert tail == ["umount", "losetup"], "the file system is unmounted before its loop device is detached"


def test_a_complete_run_does_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, ScriptedHost(script()))
    run.conduct()
    again = Run(run.plan, ScriptedHost(script()), run.directory)
    again.conduct()
    assert isinstance(again.host, ScriptedHost) and again.host.ran == []


def test_if_fio_fails_its_trials_fail_and_the_run_continues(tmp_path: Path) -> None:
    broken = script()
    broken.files = [(path, None if path.endswith("/fio.json") else text) for path, text in broken.files]
    host = ScriptedHost(broken, lambda argv: failing(argv) if is_fio_trial(argv) else None)
    run = run_of(tmp_path, host)
    run.conduct()
    trials = run.directory.trials()
    assert {(trial.layout, trial.workload, trial.verdict) for trial in trials} == {
        (*cell, "failed") for cell in ALL_CELLS
    }
    assert all("it failed" in trial.findings[0].message for trial in trials)
    assert outstanding(run) == []


def test_a_layout_that_cannot_be_built_fails_its_trials_and_the_next_one_is_measured(tmp_path: Path) -> None:
    made: list[Argv] = []

    def first_mkfs_fails(argv: Argv) -> Completed | None:
        if argv[0] != "mkfs.ext4":
            return None
        made.append(argv)
        return failing(argv) if len(made) == 1 else None

    run, heard = run_of(tmp_path, ScriptedHost(script(), first_mkfs_fails)), Heard()
    run.conduct(heard)
    verdicts = {(trial.layout, trial.verdict) for trial in run.directory.trials()}
    assert verdicts == {("one", "failed"), ("two", "sound")}
    (warning,) = heard.warnings
    assert warning.startswith("one: ")
    assert outstanding(run) == []


def test_a_loop_device_that_another_program_had_for_a_moment_is_tried_again(tmp_path: Path) -> None:
    taken: list[Argv] = []

    def taken_once(argv: Argv) -> Completed | None:
        if argv[0] != "losetup" or "--list" in argv or "--detach" in argv or taken:
            return None
        taken.append(argv)
        message = "losetup: a.img: failed to set up loop device: Device or resource busy"
        return Completed(argv, 1, "", message, 0.1)

    run, heard = run_of(tmp_path, ScriptedHost(script(), taken_once)), Heard()
    run.conduct(heard)
    assert {trial.verdict for trial in run.directory.trials()} == {"sound"}
    assert taken and heard.warnings == [] and outstanding(run) == []


def test_ctrl_c_between_trials_keeps_the_finished_trial_and_removes_the_layout(tmp_path: Path) -> None:
    class Interrupting(Heard):
        def trial_begins(self, key: TrialKey) -> None:
            if key and self.trials:
                raise KeyboardInterrupt

    run = run_of(tmp_path, ScriptedHost(script()))
    with pytest.raises(KeyboardInterrupt):
        run.conduct(Interrupting())
    assert [trial.layout for trial in run.directory.trials()] == ["one"]
    assert outstanding(run) == []
    Run(run.plan, ScriptedHost(script()), run.directory).conduct()
    assert {(trial.layout, trial.workload) for trial in run.directory.trials()} == ALL_CELLS
    assert len(run.directory.trials()) == 4, "the finished trial is not repeated"


def test_a_host_that_cannot_be_reached_ends_the_run_with_a_failed_trial(tmp_path: Path) -> None:
    lost: list[Argv] = []

    def unreachable(argv: Argv) -> Completed | None:
        if lost or is_fio_trial(argv):
            lost.append(argv)
            raise HostUnreachable("scripted did not answer", "ssh scripted")
        return None

    run = run_of(tmp_path, ScriptedHost(script(), unreachable))
    with pytest.raises((HostUnreachable, BuildError)):
        run.conduct()
    (trial,) = run.directory.trials()
    assert (trial.layout, trial.verdict) == ("one", "failed")
    assert outstanding(run), "the journal still lists the layout, for `poolproof clean`"


def test_a_trial_that_the_connection_cut_off_is_run_again(tmp_path: Path) -> None:
    calls: list[Argv] = []

    def breaks_once(argv: Argv) -> Completed | None:
        if is_fio_trial(argv):
            calls.append(argv)
            if len(calls) == 1:
                raise HostUnreachable("scripted did not answer", "ssh scripted")
        return None

    run = run_of(tmp_path, ScriptedHost(script(), breaks_once))
    with pytest.raises(HostUnreachable):
        run.conduct()
    (cut,) = run.directory.trials()
    assert (cut.layout, cut.number, cut.interrupted) == ("one", 1, True)
    again = replace(run, host=ScriptedHost(script()))
    again.conduct()
    trials = run.directory.trials()
    assert TrialKey("one", cut.workload, 1) in {trial.key for trial in trials}
    assert {trial.verdict for trial in trials} == {"sound"}
    assert len({trial.key for trial in trials}) == len(trials)


def test_a_step_that_cannot_be_undone_is_reported_and_stays_in_the_journal(tmp_path: Path) -> None:
    def state_directory_stays(argv: Argv) -> Completed | None:
        return failing(argv) if argv[0] == "rm" and argv[-1] == "/var/tmp/poolproof-scripted" else None

    run = run_of(tmp_path, ScriptedHost(script(), state_directory_stays))
    with pytest.raises(BuildError, match="create /var/tmp/poolproof-scripted"):
        run.conduct()
    assert outstanding(run) == ["create /var/tmp/poolproof-scripted"]
    assert {trial.verdict for trial in run.directory.trials()} == {"sound"}


def test_a_layout_that_cannot_be_removed_does_not_end_the_run(tmp_path: Path) -> None:
    point = "/var/tmp/poolproof-scripted/mnt/one-ext4"

    def mount_point_stays(argv: Argv) -> Completed | None:
        return failing(argv) if argv[0] == "rm" and argv[-1] == point else None

    run, heard = run_of(tmp_path, ScriptedHost(script(), mount_point_stays)), Heard()
    with pytest.raises(BuildError, match=point):
        run.conduct(heard)
    assert {(trial.layout, trial.workload, trial.verdict) for trial in run.directory.trials()} == {
        (*cell, "sound") for cell in ALL_CELLS
    }
    assert [warning.partition(":")[0] for warning in heard.warnings] == ["one"]
    assert len(outstanding(run)) == 2, "the mount point and the directory that contains it"


def test_a_layout_is_not_built_on_devices_of_one_that_could_not_be_removed(tmp_path: Path, message: Message) -> None:
    nodes = {name: plan(text).top.node for name, text in (("one", "a | ext4"), ("two", "md raid1 b a"), ("three", "b"))}
    journal, left = Journal(tmp_path / "journal.jsonl"), Leftovers(nodes, "RUN")
    hung = Step("run fio", ("true",), UndoPrograms(("fio",), "/var/tmp/poolproof-x/"))
    journal.record(hung)
    journal.record(hung)
    second, first = journal.outstanding()
    left.check("two")
    assert left.add(["one"], [FailedUndo(first, "still running")], journal) == (FailedUndo(first, "still running"),)
    with pytest.raises(BuildError, match=r"\ba\b.* by one") as refused:
        left.check("two")
    message(refused.value)
    left.check("three")
    assert left.add(["three"], [FailedUndo(second, "still running")], journal) == ()
    left.check("three")
    assert [change.number for change in journal.outstanding()] == [first.number]


def test_a_run_directory_that_is_full_stops_the_run_and_the_layout_is_removed(tmp_path: Path) -> None:
    class FullDisk(Heard):
        def trial_ends(self, trial: Trial) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", trial.layout)

    run = run_of(tmp_path, ScriptedHost(script()))
    with pytest.raises(OSError, match="No space left"):
        run.conduct(FullDisk())
    assert outstanding(run) == []
