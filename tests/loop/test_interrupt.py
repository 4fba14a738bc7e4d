"""Ctrl-C, twice, and SIGTERM: the run ends in order, keeps what was finished, and can be resumed."""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.loop.command import POOLPROOF, Answer, Started
from tests.loop.ground import Ground

_CAMPAIGN = """
devices: {a: {emulate: sata-ssd, size: 512M}, b: {file: 512M}}
layouts: {both: btrfs raid1 a b, found: 'dir {data}'}
workloads:
  reads: {rw: randread, bs: 16k, size: 64m}
  writes: {rw: randwrite, bs: 16k, size: 64m}
measure: {trials: 1, time: 1s, seed: 3}
"""
_SOON_S = 90.0
_LIMIT_S = 300.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_in_a_trial_ends_the_run_in_order(ground: Ground, number: signal.Signals) -> None:
    started = _in_the_second_trial(ground)
    started.signal(number)
    _is_stopped(ground, started.wait(_SOON_S))
    _goes_on(ground)


@pytest.mark.parametrize("program", ["nbdkit", "mkfs.btrfs", "mount", "umount"])
def test_ctrl_c_while_building_or_cooling(ground: Ground, program: str) -> None:
    started = ground.start(_CAMPAIGN, slow=program)
    ground.await_begun(started)
    started.await_program(program)
    started.signal(signal.SIGINT)
    _is_stopped(ground, started.wait(_SOON_S))


def test_ctrl_c_while_filling(ground: Ground) -> None:
    started = ground.start(_CAMPAIGN)
    started.await_program("fio", "fill.fio")
    started.signal(signal.SIGINT)
    _is_stopped(ground, started.wait(_SOON_S))


def test_ctrl_c_before_anything_is_built(ground: Ground) -> None:
    """While the plan is made: fio is asked for its options, or the host for its disks."""
    started = ground.start(_CAMPAIGN)
    started.await_program("fio")
    started.signal(signal.SIGINT)
    _is_stopped(ground, started.wait(_SOON_S))
    assert not (ground.runs / "run").exists()


def test_a_second_ctrl_c_does_not_disturb_the_taking_down(ground: Ground) -> None:
    started = _in_the_second_trial(ground)
    started.signal(signal.SIGINT)
    started.await_that(lambda: "stopping and cleaning up" in started.err, "it did not say what it does")
    started.signal(signal.SIGINT)
    time.sleep(0.1)
    started.signal(signal.SIGTERM)
    answer = started.wait(_SOON_S)
    assert "still cleaning up" in answer.err
    _is_stopped(ground, answer)
    _goes_on(ground)


def test_ctrl_c_while_the_last_layout_is_taken_down(ground: Ground) -> None:
    """Every trial is done by then; what stands comes down, and resume has nothing left to measure."""
    started = ground.start(_CAMPAIGN)
    started.await_that(lambda: len(ground.trial_lines()) == 4, "the trials did not end", 150.0)
    started.signal(signal.SIGINT)
    answer = started.wait(_SOON_S)
    assert answer.code in (0, 130)  # the run may have been over already
    assert ground.traces() == []
    _goes_on(ground)


def test_a_run_goes_on_when_nobody_reads_its_progress_any_more(ground: Ground) -> None:
    """As when the `tee` behind it was ended."""
    words = ground.words(ground.campaign(_CAMPAIGN.replace("time: 1s", "time: 500ms")))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        done = subprocess.run(
            [POOLPROOF, *words], stdout=subprocess.PIPE, stderr=nobody, timeout=_LIMIT_S, check=False, text=True
        )
    assert done.returncode == 0, done.stdout
    assert len(ground.trial_lines()) == len(json.loads(done.stdout)["cells"]) == 4


def _in_the_second_trial(ground: Ground) -> Started:
    started = ground.start(_CAMPAIGN)
    started.await_that(lambda: len(ground.trial_lines()) == 1, "no trial ended", 150.0)
    started.await_program("fio", "job.fio")
    return started


def _is_stopped(ground: Ground, answer: Answer) -> None:
    assert answer.code == 130
    assert answer.error["message"]
    assert ground.traces() == []


def _goes_on(ground: Ground) -> None:
    """A resume ends with every trial once, those from before unchanged."""
    kept = ground.trial_lines()
    assert kept
    answer = ground.resume().wait()
    assert answer.code == 0, answer.err
    assert ground.trial_lines()[: len(kept)] == kept
    trials = [json.loads(line) for line in ground.trial_lines()]
    done = sorted((trial["layout"], trial["workload"]) for trial in trials)
    assert done == [(layout, workload) for layout in ("both", "found") for workload in ("reads", "writes")]
    assert {trial["verdict"] for trial in trials} == {"sound"}, [trial["findings"] for trial in trials]
    assert ground.traces() == []
