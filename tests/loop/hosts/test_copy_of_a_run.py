"""The run directory was copied to another machine. `clean` there does not disturb the run while it is in progress.

The other machine is this one, in a mount namespace with another machine ID.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import Answer, Started, ask
from tests.loop.hosts.processes import wait_until_true
from tests.loop.hosts.sshd import Sshd, sshd
from tests.loop.testbed import Testbed

_LIMIT_S = 60.0
_CAMPAIGN = """
layouts: {one: "dir {data}"}
workloads: {read: {rw: randread, bs: 4k, size: 8m, rate_iops: 1000, metric: p99}}
measure: {trials: 1, time: 60s}
"""
_AS_ANOTHER_MACHINE = 'mount --bind "$1" /etc/machine-id && shift && exec "$@"'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """An sshd that `ssh` uses by default. The sockets that a killed poolproof leaves behind are removed with it."""
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd() as running_one:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(running_one.client_folder()), prepend=":")
        yield running_one


@pytest.mark.parametrize("host", ["far", "local"])
@pytest.mark.usefixtures("server")
def test_a_copy_is_cleaned_on_another_machine_only_after_the_run_has_ended(testbed: Testbed, host: str) -> None:
    campaign = testbed.campaign(_CAMPAIGN)
    started = Started(testbed.path, *testbed.words(campaign), "--on", host)
    wait_until_true(lambda: any(testbed.data.glob("poolproof-*/*/*")), _LIMIT_S)
    copy = testbed.path / "copy"
    shutil.copytree(testbed.runs / "run", copy)
    refused = _clean_elsewhere(testbed, copy)
    assert refused.code == 7
    assert "the run is in progress on another machine" in refused.error["message"]
    assert any(testbed.data.iterdir())
    started.kill()
    wait_until_true(lambda: _clean_elsewhere(testbed, copy).code == 0, _LIMIT_S)
    assert not any(testbed.data.iterdir())


def _clean_elsewhere(testbed: Testbed, run: Path) -> Answer:
    identity = testbed.path / "machine-id"
    identity.write_text("0123456789abcdef0123456789abcdef\n")
    elsewhere = ("unshare", "--mount", "sh", "-c", _AS_ANOTHER_MACHINE, "sh", str(identity))
    locks = {"POOLPROOF_LOCKS": str(testbed.path / "locks")}
    return ask("clean", str(run), "--on", "far", "--json", before=elsewhere, env=locks)
