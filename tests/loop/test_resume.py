"""A run that is killed at any moment can be resumed, ends with the same cells, and leaves nothing on the machine."""

import json
import random
import time

import pytest

from tests.loop.command import Answer, ask
from tests.loop.leftovers import leftovers_of
from tests.loop.testbed import SLOW_S, Testbed

pytestmark = pytest.mark.parallel

_WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 16k, size: 128m, iodepth: 4}
  writes: {rw: write, bs: 1m, size: 192m, direct: 0, ioengine: psync, end_fsync: 1, time_based: 0}
measure: {trials: 2, time: 500ms, seed: 7}
"""
_CAMPAIGNS = {
    "directory": "layouts: {one: 'dir {data}', two: 'dir {data}'}" + _WORKLOADS,
    "loop file": "devices: {a: {file: 1G}}\nlayouts: {one: a | ext4, two: a | xfs}" + _WORKLOADS,
    "emulated": "devices: {a: {emulate: nvme, size: 512M}}\nlayouts: {one: a | ext4}" + _WORKLOADS,
}
_KILLS = 5
_LATEST_S = 4.0
_SOON_S = 30.0
_PAUSE_S = 0.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", _CAMPAIGNS)
@pytest.mark.timeout(900)
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_cells(testbed: Testbed, kind: str) -> None:
    chance = random.Random(f"kills of {kind}")
    started = testbed.start(_CAMPAIGNS[kind])
    testbed.wait_until_planned(started)
    kept: list[str] = []
    for _ in range(_KILLS):
        time.sleep(chance.uniform(0.0, _LATEST_S))
        started.kill()
        assert testbed.trial_lines()[: len(kept)] == kept
        kept = testbed.trial_lines()
        started = testbed.resume()
    answer = started.wait()
    assert answer.code == 0, answer.err
    _is_whole(testbed, answer, kind)
    assert testbed.trial_lines()[: len(kept)] == kept


@pytest.mark.parametrize("job", ["fill.fio", "job.fio"])
def test_clean_after_a_kill_while_fio_runs(testbed: Testbed, job: str) -> None:
    started = testbed.start(_CAMPAIGNS["loop file"])
    started.wait_for_program("fio", job)
    started.kill()
    _clean(testbed)
    assert testbed.traces() == []


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ("truncate", ""),
        ("losetup", "--direct-io"),
        ("mkfs.ext4", ""),
        ("mount", ""),
        ("fincore", ""),
        ("umount", ""),
        ("rm", "--one-file-system"),
    ],
)
def test_clean_after_a_kill_during_a_step_or_its_undo(testbed: Testbed, program: str, word: str) -> None:
    """The program still finishes its work, but the journal does not record that."""
    _kill_while(testbed, "loop file", program, word)
    _clean(testbed)
    assert testbed.traces() == []


@pytest.mark.parametrize(
    ("program", "word"), [("nbdkit", ""), ("losetup", "--direct-io"), ("mkfs.ext4", ""), ("kill", "")]
)
def test_clean_after_a_kill_stops_the_servers_of_emulated_disks(testbed: Testbed, program: str, word: str) -> None:
    _kill_while(testbed, "emulated", program, word)
    _clean(testbed)
    assert testbed.traces() == []


def test_clean_after_a_kill_stops_a_daemon_that_is_still_starting(testbed: Testbed) -> None:
    """nbdfuse is already running, but has not created its file yet."""
    started = testbed.start(_CAMPAIGNS["emulated"])
    started.wait_for(lambda: any("nbdfuse" in trace for trace in leftovers_of(str(testbed.work))), "no nbdfuse")
    started.kill()
    _clean(testbed)
    assert testbed.traces() == []


@pytest.mark.parametrize("job", ["fill.fio", "job.fio"])
def test_clean_stops_a_fio_that_outlives_poolproof(testbed: Testbed, job: str) -> None:
    """On this slow disk, filling or the trial would take another minute and keep the file system busy."""
    size = "4G" if job == "fill.fio" else "16m"
    started = testbed.start(f"""
devices: {{a: {{emulate: hdd-7200, size: 6G}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, size: {size}}}}}
measure: {{trials: 1, time: 60s}}
""")
    started.wait_for_program("fio", job)
    started.kill()
    assert any(f"/{job}" in trace for trace in testbed.traces())
    before = time.monotonic()
    _clean(testbed)
    assert time.monotonic() - before < _SOON_S
    assert testbed.traces() == []


@pytest.mark.slow
def test_a_finished_run_is_not_run_again(testbed: Testbed) -> None:
    first = testbed.ask(_CAMPAIGNS["directory"])
    lines = testbed.trial_lines()
    again = testbed.resume().wait()
    assert (first.code, again.code) == (0, 0)
    assert testbed.trial_lines() == lines
    assert again.json == first.json


@pytest.mark.slow
def test_a_run_with_incomplete_last_lines_can_be_resumed(testbed: Testbed) -> None:
    """A power failure can leave an incomplete last line in both files."""
    started = testbed.start(_CAMPAIGNS["loop file"])
    started.wait_for(lambda: len(testbed.trial_lines()) >= 1, "no trial ended")
    started.kill()
    kept = testbed.trial_lines()
    for name, torn in (("trials.jsonl", '{"layout":"one","work'), ("journal.jsonl", '{"line":"change","num')):
        with (testbed.runs / "run" / name).open("a") as file:
            file.write(torn)
    answer = testbed.resume().wait()
    assert answer.code == 0, answer.err
    _is_whole(testbed, answer, "loop file")
    assert testbed.trial_lines()[: len(kept)] == kept


@pytest.mark.slow
def test_a_second_resume_is_refused(testbed: Testbed) -> None:
    started = testbed.start(_CAMPAIGNS["directory"])
    started.wait_for_program("fio", "fill.fio")
    started.kill()
    first = testbed.resume()
    first.wait_for_program("fio", "job.fio")
    second = testbed.resume().wait()
    assert second.code == 7
    assert "another poolproof" in second.error["message"]
    assert "\n" not in second.error["message"]
    _is_whole(testbed, first.wait(), "directory")


def _kill_while(testbed: Testbed, kind: str, program: str, word: str) -> None:
    started = testbed.start(_CAMPAIGNS[kind], slow=program)
    testbed.wait_until_planned(started)
    started.wait_for_program(program, word)
    started.kill()
    time.sleep(SLOW_S + _PAUSE_S)


def _clean(testbed: Testbed) -> None:
    answer = ask("clean", str(testbed.runs / "run"), "--json")
    assert answer.code == 0, answer.out


def _is_whole(testbed: Testbed, answer: Answer, kind: str) -> None:
    """Check that the file and the output contain every trial of every cell exactly once."""
    layouts = ("one",) if kind == "emulated" else ("one", "two")
    cells = [(layout, workload) for layout in layouts for workload in ("reads", "writes")]
    trials = [json.loads(line) for line in testbed.trial_lines()]
    done = sorted((trial["layout"], trial["workload"], trial["number"]) for trial in trials)
    assert done == [(layout, workload, number) for layout, workload in cells for number in (1, 2)]
    assert [(cell["layout"], cell["workload"], cell["trials"]) for cell in answer.json["cells"]] == [
        (*cell, 2) for cell in cells
    ]
    assert not [trial["findings"] for trial in trials if trial["verdict"] == "failed"]
    assert testbed.traces() == []
