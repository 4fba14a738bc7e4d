"""A disk whose server hangs is noticed, and the server is ended.

Slow disks and disks of other runs are not affected.
"""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.devices.loop import UndoLoop
from poolproof.errors import BuildError
from poolproof.hosts.local import LocalHost
from poolproof.provision import stalled
from poolproof.provision.journal import Journal
from poolproof.provision.stalled import DiskStalled, StalledDisks
from poolproof.steps import Step
from poolproof.undos import Owned, UndoDaemon
from tests.golden import Message

_LIMIT_S = 0.2
_LONG_S = 20.0


class OneDisk(LocalHost):
    """This machine, with the counters of a loop device that does not exist."""

    def __init__(self, in_flight: int, *, progress: bool) -> None:
        self._in_flight, self._progress, self._reads = in_flight, progress, 7

    def read(self, path: str) -> str:
        if path not in ("/sys/class/block/loop90/stat", "/sys/class/block/nbd90/stat"):
            return super().read(path)
        self._reads += self._progress
        return f"{self._reads} 0 80 3 5 0 40 2 {self._in_flight} 99 99 0 0 0 0 1 0\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalled, "EVERY_S", _LIMIT_S / 10)
    monkeypatch.setattr(stalled, "LIMIT_S", _LIMIT_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ignores SIGTERM, and whose command line contains the socket."""
    script = 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
    argv = ["sh", "-c", script, str(tmp_path / "a.sock")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        (tmp_path / "a.nbd.pid").write_text(f"{process.pid}\n")
        yield process
        process.kill()


def _journal(tmp_path: Path) -> Journal:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(Step("serve a", ("true",), UndoDaemon(f"{tmp_path}/a.nbd.pid", f"{tmp_path}/a.sock")))
    journal.record(Step("attach a", ("true",), UndoLoop(90, f"{tmp_path}/a.disk")))
    return journal


def _watch(tmp_path: Path, host: LocalHost, place: Path, seconds: float) -> StalledDisks:
    with StalledDisks(_journal(tmp_path), host, Owned("0badcafe", (str(place),))) as watch:
        deadline = time.monotonic() + seconds
        while not watch.found and time.monotonic() < deadline:
            time.sleep(0.01)
    return watch


@pytest.mark.slow
def test_the_server_of_a_stalled_disk_is_ended(
    tmp_path: Path, server: subprocess.Popen[bytes], message: Message
) -> None:
    watch = _watch(tmp_path, OneDisk(4, progress=False), tmp_path, _LONG_S)
    with pytest.raises(BuildError, match=r"\ba \(/dev/loop90\).* 200 ms") as stalled:
        watch.check()
    message(stalled.value)
    assert server.wait(_LONG_S) != 0
    watch.forget()
    watch.check()


@pytest.mark.slow
def test_the_message_names_the_program_that_a_signal_has_stopped(
    tmp_path: Path, server: subprocess.Popen[bytes], message: Message
) -> None:
    """The disk itself is not at fault."""
    server.send_signal(signal.SIGSTOP)
    watch = _watch(tmp_path, OneDisk(4, progress=False), tmp_path, _LONG_S)
    with pytest.raises(
        DiskStalled, match=r"^the program sh, which serves .* stopped responding \(a signal "
    ) as stalled:
        watch.check()
    message(stalled.value)
    assert stalled.value.device == "loop90"
    assert server.wait(_LONG_S) != 0


@pytest.mark.slow
def test_the_server_of_a_stalled_nbd_device_is_ended(tmp_path: Path, server: subprocess.Popen[bytes]) -> None:
    """With the kernel's nbd driver, the disk has no loop device."""
    journal = Journal(tmp_path / "journal.jsonl")
    undo = UndoDaemon(f"{tmp_path}/a.nbd.pid", f"{tmp_path}/a.sock")
    journal.record(Step("connect a", ("qemu-nbd", "--connect=/dev/nbd90", "a.qcow2"), undo))
    with StalledDisks(journal, OneDisk(4, progress=False), Owned("0badcafe", (str(tmp_path),))) as watch:
        assert server.wait(_LONG_S) != 0
    with pytest.raises(DiskStalled, match=r"\ba \(/dev/nbd90\)") as stalled:
        watch.check()
    assert stalled.value.device == "nbd90"


@pytest.mark.parametrize("host", [OneDisk(4, progress=True), OneDisk(0, progress=False)], ids=["slow", "idle"])
def test_a_disk_that_answers_is_left_alone(tmp_path: Path, server: subprocess.Popen[bytes], host: LocalHost) -> None:
    watch = _watch(tmp_path, host, tmp_path, 4 * _LIMIT_S)
    watch.check()
    assert server.poll() is None


def test_a_foreign_process_is_not_ended(tmp_path: Path, server: subprocess.Popen[bytes]) -> None:
    """The journal comes from a stranger, and names a server that does not belong to the run."""
    watch = _watch(tmp_path, OneDisk(4, progress=False), tmp_path / "elsewhere", 4 * _LIMIT_S)
    assert watch.found == []
    assert server.poll() is None
