"""After Ctrl-C, a second Ctrl-C, SIGTERM, SIGHUP or SIGQUIT, the run cleans up and can be resumed.

Finished trials are saved.
"""

import json
import os
import signal
import subprocess
import time

import pytest

from tests.loop.command import POOLPROOF, Answer, Started
from tests.loop.testbed import Testbed, judged

pytestmark = pytest.mark.parallel

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


_SLOW_SIGNALS = [
    pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
]


@pytest.mark.parametrize("number", [signal.SIGINT, *_SLOW_SIGNALS], ids=lambda number: number.name)
def test_a_signal_during_a_trial_stops_the_run_and_cleans_up(testbed: Testbed, number: signal.Signals) -> None:
    started = _in_the_second_trial(testbed)
    started.signal(number)
    _stopped_cleanly(testbed, started.wait(_SOON_S))
    _resumes_whole(testbed)


@pytest.mark.parametrize("program", ["nbdkit", "mkfs.btrfs", "mount", "umount"])
def test_ctrl_c_while_building_or_dropping_caches(testbed: Testbed, program: str) -> None:
    started = testbed.start(_CAMPAIGN, slow=program)
    testbed.wait_until_planned(started)
    started.wait_for_program(program)
    started.signal(signal.SIGINT)
    _stopped_cleanly(testbed, started.wait(_SOON_S))


def test_ctrl_c_while_filling(testbed: Testbed) -> None:
    started = testbed.start(_CAMPAIGN)
    started.wait_for_program("fio", "fill.fio")
    started.signal(signal.SIGINT)
    _stopped_cleanly(testbed, started.wait(_SOON_S))


def test_ctrl_c_before_anything_is_built(testbed: Testbed) -> None:
    """The signal arrives during planning, while fio is asked for its options or the host for its disks."""
    started = testbed.start(_CAMPAIGN)
    started.wait_for_program("fio")
    started.signal(signal.SIGINT)
    _stopped_cleanly(testbed, started.wait(_SOON_S))
    assert not (testbed.runs / "run").exists()


@pytest.mark.slow
def test_a_second_ctrl_c_does_not_disturb_the_cleanup(testbed: Testbed) -> None:
    started = _in_the_second_trial(testbed)
    started.signal(signal.SIGINT)
    started.wait_for(lambda: "stopping and cleaning up" in started.err, "it did not say what it does")
    started.signal(signal.SIGINT)
    time.sleep(0.1)
    started.signal(signal.SIGTERM)
    answer = started.wait(_SOON_S)
    assert "still cleaning up" in answer.err
    _stopped_cleanly(testbed, answer)
    _resumes_whole(testbed)


@pytest.mark.slow
def test_ctrl_c_while_the_last_layout_is_removed(testbed: Testbed) -> None:
    """All trials have ended. The layout is still removed, and `resume` has nothing left to measure."""
    started = testbed.start(_CAMPAIGN)
    started.wait_for(lambda: len(testbed.trial_lines()) == 4, "the trials did not end", 150.0)
    started.signal(signal.SIGINT)
    answer = started.wait(_SOON_S)
    assert answer.code in (0, 130)  # the run may have been over already
    assert testbed.traces() == []
    _resumes_whole(testbed)


def test_a_run_continues_when_its_progress_pipe_is_closed(testbed: Testbed) -> None:
    """This happens, for example, if a `tee` that reads poolproof's output ends."""
    words = testbed.words(testbed.campaign(_CAMPAIGN.replace("time: 1s", "time: 500ms")))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        done = subprocess.run(
            [POOLPROOF, *words], stdout=subprocess.PIPE, stderr=nobody, timeout=_LIMIT_S, check=False, text=True
        )
    assert done.returncode == 0, done.stdout
    assert len(testbed.trial_lines()) == len(json.loads(done.stdout)["cells"]) == 4


def _in_the_second_trial(testbed: Testbed) -> Started:
    started = testbed.start(_CAMPAIGN)
    started.wait_for(lambda: len(testbed.trial_lines()) == 1, "no trial ended", 150.0)
    started.wait_for_program("fio", "job.fio")
    return started


def _stopped_cleanly(testbed: Testbed, answer: Answer) -> None:
    assert answer.code == 130
    assert answer.error["message"]
    assert testbed.traces() == []


def _resumes_whole(testbed: Testbed) -> None:
    """Check that a resumed run has every trial exactly once, and that the earlier trials are unchanged."""
    kept = testbed.trial_lines()
    assert kept
    answer = testbed.resume().wait()
    assert answer.code == 0, answer.err
    assert testbed.trial_lines()[: len(kept)] == kept
    trials = [json.loads(line) for line in testbed.trial_lines()]
    done = sorted((trial["layout"], trial["workload"]) for trial in trials)
    assert done == [(layout, workload) for layout in ("both", "found") for workload in ("reads", "writes")]
    assert {judged(trial) for trial in trials} == {"sound"}, [trial["findings"] for trial in trials]
    assert testbed.traces() == []
