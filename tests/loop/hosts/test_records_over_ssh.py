"""Claims of disks and settings are recorded on the host on which they were made.

The host is an sshd on this machine that has its own /run, so a record in one of the two does not count in the other.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.model import Device, Disk
from poolproof.devices.plan import DeviceFacts, plan_devices
from poolproof.facts.block import BlockFacts
from poolproof.facts.machine import mark_of, survey
from poolproof.hosts.ssh import SshHost
from poolproof.layers import zfs_commands
from poolproof.measure.cleanup import clean
from poolproof.provision.apply import apply
from poolproof.provision.directories import name_owner, owner_of, site_of
from poolproof.provision.journal import Journal
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import UndoTree
from tests.loop.command import ask
from tests.loop.hosts.sshd import sshd
from tests.loop.named_disk import named_disk
from tests.loop.testbed import Testbed
from tests.unit.results.compare.making import RECORD

_LABEL = "a1b2c3d4"
_LIMIT = 1 << 27
_OWN_RUN = (
    *("unshare", "--mount", "sh", "-c"),
    'mount -t tmpfs -o mode=0755 run /run && mkdir -m 0755 /run/sshd && exec "$@"',
    "sh",
)
_RECORDS = ["sh", "-c", "cd /run && ls | grep ^poolproof-[cs] || true"]
_LUKS = b"LUKS\xba\xbe\0\1".ljust(168, b"\0") + f"{_LABEL}-89ab-4def-8123-456789abcdef".encode()
"""The start of a LUKS1 header of the run: the UUID begins with its label."""


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[SshHost]:
    """A host with its own /run, to which `ssh` connects by default."""
    with tempfile.TemporaryDirectory(prefix="poolproof-", dir="/tmp") as short, sshd(within=_OWN_RUN) as server:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setenv("PATH", str(server.client_folder()), prepend=":")
        with SshHost("far", server.config) as host:
            yield host


@pytest.fixture
def disk(testbed: Testbed) -> Iterator[BlockFacts]:
    with named_disk(testbed) as found:
        yield found


def _crashed(testbed: Testbed, far: SshHost, *more: Step) -> RunDirectory:
    """Return a crashed run on the host, which has taken these steps there."""
    state = f"{testbed.work}/poolproof-{_LABEL}"
    record = replace(
        RECORD,
        label=_LABEL,
        state_dir=state,
        ram_dir=f"/dev/shm/poolproof-{_LABEL}",
        host="far",
        facts={"machine": mark_of(far)},
    )
    run = RunDirectory.create(testbed.runs / "run", record.campaign, record)
    steps = (Step("create it", ("mkdir", state), UndoTree(state)), name_owner(state, owner_of(run.path)), *more)
    apply(steps, far, Journal(run.journal_path, root=run.root), may_overwrite=frozenset())
    return run


def _claim(testbed: Testbed, far: SshHost, disk: BlockFacts) -> Step:
    site = site_of(survey(far, ("wipefs",)), _LABEL, f"{testbed.work}/poolproof-{_LABEL}", "/nowhere", is_here=False)
    facts = DeviceFacts(loops=(0,), disks=(disk,), permitted=frozenset({"SN-0001"}))
    (plan,) = plan_devices((Device("d", Disk("SN-0001")),), site, facts)
    (claim,) = plan.steps
    return claim


def _encrypt(disk: BlockFacts) -> None:
    with Path(disk.path).open("r+b") as file:
        file.write(_LUKS)


def test_a_claimed_disk_is_erased_only_if_its_host_has_the_record(
    testbed: Testbed, far: SshHost, disk: BlockFacts
) -> None:
    run = _crashed(testbed, far, _claim(testbed, far, disk))
    (name,) = far.run(_RECORDS, timeout_s=20).stdout.split()
    here = Path("/run", name)
    assert not here.exists()
    _encrypt(disk)
    content = far.read(f"/run/{name}")
    far.run(["rm", f"/run/{name}"], timeout_s=20)
    here.write_text(content)
    here.chmod(0o600)
    try:
        refused = ask("clean", str(run.path), "--json")
    finally:
        here.unlink()
    assert refused.code == 6
    assert "this machine has no record that a run claimed it" in refused.error["message"]
    assert "crypto_LUKS" in testbed.command("wipefs", "--no-act", disk.path)
    far.run(["sh", "-c", 'umask 077; cat >"$0"', f"/run/{name}"], stdin=content, timeout_s=20)
    assert ask("clean", str(run.path), "--json").code == 0
    assert testbed.command("wipefs", "--no-act", disk.path) == ""
    assert far.run(_RECORDS, timeout_s=20).stdout == ""


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_setting_is_restored_only_if_its_host_has_the_record(
    testbed: Testbed, far: SshHost, monkeypatch: pytest.MonkeyPatch, is_recorded: bool
) -> None:
    """Files take the place of the parameter zfs_arc_max and of the ARC's statistics."""
    parameter, statistics = testbed.path / "zfs_arc_max", testbed.path / "arcstats"
    parameter.write_text("0\n")
    statistics.write_text(f"c_max 4 {_LIMIT}\n")
    monkeypatch.setattr(zfs_commands, "ARC_PARAMETER", str(parameter))
    monkeypatch.setattr(zfs_commands, "ARC_STATISTICS", str(statistics))
    note = f"{testbed.work}/poolproof-{_LABEL}/one-zfs.arc"
    run = _crashed(testbed, far, zfs_commands.limit_arc(_LIMIT, note))
    (name,) = far.run(_RECORDS, timeout_s=20).stdout.split()
    assert name.startswith("poolproof-setting-") and not Path("/run", name).exists()
    if not is_recorded:
        far.run(["rm", f"/run/{name}"], timeout_s=20)
        Path(note).write_text("64 77\n")
    assert clean(run.path, print) == 2
    assert parameter.read_text() == ("0\n" if is_recorded else f"{_LIMIT}\n")
    assert far.run(_RECORDS, timeout_s=20).stdout == ""
