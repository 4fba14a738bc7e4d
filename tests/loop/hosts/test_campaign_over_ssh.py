"""Campaigns on a host over SSH have the same results as on this machine, and clear errors if the connection breaks."""

import json
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.hosts.processes import running, wait_until_true
from tests.loop.hosts.sshd import Sshd, sshd
from tests.loop.testbed import Testbed, judged

_LIMIT_S = 200.0
_CAMPAIGN = """
devices: {a: {file: 768M}}
layouts: {ext4: a | ext4}
workloads:
  read: {rw: randread, bs: 4k, size: 128m}
  ramp: {rw: randread, bs: 4k, size: 128m, rate_iops: 2000, metric: p99, ramp_time: 1s}
  write: {rw: write, bs: 1m, size: 128m, end_fsync: 1}
  trap: {rw: read, bs: 1m, size: 128m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}
measure: {trials: 1, time: 2s}
"""
_LONG = """
devices: {a: {file: 512M}}
layouts: {ext4: a | ext4}
workloads: {read: {rw: randread, bs: 4k, size: 64m, rate_iops: 1000, metric: p99}}
measure: {trials: 2, time: 5s}
"""
_EMULATED = """
devices: {rust: {emulate: hdd-7200, size: 512M}}
layouts: {ext4: rust | ext4}
workloads: {read: {rw: randread, bs: 16k, size: 64m, iodepth: 1}}
measure: {trials: 1, time: 3s}
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """An sshd that `ssh` uses by default. The sockets that a killed poolproof leaves behind are removed with it."""
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd() as running_one:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(running_one.client_folder()), prepend=":")
        yield running_one


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_campaign_over_ssh_finds_the_same_as_here(testbed: Testbed) -> None:
    there = _run(testbed, _CAMPAIGN, "far")
    here = testbed.cells(_CAMPAIGN, "here")
    assert there.code == 0, there.out + there.err
    cells = {(cell["layout"], cell["workload"]): cell for cell in there.json["cells"]}
    assert {name: judged(cell) for name, cell in cells.items()} == {name: judged(cell) for name, cell in here.items()}
    assert {workload: judged(cell) for (_layout, workload), cell in cells.items()} == {
        "read": "sound",
        "ramp": "sound",
        "write": "sound",
        "trap": "refuted",
    }
    for workload in ("read", "ramp"):
        account = cells["ext4", workload]["account"]
        assert account["leaf_read_bytes"] == pytest.approx(account["fio_read_bytes"], rel=0.1)
    assert _record(testbed, "far")["host"] == "far"


@pytest.mark.usefixtures("server")
def test_dry_run_and_devices_ask_the_remote_host(testbed: Testbed) -> None:
    campaign = testbed.campaign(_LONG)
    plan = ask("run", str(campaign), "--dry-run", "--on", "far", "--work", str(testbed.work))
    assert (plan.code, "mkfs.ext4" in plan.out) == (0, True), plan.err
    found, here = ask("devices", "--on", "far", "--json"), ask("devices", "--json")
    assert found.json == here.json


@pytest.mark.usefixtures("server")
def test_the_program_of_an_emulated_disk_is_copied(testbed: Testbed) -> None:
    """The emulated disk does about 131 random reads of 16 KiB per second, according to docs/emulated-disks.md."""
    answer = _run(testbed, _EMULATED)
    assert answer.code == 0, answer.out + answer.err
    (cell,) = answer.json["cells"]
    assert judged(cell) == "sound", cell["findings"]
    assert 60 < cell["iops"]["mean"] < 260


def test_an_unreachable_host_is_one_clear_error(testbed: Testbed, server: Sshd) -> None:
    server.stop()
    answer = _run(testbed, _LONG)
    assert answer.code == 4
    assert "cannot connect to far" in answer.error["message"]
    assert answer.error["hint"] == "ssh -v far true"
    assert not (testbed.runs / "run").exists()


@pytest.mark.slow
def test_a_connection_reset_fails_the_trial_and_leaves_nothing_mounted(testbed: Testbed, server: Sshd) -> None:
    started = _start(testbed)
    wait_until_true(lambda: _fio_runs(testbed), _LIMIT_S)
    server.break_links()
    _assert_ended_by_the_link(testbed, started)
    assert testbed.traces() == []
    _resume(testbed)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["resume", "clean"])
def test_a_host_that_was_unreachable_is_cleaned_later(testbed: Testbed, server: Sshd, command: str) -> None:
    started = _start(testbed)
    wait_until_true(lambda: _fio_runs(testbed), _LIMIT_S)
    server.stop_all()
    _assert_ended_by_the_link(testbed, started)
    wait_until_true(lambda: not _fio_runs(testbed))
    assert any(trace.startswith("mount") for trace in testbed.traces())
    server.start()
    if command == "clean":
        answer = ask("clean", str(testbed.runs / "run"), "--json")
        assert answer.json["undone"] > 0
        assert testbed.traces() == []
    _resume(testbed)


def test_a_killed_poolproof_leaves_no_fio_on_the_host(testbed: Testbed, server: Sshd) -> None:
    """When the input of ssh ends, the remote shell ends the processes that it has started."""
    started = _start(testbed)
    wait_until_true(lambda: _fio_runs(testbed), _LIMIT_S)
    started.kill()
    wait_until_true(lambda: not _fio_runs(testbed))
    answer = ask("clean", "--on", "far", "--work", str(testbed.work), "--json")
    assert answer.code == 0, answer.out + answer.err
    assert [undone["run"] for undone in answer.json["runs_undone"]] == [str(testbed.runs / "run")]
    assert testbed.traces() == []
    server.break_links()  # the rest of its connection would end on its own within a minute


@pytest.mark.usefixtures("server")
def test_ctrl_c_removes_everything_on_the_host(testbed: Testbed) -> None:
    started = _start(testbed)
    wait_until_true(lambda: _fio_runs(testbed), _LIMIT_S)
    started.signal(signal.SIGINT)
    answer = started.wait(_LIMIT_S)
    assert answer.code == 130, answer.out + answer.err
    assert testbed.traces() == []


def _run(testbed: Testbed, text: str, run: str = "run") -> Answer:
    return ask(*testbed.words(testbed.campaign(text), run), "--on", "far")


def _start(testbed: Testbed) -> Started:
    return Started(testbed.path, *testbed.words(testbed.campaign(_LONG)), "--on", "far")


def _fio_runs(testbed: Testbed) -> bool:
    """True if a fio is running that measures. A fio that lays out files does not count."""
    return any("--output-format" in said for said in running(str(testbed.work)) if said.startswith("fio "))


def _assert_ended_by_the_link(testbed: Testbed, started: Started) -> None:
    answer = started.wait(_LIMIT_S)
    assert answer.code == 4, answer.out + answer.err
    assert "far" in answer.error["message"]
    assert f"poolproof resume {testbed.runs / 'run'}" in answer.error["hint"]
    (trial,) = _trials(testbed)
    assert judged(trial) == "failed"
    assert "far was lost" in trial["findings"][0]["message"]


def _resume(testbed: Testbed) -> None:
    answer = ask("resume", str(testbed.runs / "run"), "--json")
    assert answer.code == 0, answer.out + answer.err
    verdicts = [judged(trial) for trial in _trials(testbed)]
    assert verdicts == ["sound", "sound"], "the trial that the link cut off was run again"


def _trials(testbed: Testbed) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (testbed.runs / "run" / "trials.jsonl").read_text().splitlines()]


def _record(testbed: Testbed, run: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((testbed.runs / run / "run.json").read_text())
    return record
