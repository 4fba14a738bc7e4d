"""The processor time and I/O of other processes: which processes count, and real work on this machine."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from poolproof.evidence.other_work import SCRIPT, OthersReading, others_between, parse_others, read_others
from poolproof.hosts.local import LocalHost

_STAT = "{pid} ({name}) S {parent} 1 1 0 -1 4194560 1 0 0 0 {user} {system} {children} 0 20 0 1 0 5 1 1\n"


def _stat(pid: int, parent: int, name: str = "x", user: int = 0, system: int = 0, children: int = 0) -> str:
    return _STAT.format(pid=pid, parent=parent, name=name, user=user, system=system, children=children)


def test_the_runs_own_processes_and_kernel_threads_do_not_count() -> None:
    text = "ticks 100\nown 50\nown 60\n"
    text += _stat(1, 0, "systemd", 10, 10, 80) + _stat(2, 0, "kthreadd", 500) + _stat(9, 2, "kworker/0:1", 700)
    text += _stat(50, 1, "poolproof", 900) + _stat(60, 1, "nbdkit (a) b", 400) + _stat(70, 1, "a ) S 2 b", 30, 20, 50)
    text += "/proc/50/io:read_bytes: 4096\n/proc/70/io:read_bytes: 8192\n/proc/70/io:write_bytes: 512\n"
    text += "some avg10=1.00 avg60=1.00 avg300=1.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
    assert parse_others(text) == OthersReading(cpu_s=2.0, read_bytes=8192, write_bytes=512, waiting_s=2.5)


@pytest.mark.parametrize(
    "name", ["\n", "x\nown 70\n", "\nown 70\nown 71", "\n2 (a) S 1 ", "\n70 (a) S 2", ") S 2\n", "\nsome total=9\n"]
)
def test_a_process_cannot_hide_behind_its_name(name: str) -> None:
    text = (
        "ticks 100\nown 50\n" + _stat(50, 1, "poolproof", 900) + _stat(70, 1, name, 30, 20, 50) + _stat(71, 1, "y", 100)
    )
    text += "/proc/70/io:read_bytes: 8192\nsome avg10=1.00 avg60=1.00 avg300=1.00 total=2500000\n"
    assert parse_others(text) == OthersReading(cpu_s=2.0, read_bytes=8192, write_bytes=0, waiting_s=2.5)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_another_user_cannot_hide_with_the_mark() -> None:
    mark = f"poolproof-test-{os.getpid()}"
    argv = ["sh", "-c", "while :; do :; done", mark]
    host = LocalHost()
    with subprocess.Popen(argv, user=65534, group=65534, extra_groups=[]) as busy:
        before = read_others(host, mark)
        while busy.poll() is None and float(Path(f"/proc/{busy.pid}/stat").read_text().split()[13]) < 30:
            time.sleep(0.1)
        printed = subprocess.run(["sh", "-c", SCRIPT, "sh", mark], capture_output=True, text=True, check=True).stdout
        after = read_others(host, mark)
        busy.kill()
    assert f"own {busy.pid}\n" not in printed
    assert after.cpu_s - before.cpu_s > 0.1


def test_a_host_without_pressure_information() -> None:
    assert parse_others("ticks 250\n" + _stat(7, 1, user=500)) == OthersReading(2.0, 0, 0, None)
    assert others_between(OthersReading(2, 9, 9, None), OthersReading(1, 0, 9, 3.0), 5.0).cpu_s == 0


def test_a_busy_process_is_noticed_unless_it_has_the_mark() -> None:
    mark = f"poolproof-test-{os.getpid()}"
    host, begun = LocalHost(), time.monotonic()
    before, before_mine = read_others(host, "no such mark"), read_others(host, mark)
    code = "import os, time\nend = os.times().user + 0.3\nwhile os.times().user < end: pass"
    with subprocess.Popen(
        [sys.executable, "-c", f"{code}\nprint(flush=True); time.sleep(20)", mark], stdout=-1
    ) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        seconds = time.monotonic() - begun
        others = others_between(before, read_others(host, "no such mark"), seconds)
        mine = others_between(before_mine, read_others(host, mark), seconds)
        busy.kill()
    assert others.cpu_s >= 0.29
    assert others.cpu_s - mine.cpu_s > 0.1


def test_all_shells_of_a_connection_are_the_runs_own() -> None:
    """The next reading may run in a different shell.

    Each shell's times include those of the commands that it has run before.
    """
    mark = f"poolproof-{os.getpid()}test"
    shell, command = ["sh", "-s", mark], shlex.join(["sh", "-c", SCRIPT, "sh", "no such mark"])
    with subprocess.Popen(shell, stdin=-1) as another, subprocess.Popen(["sh", "-c", "read x"], stdin=-1) as stranger:
        printed = subprocess.run(shell, input=f"{command}\n:\n", capture_output=True, text=True, check=True).stdout
        another.kill()
        stranger.kill()
    own = {int(pid) for pid in re.findall(r"^own (\d+)$", printed, re.MULTILINE)}
    assert another.pid in own
    assert stranger.pid not in own
