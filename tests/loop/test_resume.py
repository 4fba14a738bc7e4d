"""A run that is killed at any moment goes on, ends with the same cells, and leaves nothing on the machine."""

import json
import random
import time

import pytest

from tests.loop.command import Answer, ask
from tests.loop.ground import SLOW_S, Ground
from tests.loop.traces import traces_of

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
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_cells(ground: Ground, kind: str) -> None:
    chance = random.Random(f"kills of {kind}")
    started = ground.start(_CAMPAIGNS[kind])
    ground.await_begun(started)
    kept: list[str] = []
    for _ in range(_KILLS):
        time.sleep(chance.uniform(0.0, _LATEST_S))
        started.kill()
        assert ground.trial_lines()[: len(kept)] == kept
        kept = ground.trial_lines()
        started = ground.resume()
    answer = started.wait()
    assert answer.code == 0, answer.err
    _is_whole(ground, answer, kind)
    assert ground.trial_lines()[: len(kept)] == kept


@pytest.mark.parametrize("job", ["fill.fio", "job.fio"])
def test_clean_after_a_kill_while_fio_runs(ground: Ground, job: str) -> None:
    started = ground.start(_CAMPAIGNS["loop file"])
    started.await_program("fio", job)
    started.kill()
    _clean(ground)
    assert ground.traces() == []


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
def test_clean_after_a_kill_while_a_step_is_made_or_undone(ground: Ground, program: str, word: str) -> None:
    """The program ends its work all the same, and nobody wrote down that it did."""
    _kill_while(ground, "loop file", program, word)
    _clean(ground)
    assert ground.traces() == []


@pytest.mark.parametrize(
    ("program", "word"), [("nbdkit", ""), ("losetup", "--direct-io"), ("mkfs.ext4", ""), ("kill", "")]
)
def test_clean_after_a_kill_ends_what_serves_emulated_disks(ground: Ground, program: str, word: str) -> None:
    _kill_while(ground, "emulated", program, word)
    _clean(ground)
    assert ground.traces() == []


def test_clean_after_a_kill_ends_a_daemon_that_is_only_starting(ground: Ground) -> None:
    """nbdfuse runs, but has not brought its file into the file system."""
    started = ground.start(_CAMPAIGNS["emulated"])
    started.await_that(lambda: any("nbdfuse" in trace for trace in traces_of(str(ground.work))), "no nbdfuse")
    started.kill()
    _clean(ground)
    assert ground.traces() == []


@pytest.mark.parametrize("job", ["fill.fio", "job.fio"])
def test_a_fio_that_outlives_poolproof_is_ended_by_clean(ground: Ground, job: str) -> None:
    """On a slow disk both the filling and the trial would go on for a minute, and hold the file system."""
    size = "4G" if job == "fill.fio" else "16m"
    started = ground.start(f"""
devices: {{a: {{emulate: hdd-7200, size: 6G}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, size: {size}}}}}
measure: {{trials: 1, time: 60s}}
""")
    started.await_program("fio", job)
    started.kill()
    assert any(f"/{job}" in trace for trace in ground.traces())
    before = time.monotonic()
    _clean(ground)
    assert time.monotonic() - before < _SOON_S
    assert ground.traces() == []


def test_a_finished_run_is_not_run_again(ground: Ground) -> None:
    first = ground.ask(_CAMPAIGNS["directory"])
    lines = ground.trial_lines()
    again = ground.resume().wait()
    assert (first.code, again.code) == (0, 0)
    assert ground.trial_lines() == lines
    assert again.json == first.json


def test_half_written_lines_are_survived(ground: Ground) -> None:
    """A power cut can leave the beginning of a line at the end of both files."""
    started = ground.start(_CAMPAIGNS["loop file"])
    started.await_that(lambda: len(ground.trial_lines()) >= 1, "no trial ended")
    started.kill()
    kept = ground.trial_lines()
    for name, torn in (("trials.jsonl", '{"layout":"one","work'), ("journal.jsonl", '{"line":"change","num')):
        with (ground.runs / "run" / name).open("a") as file:
            file.write(torn)
    answer = ground.resume().wait()
    assert answer.code == 0, answer.err
    _is_whole(ground, answer, "loop file")
    assert ground.trial_lines()[: len(kept)] == kept


def test_of_two_resumes_the_second_gives_way(ground: Ground) -> None:
    started = ground.start(_CAMPAIGNS["directory"])
    started.await_program("fio", "fill.fio")
    started.kill()
    first = ground.resume()
    first.await_program("fio", "job.fio")
    second = ground.resume().wait()
    assert second.code == 7
    assert "another poolproof" in second.error["message"]
    assert "\n" not in second.error["message"]
    _is_whole(ground, first.wait(), "directory")


def _kill_while(ground: Ground, kind: str, program: str, word: str) -> None:
    started = ground.start(_CAMPAIGNS[kind], slow=program)
    ground.await_begun(started)
    started.await_program(program, word)
    started.kill()
    time.sleep(SLOW_S + _PAUSE_S)


def _clean(ground: Ground) -> None:
    answer = ask("clean", str(ground.runs / "run"), "--json")
    assert answer.code == 0, answer.out


def _is_whole(ground: Ground, answer: Answer, kind: str) -> None:
    """Every trial of every cell, each once, in the file and in what was printed."""
    layouts = ("one",) if kind == "emulated" else ("one", "two")
    cells = [(layout, workload) for layout in layouts for workload in ("reads", "writes")]
    trials = [json.loads(line) for line in ground.trial_lines()]
    done = sorted((trial["layout"], trial["workload"], trial["number"]) for trial in trials)
    assert done == [(layout, workload, number) for layout, workload in cells for number in (1, 2)]
    assert [(cell["layout"], cell["workload"], cell["trials"]) for cell in answer.json["cells"]] == [
        (*cell, 2) for cell in cells
    ]
    assert not [trial["findings"] for trial in trials if trial["verdict"] == "failed"]
    assert ground.traces() == []
