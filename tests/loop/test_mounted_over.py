"""Someone mounts something over a run's own mount, or inside it.

Neither `clean` nor the run removes it. A tmpfs would lose its files.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.loop.command import Answer, ask
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_EXT4 = """
devices: {a: {file: 256M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 16m}}
"""
_MERGERFS = """
devices: {a: {file: 256M}}
layouts: {one: 'mergerfs (a | ext4)'}
workloads: {reads: {rw: randread, bs: 16k, size: 16m}}
"""
_BUILD = 6
# `clean` waits a minute for the undo of the hidden mount.
_WAITS = (pytest.mark.slow, pytest.mark.waits)


@pytest.mark.parametrize(
    ("campaign", "place"),
    [
        (_EXT4, "mnt/one-ext4"),
        (_EXT4, "mnt/one-ext4/inside"),
        pytest.param(_EXT4, "mnt", marks=_WAITS),
        (_EXT4, ""),
        (_MERGERFS, "mnt/one-mergerfs"),
        (_MERGERFS, "mnt/one-mergerfs/inside"),
        (_MERGERFS, "mnt/one-ext4"),
    ],
)
def test_clean_does_not_unmount_it(testbed: Testbed, campaign: str, place: str) -> None:
    started = testbed.start(campaign + "measure: {trials: 1, time: 60s}")
    started.wait_for_program("fio", "job.fio")
    started.kill()
    with _foreign(testbed, place) as precious:
        answer = _clean(testbed)
        assert answer.code != 0
        assert precious.read_text() == "data"
        assert "mounted" in answer.error["message"] and "umount" in answer.out
    assert _clean(testbed).code == 0
    assert testbed.traces() == []


def test_clean_does_not_unmount_what_took_the_place_of_its_mount(testbed: Testbed) -> None:
    started = testbed.start(_EXT4 + "measure: {trials: 1, time: 60s}")
    started.wait_for_program("fio", "job.fio")
    started.kill()
    testbed.command("umount", "-l", str(testbed.work / f"poolproof-{testbed.label()}" / "mnt/one-ext4"))
    with _foreign(testbed, "mnt/one-ext4") as precious:
        answer = _clean(testbed)
        assert answer.code != 0
        assert precious.read_text() == "data"
        assert "is mounted there instead" in answer.error["message"]
    assert _clean(testbed).code == 0
    assert testbed.traces() == []


def test_a_run_does_not_unmount_it_between_trials(testbed: Testbed) -> None:
    started = testbed.start(_EXT4 + "measure: {trials: 2, time: 3s}")
    started.wait_for_program("fio", "job.fio")
    with _foreign(testbed, "mnt/one-ext4") as precious:
        answer = started.wait()
        assert answer.code == _BUILD
        assert precious.read_text() == "data"
        assert "something else is mounted over it; if you don't need that: umount" in answer.out
    assert _clean(testbed).code == 0
    assert testbed.traces() == []


@contextmanager
def _foreign(testbed: Testbed, place: str) -> Iterator[Path]:
    """Mount a tmpfs with a file at a path in the state directory of the run, and yield the file."""
    point = testbed.work / f"poolproof-{testbed.label()}" / place
    point.mkdir(exist_ok=True)
    testbed.command("mount", "-t", "tmpfs", "tmpfs", str(point))
    try:
        precious = point / "precious"
        precious.write_text("data")
        yield precious
    finally:
        testbed.command("umount", str(point))


def _clean(testbed: Testbed) -> Answer:
    return ask("clean", str(testbed.runs / "run"), "--json")
