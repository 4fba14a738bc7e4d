"""`fill: false`: existing files are only read and never changed, regardless of the workload."""

import hashlib
import os
from pathlib import Path

import pytest

from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_CAMPAIGN = """
layouts: {found: dir {data}}
workloads: {case: {rw: randread, bs: 4k, filename: mine.db, fill: false, JOB}}
measure: {trials: 1, time: 200ms}
"""
_BYTES = 1 << 20


@pytest.fixture
def mine(testbed: Testbed) -> Path:
    path = testbed.data / "mine.db"
    path.write_bytes(os.urandom(_BYTES))
    return path


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("size: 2m", "is 1 MiB long, but the job reads up to 2 MiB"),
        ("ioengine: psync", "is 1 MiB long, but the job reads up to 256 MiB"),
        ("size: 512k, offset: 768k", "is 1 MiB long, but the job reads up to 1.25 MiB"),
        ("size: 1m, unlink: 1", "`unlink` may change or remove them"),
        ("size: 1m, unlink_each_loop: 1", "`unlink_each_loop` may change or remove them"),
        ("size: 1m, ioengine: filedelete", "`ioengine=filedelete` may change or remove them"),
        ("size: 1m, rw: randrw", "this workload would overwrite them"),
        ("size: 1m, rw: randtrim", "fio can trim only block devices"),
    ],
)
def test_a_job_that_would_change_an_existing_file_is_refused(testbed: Testbed, mine: Path, job: str, said: str) -> None:
    before = _state(mine)
    answer = testbed.ask(_campaign(job))
    assert answer.code == 3, answer.out
    assert said in answer.error["message"]
    assert _state(mine) == before


def test_an_existing_file_of_the_right_size_is_only_read(testbed: Testbed, mine: Path) -> None:
    before = _state(mine)
    (cell,) = testbed.cells(_campaign("size: 1m, numjobs: 2")).values()
    assert cell["account"]["fio_read_bytes"] > 0
    assert _state(mine) == before
    assert testbed.traces() == []


def _campaign(job: str) -> str:
    """Return a campaign. A key in `job` replaces the campaign's own."""
    asked = _CAMPAIGN.replace("rw: randread, ", "") if "rw: " in job else _CAMPAIGN
    return asked.replace("JOB", job)


def _state(path: Path) -> tuple[str, int, int]:
    """Return the contents, the inode and the modification time of the file."""
    found = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), found.st_ino, found.st_mtime_ns
