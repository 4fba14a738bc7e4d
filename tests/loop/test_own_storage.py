"""During a run, the storage under test is replaced, or someone makes a file system on it.

The next load writes neither to the other storage nor over the file system.
"""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_DIR = """
layouts: {one: 'dir {data}/in'}
workloads: {writes: {rw: randwrite, bs: 16k, size: 16m, rate_iops: 500, direct: 0}}
measure: {trials: 2, time: 3s}
"""
_EXT4 = """
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {writes: {rw: randwrite, bs: 16k, size: 16m, rate_iops: 500, direct: 0}}
measure: {trials: 2, time: 3s}
"""
_MERGERFS = _EXT4.replace("a | ext4", "'mergerfs (a | ext4)'")
_BARE = """
devices: {a: {file: 512M}}
layouts: {one: a | ext4}
workloads:
  reads: {rw: randread, bs: 4k, size: 16m, rate_iops: 500, metric: p99}
  writes: {rw: randwrite, bs: 64k, size: 200m, time_based: 0}
measure: {trials: 1, time: 5s, calibrate: true, seed: 0}
"""
_OPEN_S = 0.7  # fio opens its files, closes them again, and then opens them in a new process
Files = list[tuple[str, int]]


@pytest.mark.parametrize("place", ["", "in", "in/own", "in/own/writes"])
def test_a_mount_over_the_directory_of_a_dir_layout_is_not_written(testbed: Testbed, place: str) -> None:
    (testbed.data / "in").mkdir()
    started = testbed.start(_DIR)
    _wait_for_load(started, f"{testbed.data}/in/")
    own = _own_directory(testbed)
    files = place.replace("own", own.name).replace("writes", next(own.iterdir()).name)
    with _tmpfs(testbed, testbed.data / files) as other:
        answer = started.wait()
        assert _files(other) == [("precious", 4)]
    _assert_refused(testbed, answer)
    _assert_removed(testbed)


def test_a_directory_that_was_put_in_place_of_the_own_one_is_not_written(testbed: Testbed) -> None:
    (testbed.data / "in").mkdir()
    started = testbed.start(_DIR)
    _wait_for_load(started, f"{testbed.data}/in/")
    own = _own_directory(testbed)
    aside = own.rename(testbed.data / "aside")
    (own / next(aside.iterdir()).name).mkdir(parents=True)
    started.wait_for(lambda: len(testbed.trial_lines()) == 2, "the second trial did not end")
    assert _files(own) == []
    _assert_refused(testbed, started.wait())


@pytest.mark.parametrize(
    ("campaign", "name"), [(_EXT4, "one-ext4"), (_MERGERFS, "one-mergerfs"), (_MERGERFS, "one-ext4")]
)
def test_a_mount_in_place_of_the_own_one_is_not_written(testbed: Testbed, campaign: str, name: str) -> None:
    """Writes are measured without a remount, so the run's own unmount does not find the other mount."""
    started = testbed.start(campaign)
    _wait_for_load(started, "/mnt/one-")
    point = _state(testbed) / "mnt" / name
    testbed.command("umount", "-l", str(point))
    with _tmpfs(testbed, point) as other:
        started.wait_for(lambda: len(testbed.trial_lines()) == 2, "the second trial did not end")
        assert _files(other) == [("precious", 4)]
        answer = started.wait()
        assert _files(other) == [("precious", 4)]
    _assert_refused(testbed, answer)
    _assert_removed(testbed)


def test_nothing_is_written_if_the_own_file_system_is_no_longer_mounted(testbed: Testbed) -> None:
    started = testbed.start(_EXT4)
    _wait_for_load(started, "/mnt/one-")
    point = _state(testbed) / "mnt/one-ext4"
    testbed.command("umount", "-l", str(point))
    started.wait_for(lambda: len(testbed.trial_lines()) == 2, "the second trial did not end")
    assert not point.exists() or _files(point) == []
    _assert_refused(testbed, started.wait())


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (["mkfs.ext4", "-q", "-F"], "ext4"),
        (["mkswap"], "swap"),
        (["mkfs.btrfs", "--quiet", "--force"], "btrfs"),
    ],
)
def test_a_file_system_on_a_bare_disk_is_not_overwritten(testbed: Testbed, make: list[str], kind: str) -> None:
    """It is not mounted, so the disk is not in use."""
    started = testbed.start(_BARE)
    _wait_for_load(started, "/dev/loop")
    disk = _loop_device(testbed)
    testbed.command(*make, disk)
    made = testbed.command("wipefs", "--no-act", disk)
    assert testbed.trial_lines() == []
    started.wait_for(lambda: len(testbed.trial_lines()) >= 2, "the second trial did not end")
    assert testbed.command("wipefs", "--no-act", disk) == made
    reads, writes = testbed.trial_lines()[:2]
    assert '"reads"' in reads and '"verdict":"failed"' not in reads
    assert f"now contains {kind}" in writes
    started.wait()


def test_the_own_data_on_a_bare_disk_is_overwritten(testbed: Testbed) -> None:
    """Neither the data that the run itself wrote nor a pattern is a file system."""
    text = _BARE.replace("time_based: 0", "time_based: 0, buffer_pattern: '0x55aa'")
    cells = testbed.cells(text)
    assert {cell["verdict"] for cell in cells.values()} <= {"sound", "suspect"}, cells


def _wait_for_load(started: Started, place: str) -> None:
    """Wait until fio has opened a file whose path contains `place`."""
    started.wait_for_program("fio", "job.fio")
    started.wait_for(lambda: any(place in path for path in _opened_by_fio()), "fio opened no file")
    time.sleep(_OPEN_S)


def _opened_by_fio() -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "comm").read_text() == "fio\n":
                yield from (str(file.readlink()) for file in (process / "fd").iterdir())


def _state(testbed: Testbed) -> Path:
    return testbed.work / f"poolproof-{testbed.label()}"


def _own_directory(testbed: Testbed) -> Path:
    (own,) = (testbed.data / "in").glob("poolproof-*")
    return own


@contextmanager
def _tmpfs(testbed: Testbed, point: Path) -> Iterator[Path]:
    """Mount a tmpfs with a file, and yield its mount point."""
    testbed.command("mount", "-t", "tmpfs", "tmpfs", str(point))
    try:
        (point / "precious").write_text("data")
        yield point
    finally:
        testbed.command("umount", str(point))


def _files(folder: Path) -> Files:
    return sorted((each.name, each.stat().st_size) for each in folder.rglob("*") if each.is_file())


def _assert_refused(testbed: Testbed, answer: Answer) -> None:
    """The first trial may fail too, because its data cannot be written out at the end."""
    _, second = testbed.trial_lines()
    assert '"verdict":"failed"' in second, second
    assert "Traceback" not in answer.out + answer.err


def _assert_removed(testbed: Testbed) -> None:
    assert ask("clean", str(testbed.runs / "run"), "--json").code == 0
    assert testbed.traces() == []


def _loop_device(testbed: Testbed) -> str:
    """Return the loop device of the run's image."""
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    (found,) = (each for each in files if each.read_text().startswith(str(testbed.work)))
    return f"/dev/{found.parts[3]}"
