"""A fio that never ends is killed when it stops making progress, and the trial is repeated."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.loop.testbed import Testbed, judged

pytestmark = [pytest.mark.slow, pytest.mark.waits]

_CAMPAIGN = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, size: 32m, rate_iops: 300, numjobs: 2}}
measure: {until: 50%, min: 2s, max: 3s, trials: 1, seed: 5}
"""
_LIMIT_S = 150.0


def test_a_hung_fio_is_killed_and_run_again(testbed: Testbed) -> None:
    """A stopped process reacts only to SIGKILL, like a process in a deadlock.

    Meanwhile, another program reads the disk.
    """
    started = testbed.start(_CAMPAIGN)
    started.wait_for_program("fio", "--output-format")
    stopped = _fios(str(testbed.work))
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    with _probed(testbed.work):
        answer = started.wait(_LIMIT_S)
    assert answer.code == 0, answer.out + answer.err
    assert stopped and not set(stopped) & set(_fios(str(testbed.work)))
    (cell,) = answer.json["cells"]
    (note,) = [finding for finding in cell["findings"] if finding["message"].startswith("this trial was repeated")]
    assert (note["rule"], note["effect"]) == ("work-done", "notes")
    assert "no I/O for 1 min" in note["message"]
    assert judged(cell, "capped-rate") == "sound" and cell["iops"]["mean"] > 0
    assert len(testbed.trial_lines()) == 1
    assert testbed.traces() == []


@contextmanager
def _probed(work: Path) -> Iterator[None]:
    """Read the beginning of the image's loop device again and again, like programs that look for file systems."""
    (image,) = work.glob("poolproof-*/a.img")
    files = list(Path("/sys/block").glob("loop*/loop/backing_file"))
    (device,) = (Path("/dev", file.parts[3]) for file in files if image.samefile(file.read_text().strip()))
    ended = threading.Event()

    def probe() -> None:
        while not ended.wait(5.0):
            with device.open("rb", buffering=0) as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                opened.read(2**20)

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)


def _fios(place: str) -> list[int]:
    """Return the process IDs of the fio that measures and of its jobs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0] == "fio" and any(word.startswith(f"--output={place}") for word in words):
            found.append(int(folder.name))
    return found
