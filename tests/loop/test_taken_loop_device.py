"""A loop device that another program takes between the plan and the build is replaced by another one."""

import os
import shutil
from pathlib import Path

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed

CAMPAIGN = """
name: taken
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, size: 64m, runtime: 2s, time_based: 1}}
measure: {trials: 1}
"""

TAKING = """#!/bin/sh
case "$1" in
--direct-io=on)
    count=$(wc -l < {taken})
    if [ "$count" -lt {times} ]; then
        truncate -s 1M {folder}/other$count.img
        {losetup} "$2" {folder}/other$count.img && echo "$2" >> {taken}
    fi ;;
esac
exec {losetup} "$@"
"""
"""A losetup that first attaches another file to the requested loop device, the first {times} times."""

TIMES = 3


@pytest.fixture
def taken(testbed: Testbed) -> Path:
    """The file that lists the loop devices taken so far. They are released at the end of the test."""
    file = testbed.path / "taken"
    file.touch()
    return file


def test_a_layout_is_built_on_another_loop_device(testbed: Testbed, taken: Path) -> None:
    folder = testbed.path / "programs"
    folder.mkdir()
    script = folder / "losetup"
    script.write_text(TAKING.format(taken=taken, times=TIMES, folder=folder, losetup=shutil.which("losetup")))
    script.chmod(0o755)
    try:
        answer = ask(*testbed.words(testbed.campaign(CAMPAIGN)), env={"PATH": f"{folder}:{os.environ['PATH']}"})
        assert answer.code == 0, answer.out + answer.err
        assert len(taken.read_text().split()) == TIMES
        assert answer.json["verdicts"].get("failed", 0) == 0
    finally:
        for device in taken.read_text().split():
            testbed.command("losetup", "--detach", device)
