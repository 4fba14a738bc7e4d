"""`fill: false`: the user's own files are read as they are, and come out of it as they were, whatever was asked."""

import hashlib
import os
from pathlib import Path

import pytest

from tests.loop.ground import Ground

_CAMPAIGN = """
layouts: {found: dir {data}}
workloads: {case: {rw: randread, bs: 4k, filename: mine.db, fill: false, JOB}}
measure: {trials: 1, time: 200ms}
"""
_BYTES = 1 << 20


@pytest.fixture
def mine(ground: Ground) -> Path:
    path = ground.data / "mine.db"
    path.write_bytes(os.urandom(_BYTES))
    return path


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("size: 2m", "has 1 MiB, and the job goes to 2 MiB"),
        ("ioengine: psync", "has 1 MiB, and the job goes to 256 MiB"),
        ("size: 512k, offset: 768k", "has 1 MiB, and the job goes to 1.25 MiB"),
        ("size: 1m, unlink: 1", "`unlink` may change or remove them"),
        ("size: 1m, unlink_each_loop: 1", "`unlink_each_loop` may change or remove them"),
        ("size: 1m, ioengine: filedelete", "`ioengine=filedelete` may change or remove them"),
        ("size: 1m, rw: randrw", "this workload would overwrite them"),
        ("size: 1m, rw: randtrim", "this workload would overwrite them"),
    ],
)
def test_what_would_change_a_file_is_refused(ground: Ground, mine: Path, job: str, said: str) -> None:
    before = _state(mine)
    answer = ground.ask(_campaign(job))
    assert answer.code == 3, answer.out
    assert said in answer.error["message"]
    assert _state(mine) == before


def test_a_file_as_long_as_the_job_is_read_and_stays_as_it_was(ground: Ground, mine: Path) -> None:
    before = _state(mine)
    (cell,) = ground.cells(_campaign("size: 1m, numjobs: 2")).values()
    assert cell["account"]["fio_read_bytes"] > 0
    assert _state(mine) == before
    assert ground.traces() == []


def _campaign(job: str) -> str:
    """A key that the job names itself is left out of the common ones."""
    asked = _CAMPAIGN.replace("rw: randread, ", "") if "rw: " in job else _CAMPAIGN
    return asked.replace("JOB", job)


def _state(path: Path) -> tuple[str, int, int]:
    """What the file holds, its inode, and when it was written last."""
    found = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), found.st_ino, found.st_mtime_ns
