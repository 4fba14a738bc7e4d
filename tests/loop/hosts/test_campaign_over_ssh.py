"""Campaigns through the command, on a machine over SSH: as on this one, and when the link breaks."""

import json
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.ground import Ground
from tests.loop.hosts.processes import await_true, running
from tests.loop.hosts.sshd import Sshd, sshd

_LIMIT_S = 200.0
_CAMPAIGN = """
devices: {a: {file: 768M}}
layouts: {ext4: a | ext4}
workloads:
  read: {rw: randread, bs: 4k, size: 128m}
  ramp: {rw: randread, bs: 4k, size: 128m, rate_iops: 2000, ramp_time: 1s}
  write: {rw: write, bs: 1m, size: 128m, end_fsync: 1}
  trap: {rw: read, bs: 1m, size: 128m, numjobs: 4, filename: X, ioengine: psync, direct: 0, time_based: 0}
measure: {trials: 1, time: 2s}
"""
_LONG = """
devices: {a: {file: 512M}}
layouts: {ext4: a | ext4}
workloads: {read: {rw: randread, bs: 4k, size: 64m, rate_iops: 1000}}
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
    """An sshd whose configuration is what `ssh` reads; sockets that a killed poolproof leaves go with it."""
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd() as running_one:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(running_one.client_folder()), prepend=":")
        yield running_one


@pytest.mark.usefixtures("server")
def test_a_campaign_over_ssh_finds_what_it_finds_here(ground: Ground) -> None:
    there = _run(ground, _CAMPAIGN, "far")
    here = ground.cells(_CAMPAIGN, "here")
    assert there.code == 0, there.out + there.err
    cells = {(cell["layout"], cell["workload"]): cell for cell in there.json["cells"]}
    assert {name: cell["verdict"] for name, cell in cells.items()} == {
        name: cell["verdict"] for name, cell in here.items()
    }
    assert {workload: cell["verdict"] for (_layout, workload), cell in cells.items()} == {
        "read": "sound",
        "ramp": "sound",
        "write": "sound",
        "trap": "refuted",
    }
    for workload in ("read", "ramp"):
        account = cells["ext4", workload]["account"]
        assert account["leaf_read_bytes"] == pytest.approx(account["fio_read_bytes"], rel=0.1)
    assert _record(ground, "far")["host"] == "far"


@pytest.mark.usefixtures("server")
def test_dry_run_and_devices_ask_the_other_machine(ground: Ground) -> None:
    campaign = ground.campaign(_LONG)
    plan = ask("run", str(campaign), "--dry-run", "--on", "far", "--work", str(ground.work))
    assert (plan.code, "mkfs.ext4" in plan.out) == (0, True), plan.err
    found, here = ask("devices", "--on", "far", "--json"), ask("devices", "--json")
    assert found.json == here.json


@pytest.mark.usefixtures("server")
def test_an_emulated_disk_brings_its_program_along(ground: Ground) -> None:
    """About 131 random reads of 16k in a second: docs/emulated-disks.md."""
    answer = _run(ground, _EMULATED)
    assert answer.code == 0, answer.out + answer.err
    (cell,) = answer.json["cells"]
    assert cell["verdict"] == "sound", cell["findings"]
    assert 60 < cell["iops"]["mean"] < 260


def test_a_machine_that_does_not_answer_is_one_clear_error(ground: Ground, server: Sshd) -> None:
    server.stop()
    answer = _run(ground, _LONG)
    assert answer.code == 4
    assert "cannot connect to far" in answer.error["message"]
    assert answer.error["hint"] == "ssh -v far true"
    assert not (ground.runs / "run").exists()


@pytest.mark.slow
def test_a_reset_of_the_link_fails_the_trial_and_nothing_stays_mounted(ground: Ground, server: Sshd) -> None:
    started = _start(ground)
    await_true(lambda: _fio_runs(ground), _LIMIT_S)
    server.break_links()
    _assert_ended_by_the_link(ground, started)
    assert ground.traces() == []
    _resume(ground)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["resume", "clean"])
def test_a_machine_that_is_gone_for_a_while_is_taken_down_later(ground: Ground, server: Sshd, command: str) -> None:
    started = _start(ground)
    await_true(lambda: _fio_runs(ground), _LIMIT_S)
    server.stop_all()
    _assert_ended_by_the_link(ground, started)
    await_true(lambda: not _fio_runs(ground))
    assert any(trace.startswith("mount") for trace in ground.traces())
    server.start()
    if command == "clean":
        answer = ask("clean", str(ground.runs / "run"), "--json")
        assert answer.json["undone"] > 0
        assert ground.traces() == []
    _resume(ground)


def test_a_poolproof_that_is_killed_leaves_no_fio_there(ground: Ground, server: Sshd) -> None:
    """The leash: its ssh loses its input, and the far end ends what it kept."""
    started = _start(ground)
    await_true(lambda: _fio_runs(ground), _LIMIT_S)
    started.kill()
    await_true(lambda: not _fio_runs(ground))
    answer = ask("clean", "--on", "far", "--work", str(ground.work), "--json")
    assert answer.code == 0, answer.out + answer.err
    assert [undone["run"] for undone in answer.json["runs_undone"]] == [str(ground.runs / "run")]
    assert ground.traces() == []
    server.break_links()  # what is left of its connection would end by itself in a minute


@pytest.mark.usefixtures("server")
def test_ctrl_c_takes_everything_down_there(ground: Ground) -> None:
    started = _start(ground)
    await_true(lambda: _fio_runs(ground), _LIMIT_S)
    started.signal(signal.SIGINT)
    answer = started.wait(_LIMIT_S)
    assert answer.code == 130, answer.out + answer.err
    assert ground.traces() == []


def _run(ground: Ground, text: str, run: str = "run") -> Answer:
    return ask(*ground.words(ground.campaign(text), run), "--on", "far")


def _start(ground: Ground) -> Started:
    return Started(ground.path, *ground.words(ground.campaign(_LONG)), "--on", "far")


def _fio_runs(ground: Ground) -> bool:
    """A measuring fio, not the one that lays out files."""
    return any("--output-format" in said for said in running(str(ground.work)) if said.startswith("fio "))


def _assert_ended_by_the_link(ground: Ground, started: Started) -> None:
    answer = started.wait(_LIMIT_S)
    assert answer.code == 4, answer.out + answer.err
    assert "far" in answer.error["message"]
    assert f"poolproof resume {ground.runs / 'run'}" in answer.error["hint"]
    (trial,) = _trials(ground)
    assert trial["verdict"] == "failed"
    assert "link to far broke" in trial["findings"][0]["message"]


def _resume(ground: Ground) -> None:
    answer = ask("resume", str(ground.runs / "run"), "--json")
    assert answer.code == 0, answer.out + answer.err
    verdicts = [trial["verdict"] for trial in _trials(ground)]
    assert verdicts == ["failed", "sound"]


def _trials(ground: Ground) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ground.runs / "run" / "trials.jsonl").read_text().splitlines()]


def _record(ground: Ground, run: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((ground.runs / run / "run.json").read_text())
    return record
