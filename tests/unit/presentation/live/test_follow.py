"""Following a run by reading its files: each trial is reported exactly once, and nothing is written."""

import fcntl
import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import RunError
from poolproof.measure.load_watch import RatePublisher
from poolproof.measure.model import Listener, LiveRates
from poolproof.metrics import TrialMetrics
from poolproof.presentation.charts.trial_data import trial_data
from poolproof.presentation.live.follow import MEASURING, Follower, rates_of
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.live_rates import LiveNotes
from poolproof.results.runs.model import RunRecord, Trial, TrialKey
from tests.golden import Message
from tests.unit.presentation.html_report.making import CAMPAIGN, MIB, all_trials, make_run, readings, trial
from tests.unit.presentation.live.serving import LIMIT_S, POOLPROOF, going


class Heard(Listener):
    """Records the events that it receives."""

    wants_live = True

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.rates: list[LiveRates] = []

    def layout_begins(self, layout: str, trials_to_do: int, build: int = 1) -> None:
        self.lines.append(f"layout {layout} {trials_to_do}" + (f" build {build}" if build > 1 else ""))

    def trial_added(self, cell: CellKey) -> None:
        self.lines.append(f"added {cell.layout} {cell.workload}")

    def activity_begins(self, title: str) -> None:
        self.lines.append(f"step {title}")

    def trial_begins(self, key: TrialKey) -> None:
        self.lines.append(f"begins {key.layout} {key.workload} {key.number}")

    def live(self, rates: LiveRates) -> None:
        self.rates.append(rates)

    def trial_ends(self, ended: Trial) -> None:
        self.lines.append(f"ends {ended.layout} {ended.workload} {ended.number}")

    def warning(self, message: str) -> None:
        self.lines.append(message)


def test_each_trial_is_told_once_with_its_layout_and_its_rates(tmp_path: Path) -> None:
    trials = all_trials()
    path = make_run(tmp_path / "run", trials[:3])
    with going(path) as run:
        follower, heard = Follower(path), Heard()
        assert [each.key for each in follower.before] == [each.key for each in trials[:3]]
        assert follower.update(heard).running and not [line for line in heard.lines if line[:4] == "ends"]
        for each in trials[3:5]:
            run.append(each)
            names = [disk.device for disk in each.leaves]
            run.keep_samples(run.trial_directory(each.key), names, list(readings(each)))
        follower.update(heard)
        follower.update(heard)
    told = [line for line in heard.lines if line[:4] != "step"]
    assert told == [
        "begins bare-a stream 2",
        "ends bare-a stream 2",
        "layout one 4",
        "begins one reads 1",
        "ends one reads 1",
    ]
    assert len(heard.rates) == 22 and max(rate.leaf_bytes_per_s for rate in heard.rates) > 9 * MIB
    assert not follower.update(heard).running


def test_the_trial_whose_directory_stands_without_its_line_is_at_hand(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    with going(path) as run:
        os.utime(path / "trials.jsonl", (1000, 1000))
        begun = run.trial_directory(TrialKey("bare-a", "stream", 1))
        os.utime(begun, (2000, 2000))
        follower, heard = Follower(path), Heard()
        assert follower.update(heard).since_s == 2000
        follower.update(heard)
        assert heard.lines == ["begins bare-a stream 1", f"step {MEASURING}"]


def test_rates_of_the_trial_at_hand_are_told_while_it_runs(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    with going(path) as run:
        os.utime(path / "trials.jsonl", (1000, 1000))
        run.trial_directory(TrialKey("bare-a", "stream", 1))
        follower, heard = Follower(path), Heard()
        teller = RatePublisher(Listener(), run, TrialKey("bare-a", "stream", 1))
        assert not teller.is_heard()
        with follower.watching():
            for second in range(1, 4):
                assert teller.is_heard()
                teller.tell(LiveRates(float(second), 2e6 * second, 3e6))
                follower.update(heard)
                follower.update(heard)
            assert heard.rates == [LiveRates(float(second), 2e6 * second, 3e6) for second in range(1, 4)]
            run.append(trial("bare-a", "stream", 1))
            follower.update(heard)
            assert heard.lines[-1] == "ends bare-a stream 1" and len(heard.rates) == 3
        assert not teller.is_heard()


def test_nothing_is_written_for_nobody_and_others_trials_are_not_this_ones(tmp_path: Path) -> None:
    run = RunDirectory.open(make_run(tmp_path / "run", []))
    notes = LiveNotes(run)
    teller = RatePublisher(Listener(), run, TrialKey("one", "reads", 1))
    assert not teller.is_heard()
    teller.tell(LiveRates(1.0, None, 3e6))
    assert not (run.path / "live.jsonl").exists()
    with notes.watched():
        assert teller.is_heard()
        teller.tell(LiveRates(2.0, None, 3e6))
        assert [line.elapsed_s for line in notes.lines(TrialKey("one", "reads", 1))] == [2.0]
        assert notes.lines(TrialKey("one", "reads", 2)) == []
        with (run.path / "live.jsonl").open("ab") as file:
            file.write(b'{"layout":"one","wor')
        assert len(notes.lines(TrialKey("one", "reads", 1))) == 1
    notes.clear()
    assert notes.lines(TrialKey("one", "reads", 1)) == []


def test_between_trials_the_journal_tells_the_step(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    with going(path):
        os.utime(path / "trials.jsonl", (1000, 1000))
        journal = path / "journal.jsonl"
        journal.write_text('{"line":"change","number":1,"title":"make ext4 on a","argv":[],"undo":null}\n{"line":')
        follower, heard = Follower(path), Heard()
        follower.update(heard)
        journal.write_text('{"line":"undone","number":1,"schema":1}\n')
        follower.update(heard)
        assert heard.lines == ["step make ext4 on a", "step cleaning up"]


def test_a_trial_beyond_those_planned_is_told_as_added(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials())
    with going(path) as run:
        follower, heard = Follower(path), Heard()
        run.append(trial("pair", "reads", 3))
        follower.update(heard)
        assert heard.lines[:3] == ["added pair reads", "begins pair reads 3", "ends pair reads 3"]


def test_a_half_line_waits_and_a_damaged_one_is_named(tmp_path: Path, message: Message) -> None:
    path = make_run(tmp_path / "run", [])
    follower, heard = Follower(path), Heard()
    whole = (make_run(tmp_path / "other", [trial("one", "reads")]) / "trials.jsonl").read_bytes()
    with (path / "trials.jsonl").open("ab", buffering=0) as file:
        file.write(whole[:40])
        follower.update(heard)
        assert heard.lines == []
        file.write(whole[40:] + b"{}\n")
        follower.update(heard)
    assert "ends one reads 1" in heard.lines
    assert all(fact in message(heard.lines[-1]) for fact in ("1 unreadable line", "trials.jsonl"))


def test_who_looks_whether_a_run_goes_on_keeps_nobody_from_it(tmp_path: Path) -> None:
    run = RunDirectory.open(make_run(tmp_path / "run", []))
    assert not run.is_going() and not (run.path / ".lock").exists()
    with run.locked():
        assert run.is_going()
    assert not run.is_going()
    with run.locked():
        pass


def test_without_samples_there_are_no_rates(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    (samples,) = path.rglob("samples.jsonl")
    for text in ("{damaged\n", ""):
        samples.write_text(text)
        assert rates_of(trial_data(path, all_trials()[0], 200)) == []


def test_a_trial_that_claims_to_have_taken_millennia_has_few_rates(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    (samples,) = path.rglob("samples.jsonl")
    before, rest = samples.read_text().split("\n", 1)
    samples.write_text(json.dumps({**json.loads(before), "at_s": -1e12}) + "\n" + rest)
    rates = rates_of(trial_data(path, all_trials()[0], 200))
    last_s = json.loads(rest.splitlines()[-1])["at_s"]
    assert 1 < len(rates) <= 100_000
    assert rates[-1].elapsed_s == pytest.approx(last_s + 1e12, abs=1)


def test_a_lock_that_another_program_holds_does_not_delay_the_display(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:1])
    begun = time.monotonic()
    with (path / "run.json").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with Follower(path).watching():
            assert time.monotonic() - begun < 30


def test_a_finished_run_shows_its_table_and_says_so(tmp_path: Path, message: Message) -> None:
    done = _watch(make_run(tmp_path / "run", all_trials()))
    assert done.returncode == 0
    assert "✓ sound" in done.stdout and "ended" in message(done.stderr)


def test_show_says_how_to_follow_a_run_in_progress(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials()[:3])
    with going(path):
        during = _typed("show", path)
    assert during.stdout.endswith(f"trials done so far; to follow the run: poolproof watch {path}\n")
    assert _typed("show", path).stdout.endswith(f"trials done; to continue: poolproof resume {path}\n")


def test_show_says_that_a_run_has_no_results(tmp_path: Path, message: Message) -> None:
    path = make_run(tmp_path / "run", [])
    with going(path):
        during = _typed("show", path).stdout
    after = _typed("show", path).stdout
    spaced = _typed("show", make_run(tmp_path / "my run", [])).stdout
    assert spaced.endswith(f"to continue: poolproof resume '{tmp_path}/my run'\n")
    for text, words in ((during, "no results yet"), (after, "no trial of a layout has finished")):
        assert words in message(text.replace(str(path), "RUN")) and "verdict" not in text


def test_a_run_that_was_killed_between_two_trials_of_a_cell_has_not_ended(tmp_path: Path, message: Message) -> None:
    """The minimum number of trials has finished, but their results differ.

    Both messages say that more trials are needed.
    """
    text = "layouts: {one: dir /srv}\nworkloads: {r: {rw: read, size: 1m}}\nmeasure: {until: 3%, trials: 2..6}"
    record = RunRecord("0.1.0", text, "l", "/s", "/r", 1, "local", "2026-11-22T00:00:00+00:00", {}, {})
    run = RunDirectory.create(tmp_path / "run", text, record)
    for number, iops in ((1, 100.0), (2, 200.0), (3, 150.0)):
        run.append(Trial("one", "r", number, "sound", (), "iops", TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096)))
    done = _watch(run.path)
    assert "3 of 4 trials" in done.stdout
    assert f"poolproof resume {run.path}" in done.stdout
    assert f"poolproof resume {run.path}" in message(done.stderr)


def test_for_machines_the_end_is_the_object_of_the_run(tmp_path: Path) -> None:
    done = _watch(make_run(tmp_path / "run", all_trials()), "--json")
    assert done.returncode == 0 and len(json.loads(done.stdout)["cells"]) == 6


def test_an_empty_run_says_how_to_go_on(tmp_path: Path) -> None:
    done = _watch(make_run(tmp_path / "run", []))
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "poolproof resume" in done.stderr


@pytest.mark.parametrize("command", ["watch", "show"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_of_a_damaged_run_what_is_whole_is_printed_and_what_is_missing_named(
    command: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    trials = make_run(tmp_path / "run", all_trials()) / "trials.jsonl"
    lines = trials.read_bytes().splitlines(keepends=True)
    trials.write_bytes(b"".join([lines[0][:40] + b"\n", *lines[1:]]))
    done = _typed(command, tmp_path / "run", *words)
    assert done.returncode == RunError.exit_code
    assert done.stderr.startswith("missing: 1 trial ")
    assert "trials.jsonl is damaged" in done.stderr
    assert ("has ended" in done.stderr) is (command == "watch")
    assert "resume" not in done.stdout
    if words:
        assert sum(cell["trials"] for cell in json.loads(done.stdout)["cells"]) == len(lines) - 1
    else:
        assert "✓ sound" in done.stdout and "pair" in done.stdout


def test_without_run_json_show_goes_on_with_the_rest(tmp_path: Path, message: Message) -> None:
    (make_run(tmp_path / "run", all_trials()) / "run.json").unlink()
    done = _typed("show", tmp_path / "run")
    assert done.returncode == RunError.exit_code
    assert message(done.stderr).startswith("missing: run.json ")
    assert "✓ sound" in done.stdout


def test_a_directory_that_is_no_run_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        done = _watch(path)
        assert done.returncode == RunError.exit_code and "run directory" in done.stderr


def _watch(run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return _typed("watch", run, *words)


def _typed(command: str, run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [POOLPROOF, command, str(run), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.parametrize("length", ["time: 5s", "until: 3%"])
def test_a_new_build_of_the_same_layout_is_told(tmp_path: Path, length: str) -> None:
    measure = "measure: {" + length + ", builds: 2, trials: 2}"
    campaign = CAMPAIGN.replace("measure: {time: 5s, trials: 2}", measure)
    assert measure in campaign
    path = make_run(tmp_path / "run", [trial("one", "reads", number) for number in (1, 2)], campaign=campaign)
    with going(path) as run:
        os.utime(path / "trials.jsonl", (1000, 1000))
        follower, heard = Follower(path), Heard()
        journal = path / "journal.jsonl"
        journal.write_text('{"line":"change","number":1,"title":"make ext4 on a","argv":[],"undo":null}\n')
        os.utime(journal, (1500, 1500))
        os.utime(run.trial_directory(TrialKey("one", "reads", 3)), (2000, 2000))
        follower.update(heard)
        follower.update(heard)
        run.append(replace(trial("one", "reads", 3), build=2))
        follower.update(heard)
        told = [line for line in heard.lines if line[:4] != "step"]
        assert told[0].startswith("layout one ") and told[0].endswith(" build 2")
        assert told[1:] == ["begins one reads 3", "ends one reads 3"]
