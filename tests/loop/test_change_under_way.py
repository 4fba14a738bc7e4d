"""poolproof is killed with SIGKILL while one of its commands is running.

`clean` waits for the command to end, and then undoes its change.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.loop.command import Started
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_CAMPAIGN = """
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 16m}}
measure: {trials: 1, time: 1s}
"""


@pytest.mark.parametrize("program", ["losetup", "mount"])
def test_clean_right_after_the_kill_leaves_nothing(testbed: Testbed, program: str) -> None:
    gate = _gated(testbed.path, program)
    started = Started(testbed.path, *testbed.words(testbed.campaign(_CAMPAIGN)), path=f"{testbed.path / 'gated'}:")
    started.wait_for_program(program, f"{testbed.work}/")
    started.kill()
    cleaning = Started(testbed.path, "clean", str(testbed.runs / "run"))
    cleaning.wait_for(lambda: "waiting for process" in cleaning.err, "it did not wait for the command under way")
    gate.write_text("go\n")
    answer = cleaning.wait()
    assert answer.code == 0, answer.out + answer.err
    assert testbed.traces() == []


def _gated(folder: Path, program: str) -> Path:
    """Create a folder for the PATH, whose program waits for a line from a pipe before it works. Return the pipe."""
    gate, gated = folder / "gate", folder / "gated"
    os.mkfifo(gate)
    gated.mkdir()
    script = gated / program
    real = shutil.which(program)
    script.write_text(f'#!/bin/sh\ncase "$*" in *{folder}/work/*) read -r go <{gate} ;; esac\nexec {real} "$@"\n')
    script.chmod(0o755)
    return gate
