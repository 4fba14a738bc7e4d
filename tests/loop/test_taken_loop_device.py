"""A loop device that another program takes between the plan and the build is replaced by another one.

If another program takes it later, nothing is written to it.
"""

import os
import shutil
from pathlib import Path

import pytest

from poolproof.campaign.model import Device, LoopFile
from poolproof.devices.file import plan
from poolproof.devices.model import IdentityCheck
from poolproof.errors import GuardError
from poolproof.facts.block import loop_facts
from poolproof.facts.machine import survey
from poolproof.hosts.local import LocalHost
from poolproof.provision.apply import apply, check_identity, repeat
from poolproof.provision.directories import site_of
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all
from poolproof.steps import Step
from poolproof.undos import Owned
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


def test_a_loop_device_that_now_has_another_file_is_not_written_or_detached(testbed: Testbed) -> None:
    host, label, size = LocalHost(), "0badcafe", 16 * 1024**2
    state = str(testbed.path)
    site = site_of(survey(host, ["losetup", "truncate"]), label, state, "/dev/shm/poolproof-0badcafe", is_here=True)
    used = {loop.number for loop in loop_facts(host) if loop.backing_file}
    number = next(number for number in range(200, 250) if number not in used)
    planned = plan(Device("a", LoopFile(size)), LoopFile(size), site, number, None)
    path, journal = planned.volume.path, Journal(testbed.path / "journal.jsonl")
    checks, allowed = [IdentityCheck(path, planned.identity_check)], frozenset({path})
    make = Step("make ext4", ("mkfs.ext4", "-q", path), overwrites=(path,))
    apply([*planned.steps, make], host, journal, may_overwrite=allowed, identity_checks=checks)
    other = testbed.path / "other.img"
    other.write_bytes(b"precious" * (size // 8))
    testbed.command("losetup", "--detach", path)
    testbed.command("losetup", path, str(other))
    try:
        with pytest.raises(GuardError, match=f"is attached to {other} instead of .*a.img"):
            apply([make], host, journal, may_overwrite=allowed, identity_checks=checks)
        with pytest.raises(GuardError, match="refused to mount it"):
            repeat([Step("mount it", ("mount", path, "/nowhere"))], host, checks)
        with pytest.raises(GuardError, match="refused to measure one"):
            check_identity("measure one", checks, host)
        assert undo_all(journal, host, Owned(label, (state,))) == ()
        assert any(loop.backing_file == str(other) for loop in loop_facts(host))
        assert other.read_bytes() == b"precious" * (size // 8)
    finally:
        testbed.command("losetup", "--detach", path)
