"""A `dir` layout fails before the file system that contains its directory is full."""

import os
import shutil
import threading
import time

import pytest

from tests.loop.command import Started, ask
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_MIB = 1024**2
_CAMPAIGN = """
layouts: {{one: dir {data}}}
workloads: {{reads: {{rw: randread, bs: 4k, size: 16m}}}}
measure: {{trials: 1, time: 60s, seed: 7}}
"""

_EMULATED = """
devices: {a: {emulate: nvme, size: 512M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, size: 16m}}
measure: {trials: 1, time: 40s, seed: 7}
"""
_FILLED_S = 15.0


def test_fio_is_stopped_if_the_directory_has_too_little_space(testbed: Testbed) -> None:
    data = testbed.loop_mount("small", "ext4", "600M")
    started = Started(testbed.path, *testbed.words(testbed.campaign(_CAMPAIGN.format(data=data))))
    started.wait_for(lambda: any(data.glob("poolproof-*/*")), "no test files", 120.0)
    free = shutil.disk_usage(data).free
    testbed.command("fallocate", "--length", str(free - 40 * _MIB), str(data / "of another program"))
    begun = time.monotonic()
    answer = started.wait()
    assert time.monotonic() - begun < 50  # the trial would take 60 s
    assert "failed" in answer.out and f"the file system of {data} has only " in answer.out
    assert [path.name for path in data.iterdir() if path.name != "lost+found"] == ["of another program"]


def test_fio_is_stopped_if_the_directory_has_too_few_inodes(testbed: Testbed) -> None:
    data = testbed.loop_mount("small", "ext4", "600M")
    started = Started(testbed.path, *testbed.words(testbed.campaign(_CAMPAIGN.format(data=data))))
    started.wait_for(lambda: any(data.glob("poolproof-*/*")), "no test files", 120.0)
    others = data / "of another program"
    others.mkdir()
    for number in range(os.statvfs(data).f_ffree - 2_000):
        (others / str(number)).touch()
    begun = time.monotonic()
    answer = started.wait()
    assert time.monotonic() - begun < 50  # the trial would take 60 s
    assert "failed" in answer.out and f"the file system of {data} has only " in answer.out
    assert " free inodes left" in answer.out
    assert not any(data.glob("poolproof-*"))


def test_fio_is_stopped_if_another_program_takes_the_ram_of_an_emulated_disk(testbed: Testbed) -> None:
    """Another run with --share-host plans with the same free RAM. A small file system takes the place of the RAM."""
    campaign = testbed.campaign(_EMULATED)
    script = """
        mount -t tmpfs -o size=300m,mode=1777 tmpfs /dev/shm || exit 99
        { for _ in $(seq 600); do [ -e "$0" ] && break; sleep 0.1; done
          cd /dev/shm; free=$(df --output=avail . | tail -n 1)
          exec fallocate --length $((free - 15000))k other; } >/dev/null 2>&1 &
        exec "$@"
    """
    go = testbed.path / "go"
    before = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(go)]
    timer = threading.Timer(_FILLED_S, go.touch)
    timer.start()
    try:
        answer = ask(*testbed.words(campaign), before=before)
    finally:
        timer.cancel()
        go.touch()
    assert "the file system of /dev/shm/poolproof-" in answer.out and " left" in answer.out, answer.out


def test_test_files_must_leave_space_in_the_directory(testbed: Testbed) -> None:
    data = testbed.loop_mount("small", "ext4", "600M")
    text = _CAMPAIGN.format(data=data).replace("16m", f"{shutil.disk_usage(data).free // _MIB - 100}m")
    refused = ask(*testbed.words(testbed.campaign(text)), "--dry-run")
    assert refused.code == 3 and "layout one has room for about " in refused.error["message"]
    fits = _CAMPAIGN.format(data=data).replace("16m", f"{shutil.disk_usage(data).free // _MIB - 140}m")
    assert ask(*testbed.words(testbed.campaign(fits)), "--dry-run").code == 0


def test_test_files_must_leave_inodes_in_the_directory(testbed: Testbed) -> None:
    """Without a free inode, no program can create a file on the file system."""
    data = testbed.loop_mount("small", "ext4", "600M")
    free = os.statvfs(data).f_favail
    text = _CAMPAIGN.format(data=data).replace("size: 16m", "size: 160m, nrfiles: {files}")
    refused = ask(*testbed.words(testbed.campaign(text.replace("{files}", str(free * 4 // 5)))), "--dry-run")
    assert refused.code == 4 and f"has only {free} free inodes" in refused.error["message"]
    fits = text.replace("{files}", str(free * 2 // 3))
    assert ask(*testbed.words(testbed.campaign(fits)), "--dry-run").code == 0
