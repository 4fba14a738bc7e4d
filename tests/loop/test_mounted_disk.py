"""Someone makes a file system on a disk while it is measured alone, and mounts it.

The disk looks empty, because a bare disk has no signature. The next trial does not overwrite the file system.
"""

from pathlib import Path

import pytest

from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_CAMPAIGN = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads:
  reads: {rw: randread, bs: 4k, size: 16m, rate_iops: 500, metric: p99}
  writes: {rw: randwrite, bs: 64k, size: 200m, time_based: 0}
measure: {trials: 1, time: 5s, calibrate: true, seed: 1}
"""


def test_the_next_trial_does_not_overwrite_it(testbed: Testbed) -> None:
    started = testbed.start(_CAMPAIGN)
    started.wait_for_program("fio", "job.fio")
    disk, point = _loop_device(testbed), testbed.path / "mounted"
    point.mkdir()
    testbed.command("mkfs.ext4", "-q", "-F", disk)
    testbed.command("mount", disk, str(point))
    try:
        precious = point / "precious"
        precious.write_bytes(b"data" * 5_000_000)
        testbed.command("sync", str(precious))
        assert testbed.trial_lines() == []  # the reads are still running
        started.wait_for(lambda: len(testbed.trial_lines()) >= 2, "the second trial did not end")
    finally:
        testbed.command("umount", str(point))
    assert "someone else uses /dev/loop" in testbed.trial_lines()[1]
    started.wait()


def _loop_device(testbed: Testbed) -> str:
    """Return the loop device of the run's image."""
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    (found,) = (each for each in files if each.read_text().startswith(str(testbed.work)))
    return f"/dev/{found.parts[3]}"
