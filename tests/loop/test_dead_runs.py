"""What killed runs have left behind is found without naming a run, and new runs report it.

Active runs are not affected.
"""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.leftovers import leftovers_of
from tests.loop.testbed import Testbed, remove_dead_testbeds

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

_FLAGS = 5
"""The place of the field `flags` in `/proc/PID/stat`, counted from the field after the state (proc_pid_stat(5))."""
_PF_EXITING = 0x00000004
"""The flag of a thread that is ending (Linux, include/linux/sched.h)."""


@pytest.fixture
def dead(testbed: Testbed) -> Iterator[str]:
    """The label of a run that was killed together with the program that serves its disk, as the OOM killer can do."""
    started = testbed.start(_EMULATED)
    started.wait_for_program("fio", "job.fio")
    started.kill()
    label, run = testbed.label(), testbed.runs / "run"
    journal = (run / "journal.jsonl").read_bytes()
    try:
        _kill_servers(label)
        _wait_for_dead_mount(testbed.work / f"poolproof-{label}" / "a.disk")
        yield label
    finally:
        (run / "journal.jsonl").write_bytes(journal)
        assert ask("clean", str(run)).code == 0


def test_clean_finds_a_killed_run_by_itself(testbed: Testbed, dead: str) -> None:
    assert any(dead in trace for trace in testbed.traces())
    answer = _clean(testbed)
    assert answer.code == 0, answer.out + answer.err
    (undone,) = answer.json["runs_undone"]
    assert (undone["run"], undone["state_dir"]) == (str(testbed.runs / "run"), f"{testbed.work}/poolproof-{dead}")
    assert undone["undone"] >= 4  # its directory, server, loop device and mount
    assert testbed.traces() == []
    assert _clean(testbed).json["runs_undone"] == []


def test_the_testbed_of_a_killed_test_process_is_removed(testbed: Testbed) -> None:
    script = testbed.path / "killed.py"
    script.write_text(
        "import os, signal\n"
        "from tests.loop.testbed import Testbed\n"
        "testbed = Testbed()\n"
        "print(testbed.path, flush=True)\n"
        f"started = testbed.start({_EMULATED!r})\n"
        "started.wait_for_program('fio', 'job.fio')\n"
        "started.kill()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        text=True,
        timeout=_LIMIT_S,
        env={"PYTHONPATH": str(Path.cwd()), **os.environ},
    )
    assert killed.returncode == -signal.SIGKILL
    path = Path(killed.stdout.strip())
    assert leftovers_of(str(path))
    remove_dead_testbeds()
    assert leftovers_of(str(path)) == []
    assert not path.exists()
    assert testbed.path.exists()


def test_a_new_run_names_the_dead_run_that_blocks_it(testbed: Testbed, dead: str) -> None:
    """This happens because mkfs.btrfs examines the file of every mounted loop device."""
    answer = testbed.ask(_BTRFS, "new")
    assert answer.err.count("warning: this machine has mounts of a crashed run") == 1
    assert f"poolproof clean {testbed.runs / 'run'}" in answer.err
    assert f"poolproof-{dead}" in answer.err
    (trial,) = testbed.trial_lines("new")
    if '"verdict":"failed"' in trial:  # not every version of mkfs.btrfs fails because of it
        assert "Transport endpoint is not connected" in trial
        assert "if the mount is from a crashed run: poolproof clean" in trial
    assert _clean(testbed).code == 0
    again = testbed.ask(_BTRFS, "again")
    assert again.code == 0, again.out
    assert dead not in again.err


def test_a_running_run_is_not_touched(testbed: Testbed, dead: str) -> None:
    """An active run uses the same work directory as a crashed one.

    Everything that it created still exists, and its fio continues.
    """
    live = Started(testbed.path, *testbed.words(testbed.campaign(_EMULATED.replace("20s", "90s"), "live"), "live"))
    try:
        live.wait_for_program("fio", "job.fio")
        before = _made_by(testbed.label("live"))
        answer = _clean(testbed)
        live.wait_for_program("fio", "job.fio")
        assert _made_by(testbed.label("live")) == before
    finally:
        live.signal(signal.SIGINT)
        ended = live.wait()
    assert ended.code == 130
    assert [each["run"] for each in answer.json["runs_undone"]] == [str(testbed.runs / "run")]
    (left,) = [each for each in answer.json["left"] if each["run"] == str(testbed.runs / "live")]
    assert (left["standing"], left["next"]) == ("going", [])
    assert not [trace for trace in testbed.traces() if dead in trace]


@pytest.mark.parametrize("journal", [None, "garbage\n"], ids=["lost", "damaged"])
def test_a_run_without_its_journal_can_be_removed_by_hand(testbed: Testbed, dead: str, journal: str | None) -> None:
    """The test runs the commands from the message, except the first one, which only shows who is using the mount.

    `resume` and `clean RUN` print the same commands. They must not write a new journal, which would hide them.
    """
    file = testbed.runs / "run/journal.jsonl"
    file.unlink()
    if journal is not None:
        file.write_text(journal)
    for command in ("resume", "clean"):
        refused = ask(command, str(file.parent), "--json")
        assert f"  pgrep -af poolproof-{dead}\n  " in refused.error["hint"]
    answer = _clean(testbed)
    assert answer.code == 6
    (left,) = [each for each in answer.json["left"] if each["state_dir"] == f"{testbed.work}/poolproof-{dead}"]
    assert left["standing"] == "lost"
    first, *commands = left["next"]
    assert first == f"pgrep -af poolproof-{dead}"
    _kill_by_word(f"poolproof-{dead}")
    for command in commands:
        _run_when_not_busy(command)
    assert testbed.traces() == []


def _clean(testbed: Testbed) -> Answer:
    return ask("clean", "--work", str(testbed.work), "--json")


def _run_when_not_busy(command: str) -> None:
    """Run a command, and run it again while its target is busy.

    A file that a killed process had I/O in flight for is closed by a kernel thread shortly after the process is gone
    (Linux, `fput` in fs/file_table.c: outside a process, files are closed by a delayed work).
    """
    deadline = time.monotonic() + _LIMIT_S
    while True:
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=_LIMIT_S)
        if done.returncode == 0:
            return
        assert "busy" in done.stderr and time.monotonic() < deadline, f"{command}: {done.stderr}"
        time.sleep(_POLL_S)


def _kill_servers(label: str) -> None:
    servers = [pid for pid, words in _processes() if words.startswith("nbdfuse ") and label in words]
    assert servers
    for pid in servers:
        os.kill(pid, signal.SIGKILL)


def _kill_by_word(word: str) -> None:
    """Kill every process whose command line contains the word.

    Wait until they are gone, because they keep file systems mounted until then. A process that is ending, also one
    that nobody killed, loses its command line before it closes its files. So every ending process is waited for.
    """
    deadline = time.monotonic() + _LIMIT_S
    while (users := [pid for pid, words in _processes() if word in words]) or _any_is_ending():
        assert time.monotonic() < deadline, f"{users} are still there"
        for pid in users:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _any_is_ending() -> bool:
    """True if a thread of any process is ending and is not yet a zombie, which has closed its files."""
    for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            state, *numbers = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if state != "Z" and int(numbers[_FLAGS]) & _PF_EXITING:
            return True
    return False


def _wait_for_dead_mount(point: Path) -> None:
    """Wait until the kernel has noticed that the FUSE server is gone.

    Until then, requests fail with a different error.
    """
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


def _made_by(label: str) -> list[str]:
    """Return what a run has created and needs while its layout exists: mounts, loop devices, directories, servers."""
    found = [trace for trace in leftovers_of(label) if not trace.startswith("process") or ": nbd" in trace]
    assert len(found) >= 5, found
    return sorted(found)


def _processes() -> list[tuple[int, str]]:
    """Return the command lines of all processes except those of the test."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((int(folder.name), (folder / "cmdline").read_text(errors="replace").replace("\0", " ")))
        except OSError:
            continue
    return [(pid, words) for pid, words in found if pid != os.getpid()]
