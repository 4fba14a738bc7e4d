"""`poolproof lint --on` checks jobs against the host on which they would run."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.context import read_context
from poolproof.foreign.lint.job_groups import JobFiles
from poolproof.foreign.lint.sources import fio_keywords
from poolproof.foreign.lint.targets import TargetLookup
from poolproof.hosts.base import Host
from poolproof.hosts.local import LocalHost
from tests.loop.command import ask
from tests.loop.hosts.sshd import Sshd, sshd
from tests.loop.testbed import Testbed

pytestmark = pytest.mark.parallel

_FLAGS = ("rw=randread", "bs=4k", "ioengine=libaio", "iodepth=8", "size=64m")


@pytest.fixture
def reachable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """An sshd that `ssh` uses by default."""
    with sshd() as running:
        monkeypatch.setenv("PATH", str(running.client_folder()), prepend=":")
        yield running


def test_every_host_gives_the_same_facts(host: Host, tmp_path: Path) -> None:
    """Only root can read the test's folder, so a user without root needs sudo."""
    file = tmp_path / "it's a file"
    with file.open("wb") as opened:
        opened.truncate(1024**2)
    place = JobFiles((str(file), f"{tmp_path}/none"), "")
    here, there = (TargetLookup(read_context(), each) for each in (LocalHost(), host))
    assert _lasting(there.target(place)) == _lasting(here.target(place))
    found = there.evidence([place])
    assert found is not None
    assert [(each.path, each.hole_bytes) for each in found.files] == [(str(file), 1024**2)]
    assert there.target(JobFiles(("/not/there/a",), "")) is None
    assert fio_keywords(host) == fio_keywords(LocalHost())


def test_lint_finds_the_same_over_ssh_as_here(reachable: Sshd, testbed: Testbed) -> None:
    assert reachable.port
    job = testbed.path / "job.fio"
    job.write_text("\n".join(["[a]", *_FLAGS, f"directory={testbed.path}", "sync=zoo"]) + "\n")
    here, there = ask("lint", str(job), "--json"), ask("lint", str(job), "--on", "far", "--json")
    assert there.code == here.code == 1, there.err
    found = json.loads(there.out)
    assert _lasting_of(found) == _lasting_of(json.loads(here.out))
    assert [each["message"] for each in found if each["line"] == 8 and "refuses sync=zoo" in each["message"]]


def test_an_unreachable_host_is_one_clear_error(reachable: Sshd, testbed: Testbed) -> None:
    reachable.stop()
    job = testbed.path / "job.fio"
    job.write_text("[a]\nrw=read\nsize=1m\n")
    answer = ask("lint", str(job), "--on", "far", "--json")
    assert answer.code == 4
    assert answer.error["hint"] == "ssh -v far true"


@pytest.mark.parametrize(
    ("program", "body", "severity"),
    [
        ("true", "exit 0", "error"),
        ("lsblk", """echo '{"blockdevices": [{"kname": 5, "children": "x"}]}'""", "warning"),
        ("lsblk", "i=0; while [ $i -lt 5000 ]; do printf '['; i=$((i + 1)); done", "warning"),
        ("realpath", "exit 1", "warning"),
        ("wipefs", "exit 127", "warning"),
        ("wipefs", "echo '[1]'", "warning"),
    ],
)
def test_a_host_whose_programs_fail_never_looks_safe(
    program: str, body: str, severity: str, testbed: Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fault, lint names the file system on the device; with it, at least the warning remains."""
    image, folder = testbed.path / "image", testbed.path / "programs"
    image.touch()
    os.truncate(image, 64 * 1024**2)
    folder.mkdir()
    (folder / program).write_text(f"#!/bin/sh\n{body}\n")
    (folder / program).chmod(0o755)
    testbed.command("mkfs.ext4", "-q", str(image))
    device = testbed.command("losetup", "--find", "--show", str(image))
    try:
        with sshd(set_up=f'ForceCommand PATH={folder}:$PATH exec sh -c "$SSH_ORIGINAL_COMMAND"') as running:
            monkeypatch.setenv("PATH", str(running.client_folder()), prepend=":")
            answer = ask("lint", "--on", "far", "--json", "--", "fio", "--name=a", "--rw=write", f"--filename={device}")
    finally:
        testbed.command("losetup", "--detach", device)
    (found,) = [each for each in json.loads(answer.out) if each["rule"] == "destroys-data"]
    assert (found["severity"], "ext4" in found["message"]) == (severity, severity == "error")


def test_an_unknown_lab_is_one_clear_error(testbed: Testbed) -> None:
    answer = ask(
        "lint", "--on", "lab:none-of-this-name", "--json", "--", "fio", "--name=a", "--size=1m", cwd=testbed.path
    )
    assert (answer.code, answer.error["exit_code"]) == (4, 4)
    assert "none-of-this-name" in answer.error["message"]


def _lasting(target: Target | None) -> Target:
    """Return the facts that do not depend on how much RAM is currently free."""
    assert target is not None
    return replace(target, dirty_limit_bytes=None)


def _lasting_of(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings that do not depend on the current load."""
    return [each for each in found if each["rule"] != "background-io"]
