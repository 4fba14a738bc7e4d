"""Without root, existing directories can be fully measured. A command that needs root says so in one line."""

import os

import pytest

from tests.loop.command import AS_NOBODY, NOBODY, Answer, ask
from tests.loop.testbed import Testbed, judged

pytestmark = pytest.mark.parallel

_WORKLOADS = """
workloads:
  reads: {rw: randread, bs: 4k, size: 32m}
  writes: {rw: write, bs: 1m, size: 64m, direct: 0, ioengine: psync, end_fsync: 1}
  lost: {rw: write, bs: 1m, size: 64m, direct: 0, ioengine: psync, time_based: 0}
measure: {trials: 1, time: 500ms}
"""
_HOST = 4
_RUN = 7


@pytest.fixture
def open_testbed(testbed: Testbed) -> Testbed:
    """A testbed in which every user may write.

    Its data is on a separate disk, so nothing else changes that disk's counters.
    """
    testbed.path.chmod(0o755)
    testbed.data = testbed.loop_mount("disk", "ext4", "512M")
    for folder in (testbed.work, testbed.runs, testbed.data):
        os.chown(folder, NOBODY, NOBODY)
    return testbed


def test_a_directory_can_be_measured_completely(open_testbed: Testbed) -> None:
    answer = _run(open_testbed, "layouts: {mine: 'dir {data}'}" + _WORKLOADS)
    assert answer.code == 0, answer.out + answer.err
    verdicts = {cell["workload"]: judged(cell) for cell in answer.json["cells"]}
    assert verdicts.pop("lost") == "refuted"
    # Tests that run at the same time can make a result suspect. Without the counters of the disk, it would be unproven.
    assert set(verdicts) == {"reads", "writes"}
    assert set(verdicts.values()) <= {"sound", "suspect"}, answer.json["cells"]
    assert open_testbed.traces() == []


@pytest.mark.parametrize(
    "rest",
    [
        "devices: {a: {file: 1G}}\nlayouts: {one: a | ext4}",
        "devices: {a: {emulate: nvme, size: 1G}}\nlayouts: {one: btrfs a}",
        "layouts: {one: 'mergerfs (dir {data})'}",
    ],
    ids=["loop file", "emulated disk", "mount"],
)
def test_a_command_that_needs_root_says_so_in_one_line(open_testbed: Testbed, rest: str) -> None:
    answer = _run(open_testbed, rest + _WORKLOADS)
    assert answer.code == _HOST, answer.out + answer.err
    assert "needs root" in answer.error["message"]
    assert "\n" not in answer.error["message"]
    assert "dir" in answer.error["hint"]
    assert not (open_testbed.runs / "run").exists()
    assert open_testbed.traces() == []


@pytest.mark.parametrize("line", ["devices", "presets", "rules", "explain loop-cache", "--help"])
def test_commands_that_need_no_disk_work(line: str) -> None:
    answer = ask(*line.split(), before=AS_NOBODY)
    assert answer.code == 0, answer.err
    assert answer.out


def test_a_run_made_by_root_is_refused_with_the_right_command(open_testbed: Testbed) -> None:
    reads = "workloads: {reads: {rw: randread, bs: 4k, size: 32m}}\nmeasure: {trials: 1, time: 500ms}"
    for folder in (open_testbed.data, open_testbed.work, open_testbed.runs):
        os.chown(folder, 0, 0)  # root must not write into another user's directory
    made = open_testbed.ask(f"layouts: {{mine: 'dir {open_testbed.data}'}}\n{reads}")
    assert made.code == 0, made.out + made.err
    for command in ("resume", "clean"):
        answer = ask(command, str(open_testbed.runs / "run"), "--json", before=AS_NOBODY)
        assert answer.code == _RUN, answer.out + answer.err
        assert "cannot be written: Permission denied" in answer.error["message"]
        assert "sudo poolproof" in answer.error["hint"]


def _run(testbed: Testbed, text: str) -> Answer:
    return ask(*testbed.words(testbed.campaign(text)), before=AS_NOBODY, env={"HOME": str(testbed.runs)})
