"""poolproof dies by SIGKILL while a command of its own is at work: `clean` waits for that, then undoes what it made."""

import os
import shutil
from pathlib import Path

import pytest

from tests.loop.command import Started
from tests.loop.ground import Ground

_CAMPAIGN = """
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 16m}}
measure: {trials: 1, time: 1s}
"""


@pytest.mark.parametrize("program", ["losetup", "mount"])
def test_a_clean_right_after_the_kill_leaves_nothing(ground: Ground, program: str) -> None:
    gate = _gated(ground.path, program)
    started = Started(ground.path, *ground.words(ground.campaign(_CAMPAIGN)), path=f"{ground.path / 'gated'}:")
    started.await_program(program, f"{ground.work}/")
    started.kill()
    cleaning = Started(ground.path, "clean", str(ground.runs / "run"))
    cleaning.await_that(lambda: "wait for process" in cleaning.err, "it did not wait for the command under way")
    gate.write_text("go\n")
    answer = cleaning.wait()
    assert answer.code == 0, answer.out + answer.err
    assert ground.traces() == []


def _gated(folder: Path, program: str) -> Path:
    """Put a program on the PATH that waits at a gate before it does its work on the layout; a line opens the gate."""
    gate, gated = folder / "gate", folder / "gated"
    os.mkfifo(gate)
    gated.mkdir()
    script = gated / program
    real = shutil.which(program)
    script.write_text(f'#!/bin/sh\ncase "$*" in *{folder}/work/*) read -r go <{gate} ;; esac\nexec {real} "$@"\n')
    script.chmod(0o755)
    return gate
