"""`resume` overwrites a real disk only if this machine remembers the permission, or if --wipe names the disk again.

The machine forgets it at the next boot, because someone may then have stored data on the disk.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.devices.permission import forget_permission, keep_permission, kept_permission
from poolproof.errors import CampaignError, GuardError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.measure.session import reopen_session
from poolproof.results.runs.directory import RunDirectory
from tests.unit.access_lists import as_root
from tests.unit.results.compare.making import RECORD

_LABEL = "0badcafe"
_DISK = "ata-no-such-disk-5e1f"
_CAMPAIGN = f"""
devices: {{a: {{disk: {_DISK}}}, b: {{file: 1G}}}}
layouts: {{one: a | ext4, two: b | ext4}}
workloads: {{reads: {{rw: randread, size: 16m}}}}
"""
_HOST = LocalHost()

pytestmark = as_root


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDirectory]:
    """An interrupted run that was allowed to overwrite a disk. The disk no longer exists."""
    state = tmp_path.resolve() / f"poolproof-{_LABEL}"
    record = replace(
        RECORD,
        campaign=_CAMPAIGN,
        label=_LABEL,
        state_dir=str(state),
        ram_dir=f"/dev/shm/poolproof-{_LABEL}",
        facts={},
        allowed_disks=(_DISK,),
    )
    made = RunDirectory.create(tmp_path / "run", record.campaign, record)
    yield made
    forget_permission(_HOST, str(state), [])


def _state(run: RunDirectory) -> str:
    return run.record().state_dir


def _resume(run: RunDirectory, *wipe: str) -> None:
    with reopen_session(run, print, on=None, wipe=wipe):
        raise AssertionError("resumed")


def test_a_run_without_a_record_must_be_permitted_again(run: RunDirectory) -> None:
    """run.json may come from a stranger."""
    with pytest.raises(
        GuardError, match=f"{_DISK} may contain someone's data by now, because .* was rebooted"
    ) as refused:
        _resume(run)
    assert f"poolproof resume {run.path} --wipe {_DISK}" in refused.value.hint


@pytest.mark.parametrize("is_recorded", [False, True])
def test_wipe_or_a_record_permits_it(run: RunDirectory, is_recorded: bool) -> None:
    """The disk is then looked for, and not found."""
    if is_recorded:
        keep_permission(_HOST, _state(run), [_DISK])
    with pytest.raises(CampaignError, match=f"no disk has the by-id name, serial number or WWN {_DISK}"):
        _resume(run, *(() if is_recorded else (_DISK,)))


def test_a_record_from_before_a_reboot_does_not_count(run: RunDirectory) -> None:
    keep_permission(_HOST, _state(run), [_DISK])
    name = hashlib.sha256(_state(run).encode()).hexdigest()[:32]
    record = Path(f"/run/poolproof-permission-{name}")
    boot, *others = record.read_text().splitlines()
    assert others == [_DISK]
    record.write_text("\n".join((boot.replace(boot[0], "f" if boot[0] != "f" else "0"), *others, "")))
    assert kept_permission(_HOST, _state(run)) == frozenset()
    with pytest.raises(GuardError, match="was rebooted or the run was cleaned up"):
        _resume(run)


def test_a_record_of_another_disk_does_not_count(run: RunDirectory) -> None:
    keep_permission(_HOST, _state(run), ["another-disk"])
    with pytest.raises(GuardError, match="was rebooted or the run was cleaned up"):
        _resume(run)


def test_a_record_permits_only_disks_that_the_run_lists(run: RunDirectory) -> None:
    run.write_record(replace(run.record(), allowed_disks=()))
    keep_permission(_HOST, _state(run), [_DISK])
    with pytest.raises(CampaignError):
        _resume(run)


def test_wipe_without_a_real_disk_is_refused(run: RunDirectory) -> None:
    run.write_record(replace(run.record(), campaign=RECORD.campaign))
    with pytest.raises(UsageError, match="does not use a real disk"):
        _resume(run, _DISK)


def test_no_disk_needs_no_record(run: RunDirectory) -> None:
    keep_permission(_HOST, _state(run), [])
    assert kept_permission(_HOST, _state(run)) == frozenset()
