"""What killed runs leave is found without naming a run; a machine on which it stands says so; what lives is left."""

import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.ground import Ground
from tests.loop.traces import traces_of

_EMULATED = """
devices: {a: {emulate: nvme, size: 512M}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 16k, size: 64m}}
measure: {trials: 1, time: 20s}
"""
_BTRFS = """
devices: {a: {file: 1G}}
layouts: {one: a | btrfs}
workloads: {reads: {rw: randread, bs: 16k, size: 64m}}
measure: {trials: 1, time: 500ms}
"""


_LIMIT_S = 120.0
_POLL_S = 0.01


@pytest.fixture
def dead(ground: Ground) -> Iterator[str]:
    """A run that was killed together with what served its disk, as a machine out of memory does: its label."""
    started = ground.start(_EMULATED)
    started.await_program("fio", "job.fio")
    started.kill()
    label, run = ground.label(), ground.runs / "run"
    journal = (run / "journal.jsonl").read_bytes()
    try:
        _kill_servers(label)
        _await_dead_mount(ground.work / f"poolproof-{label}" / "a.disk")
        yield label
    finally:
        if not (run / "journal.jsonl").exists():
            (run / "journal.jsonl").write_bytes(journal)
        assert ask("clean", str(run)).code == 0


def test_a_run_killed_with_its_servers_is_undone_without_being_named(ground: Ground, dead: str) -> None:
    assert any(dead in trace for trace in ground.traces())
    answer = _clean(ground)
    assert answer.code == 0, answer.out + answer.err
    (undone,) = answer.json["runs_undone"]
    assert (undone["run"], undone["state_dir"]) == (str(ground.runs / "run"), f"{ground.work}/poolproof-{dead}")
    assert undone["undone"] >= 4  # its place, its server, its loop device, its mount
    assert ground.traces() == []
    assert _clean(ground).json["runs_undone"] == []


def test_a_new_run_says_what_is_in_its_way(ground: Ground, dead: str) -> None:
    """mkfs.btrfs looks at the file behind every mounted loop device."""
    answer = ground.ask(_BTRFS, "new")
    assert answer.err.count("warning: mounts of a crashed run are on this machine") == 1
    assert f"poolproof clean {ground.runs / 'run'}" in answer.err
    assert f"poolproof-{dead}" in answer.err
    (trial,) = ground.trial_lines("new")
    if '"verdict":"failed"' in trial:  # not every mkfs.btrfs stumbles over it
        assert "Transport endpoint is not connected" in trial
        assert '"fix":"poolproof clean' in trial
    assert _clean(ground).code == 0
    again = ground.ask(_BTRFS, "again")
    assert again.code == 0, again.out
    assert dead not in again.err


def test_a_run_under_way_is_not_touched(ground: Ground, dead: str) -> None:
    """Beside a dead one, in the same work directory: all that it has made still stands, and its fio goes on."""
    live = Started(ground.path, *ground.words(ground.campaign(_EMULATED.replace("20s", "90s"), "live"), "live"))
    try:
        live.await_program("fio", "job.fio")
        before = _standing(ground.label("live"))
        answer = _clean(ground)
        live.await_program("fio", "job.fio")
        assert _standing(ground.label("live")) == before
    finally:
        live.signal(signal.SIGINT)
        ended = live.wait()
    assert ended.code == 130
    assert [each["run"] for each in answer.json["runs_undone"]] == [str(ground.runs / "run")]
    (left,) = [each for each in answer.json["left"] if each["run"] == str(ground.runs / "live")]
    assert (left["standing"], left["next"]) == ("going", [])
    assert not [trace for trace in ground.traces() if dead in trace]


def test_a_run_whose_journal_is_gone_can_be_taken_down_by_hand(ground: Ground, dead: str) -> None:
    """By the very commands that are told; without the first, which only shows who uses it."""
    (ground.runs / "run/journal.jsonl").unlink()
    answer = _clean(ground)
    assert answer.code == 6
    (left,) = [each for each in answer.json["left"] if each["state_dir"] == f"{ground.work}/poolproof-{dead}"]
    assert left["standing"] == "lost"
    first, *commands = left["next"]
    assert first == f"pgrep -af poolproof-{dead}"
    _kill_all(f"poolproof-{dead}")
    for command in commands:
        ground.command("sh", "-c", command)
    assert ground.traces() == []


def _clean(ground: Ground) -> Answer:
    return ask("clean", "--work", str(ground.work), "--json")


def _kill_servers(label: str) -> None:
    servers = [pid for pid, words in _processes() if words.startswith("nbdfuse ") and label in words]
    assert servers
    for pid in servers:
        os.kill(pid, signal.SIGKILL)


def _kill_all(word: str) -> None:
    """Kill what has the word in its command line, and wait until it is gone: until then it holds its mounts."""
    deadline = time.monotonic() + _LIMIT_S
    while users := [pid for pid, words in _processes() if word in words]:
        assert time.monotonic() < deadline, f"{users} are still there"
        for pid in users:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _await_dead_mount(point: Path) -> None:
    """Wait until the kernel knows that nobody serves it; what it was asked before is answered otherwise."""
    deadline = time.monotonic() + _LIMIT_S
    while not _is_dead(point):
        assert time.monotonic() < deadline, f"{point} is still served"
        time.sleep(_POLL_S)


def _is_dead(point: Path) -> bool:
    try:
        point.stat()
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


def _standing(label: str) -> list[str]:
    """What a run has made that stands as long as its layout does: mounts, loop devices, places, servers."""
    found = [trace for trace in traces_of(label) if not trace.startswith("process") or ": nbd" in trace]
    assert len(found) >= 5, found
    return sorted(found)


def _processes() -> list[tuple[int, str]]:
    """Every process with its command line, but the test's own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((int(folder.name), (folder / "cmdline").read_text(errors="replace").replace("\0", " ")))
        except OSError:
            continue
    return [(pid, words) for pid, words in found if pid != os.getpid()]
