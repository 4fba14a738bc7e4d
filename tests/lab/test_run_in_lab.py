"""`run --lab`: the campaign's devices become disks of a lab, results are proven, and the lab stops with the run."""

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from poolproof.lab.home import lab_folder
from poolproof.lab.reach import reach_host
from tests.loop.command import Started
from tests.loop.testbed import judged

from .machine import poolproof, traces
from .places import ZFS

IN_LAB = ("--lab", "--zfs", ZFS)
CAMPAIGN = """\
name: tiny
devices:
  hdd: {emulate: hdd-7200, size: 1G}
  ssd: {emulate: sata-ssd, size: 1G}
layouts:
  one: ssd | ext4
  both: btrfs raid1 hdd ssd
workloads:
  read: {rw: randread, bs: 16k, direct: 1, size: 32m}
measure: {time: 6s, trials: 1}
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture(autouse=True)
def new_labs() -> Iterator[Callable[[], set[str]]]:
    """The labs of runs that the test has started. None of them may be left when the test ends."""
    before = _labs_of_runs()
    yield lambda: _labs_of_runs() - before
    left = _labs_of_runs() - before
    poolproof("clean")
    assert left == set()


def _labs_of_runs() -> set[str]:
    return {path.name for path in (lab_folder() / "machines").glob("run-*")}


def test_a_small_campaign_is_sound_and_its_lab_can_be_kept(campaign: Path, tmp_path: Path) -> None:
    answer = poolproof("run", str(campaign), *IN_LAB, "--keep-lab", "--out", str(tmp_path / "run"), "--json")
    (name,) = re.findall(r"poolproof lab rm (\S+)", answer.err)
    try:
        assert answer.code == 0, answer.err
        assert [judged(cell) for cell in answer.json["cells"]] == ["sound", "sound"]
        for cell in answer.json["cells"]:
            account = cell["account"]
            assert account["leaf_read_bytes"] >= 0.9 * account["fio_read_bytes"] > 0
        shown = poolproof("show", str(tmp_path / "run"), "--json")
        assert shown.json["cells"] == answer.json["cells"]
        _breaks_the_connection_and_resumes(campaign, tmp_path, name)
    finally:
        assert poolproof("lab", "rm", name).code == 0
    assert list(traces(name)) == []


def _breaks_the_connection_and_resumes(campaign: Path, tmp_path: Path, name: str) -> None:
    """Kill the process with the shared SSH connection during a trial.

    To the run, the connection looks permanently lost.
    """
    run = tmp_path / "again"
    begun = Started(tmp_path, "run", str(campaign), "--on", f"lab:{name}", "--out", str(run), "--json")
    _wait_for_fio(begun, name)
    masters = _masters(name)
    assert masters
    for pid in masters:
        os.kill(pid, signal.SIGKILL)
    answer = begun.wait(300)
    assert "poolproof resume" in answer.error["hint"]
    lines = (run / "trials.jsonl").read_text().splitlines()
    assert ['"failed"' in line for line in lines] == [True]
    resumed = poolproof("resume", str(run), "--json")
    assert resumed.code == 0, resumed.err
    assert [judged(cell) for cell in resumed.json["cells"]] == ["sound", "sound"]
    left = poolproof("lab", "run", name, "--", "sh", "-c", "grep poolproof /proc/mounts; ls -d /var/tmp/poolproof-*")
    assert left.out == ""


def _wait_for_fio(begun: Started, name: str) -> None:
    """Wait until fio is running a trial in the lab."""
    running = ("sh", "-c", "grep -aqs 'job[.]fio' /proc/[0-9]*/cmdline")
    with reach_host(f"lab:{name}") as host:
        begun.wait_for(
            lambda: host.run(running, timeout_s=60, check=False).returncode == 0, "it ran no fio", seconds=300
        )


def _masters(name: str) -> list[int]:
    """Return the processes that hold a connection to the lab.

    ssh names such a process after its socket. Client processes name both the socket and the configuration file.
    """
    words = {pid: argv for pid, argv in _processes() if argv}
    config = str(lab_folder() / "machines" / name / "ssh_config")
    clients = [argv for argv in words.values() if config in argv]
    sockets = {
        word.removeprefix("ControlPath=") for argv in clients for word in argv if word.startswith("ControlPath=")
    }
    return [pid for pid, argv in words.items() if any(argv[0].startswith(f"ssh: {socket} ") for socket in sockets)]


def _processes() -> Iterator[tuple[int, list[str]]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(folder.name), (folder / "cmdline").read_text().split("\0")


def test_a_guest_crash_is_one_error_and_the_run_continues(
    campaign: Path, tmp_path: Path, new_labs: Callable[[], set[str]]
) -> None:
    run = tmp_path / "run"
    begun = Started(tmp_path, "run", str(campaign), *IN_LAB, "--out", str(run), "--json")
    begun.wait_for((run / "journal.jsonl").exists, "it built nothing", seconds=400)
    (name,) = new_labs()
    _wait_for_fio(begun, name)
    os.kill(int((lab_folder() / "machines" / name / "qemu.pid").read_text()), signal.SIGKILL)
    answer = begun.wait(300)
    assert answer.error["message"].startswith("the lab crashed: its console ends with")
    assert answer.error["hint"] == f"poolproof resume {run}"
    assert list(traces(name)) == []
    resumed = poolproof("resume", str(run), "--json")
    assert resumed.code == 0, resumed.err
    assert {cell["layout"] for cell in resumed.json["cells"]} == {"one", "both"}


def test_a_run_killed_by_sigkill_leaves_nothing_after_clean(
    campaign: Path, tmp_path: Path, new_labs: Callable[[], set[str]]
) -> None:
    run = tmp_path / "run"
    begun = Started(tmp_path, "run", str(campaign), *IN_LAB, "--out", str(run))
    try:
        begun.wait_for((run / "journal.jsonl").exists, "it built nothing", seconds=300)
    finally:
        begun.signal(signal.SIGKILL)
    (name,) = new_labs()
    assert any("qemu" in trace for trace in traces(name))
    answer = poolproof("clean", str(run), "--json")
    assert answer.code == 0, answer.err
    assert answer.json["undone"] >= 4  # two disks, their directory in RAM, the machine, and what was built in it
    assert list(traces(name)) == []


def test_clean_finds_a_run_killed_while_its_lab_starts(
    campaign: Path, tmp_path: Path, new_labs: Callable[[], set[str]]
) -> None:
    begun = Started(tmp_path, "run", str(campaign), *IN_LAB, "--out", str(tmp_path / "run"))
    try:
        begun.wait_for(lambda: any(map(_has_started, new_labs())), "it started no machine", seconds=120)
    finally:
        begun.signal(signal.SIGKILL)
    (name,) = new_labs()
    assert poolproof("clean", "--json").json["labs_ended"] == [name]
    assert list(traces(name)) == []


def _has_started(name: str) -> bool:
    return (lab_folder() / "machines" / name / "qemu.pid").exists()


def test_a_real_disk_is_refused_in_a_lab(tmp_path: Path) -> None:
    flags = ("-l", "a | ext4", "-d", "a=disk:ata-X_1", "-w", "rw=randread,bs=16k,size=16m")
    answer = poolproof("run", *flags, *IN_LAB, "--out", str(tmp_path / "run"), "--json")
    assert answer.error["message"].startswith("device a is a real disk")
    assert answer.code == 3
