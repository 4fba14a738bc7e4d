"""Labs on disk: their names, their states, orphaned labs, and the lab disks for a campaign's devices."""

import os
import time
from pathlib import Path

import msgspec
import pytest

from poolproof import process
from poolproof.campaign.device_source import parse_device_flag
from poolproof.campaign.model import Campaign, Disk, Measure
from poolproof.campaign.write import format_source
from poolproof.errors import CampaignError, HostError, UsageError
from poolproof.lab import labs
from poolproof.lab.boot import accelerators, check_acceleration, kvm_result, remember_kvm
from poolproof.lab.labs import Lab, LabRecord, OwnerProcess, last_words
from poolproof.lab.reach import reach_host, with_lab_disks
from poolproof.provision.journal import Journal
from poolproof.steps import Step
from poolproof.undos import UndoDaemon
from tests.golden import Message

HD = "emulate:hdd-7200,8G"
DISKS = {"a": HD, "b": "file:2G", "c": "qcow2:512M"}
RECORD = LabRecord(
    name="nas",
    series="2.1",
    image="zfs-2.1-bookworm-0",
    accelerator="tcg",
    port=40022,
    ram_bytes=2 << 30,
    processors=2,
    disks={"a": "scsi-0LAB_hdd-7200_a"},
    sources={"a": "{emulate: hdd-7200, size: 8G}"},
    owner=None,
)


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "poolproof" / "lab" / "machines"


def _lab(machines: Path, record: LabRecord, *, runs: bool) -> Path:
    """Create the folder of a lab.

    If the lab is to run, `sleep` takes the place of QEMU, with the folder among its arguments.
    """
    folder = machines / record.name
    folder.mkdir(parents=True)
    (folder / "lab.json").write_bytes(msgspec.json.encode(record))
    (folder / "console.log").write_text("Kernel panic - not syncing\n")
    pidfile = folder / "qemu.pid"
    Journal(folder / "journal.jsonl").record(Step("start", ("sleep",), UndoDaemon(str(pidfile), str(pidfile))))
    if runs:
        script = 'setsid sh -c "while sleep 1; do :; done" "$0" >/dev/null 2>&1 </dev/null & echo $!'
        number = process.run(["sh", "-c", script, str(pidfile)], timeout_s=10).stdout
        pidfile.write_text(number)
        _await_argument(int(number), str(pidfile))
    return folder


def _await_argument(number: int, argument: str) -> None:
    """Wait until the process has the given argument.

    A process that was just forked has its parent's arguments until it executes the requested program.
    """
    limit = time.monotonic() + 10
    while argument not in Path(f"/proc/{number}/cmdline").read_text().split("\0")[3:4]:
        assert time.monotonic() < limit, "the stand-in for QEMU did not start"
        time.sleep(0.01)


def test_a_lab_runs_until_it_is_stopped(machines: Path) -> None:
    folder = _lab(machines, RECORD, runs=True)
    lab = labs.find("lab:nas")
    assert (lab.state, lab.destination) == ("running", "lab:nas")
    labs.stop(folder)
    assert lab.state == "stopped"
    assert not labs.is_running(folder)
    labs.remove(folder)
    assert labs.labs() == ()


def test_a_lab_whose_qemu_is_gone_has_crashed(machines: Path) -> None:
    _lab(machines, RECORD, runs=False)
    lab = labs.find("nas")
    assert lab.state == "crashed"
    assert "Kernel panic" in last_words(lab.folder)


def test_a_lab_whose_owner_is_dead_is_an_orphan(machines: Path) -> None:
    dead = OwnerProcess(os.getpid(), "1")  # this process did not start when the machine booted
    folder = _lab(machines, msgspec.structs.replace(RECORD, owner=dead), runs=True)
    try:
        assert labs.find("nas").state == "orphan"
        assert labs.orphans() == (folder,)
    finally:
        labs.remove(folder)
    assert labs.orphans() == ()


def test_a_lab_whose_owner_is_alive_is_not_an_orphan(machines: Path) -> None:
    folder = _lab(machines, msgspec.structs.replace(RECORD, owner=labs.this_process()), runs=True)
    try:
        assert labs.find("nas").state == "running"
        assert labs.orphans() == ()
    finally:
        labs.remove(folder)


def test_a_lab_of_another_machine_with_the_same_home_directory_is_not_an_orphan(machines: Path) -> None:
    elsewhere = OwnerProcess(os.getpid(), "1", "0123456789abcdef pid:[4026531836]")
    folder = _lab(machines, msgspec.structs.replace(RECORD, owner=elsewhere), runs=False)
    assert labs.orphans() == ()
    (folder / "lab.json").unlink()
    (folder / "starter").write_bytes(msgspec.json.encode(elsewhere))
    assert labs.orphans() == ()
    with pytest.raises(HostError, match="was started on another machine"):
        labs.remove(folder)
    assert folder.exists()


def test_a_start_that_was_killed_leaves_an_orphan(machines: Path) -> None:
    folder = _lab(machines, RECORD, runs=False)
    (folder / "lab.json").unlink()
    (folder / "starter").write_bytes(msgspec.json.encode(OwnerProcess(os.getpid(), "1")))
    assert labs.orphans() == (folder,)
    (folder / "starter").write_bytes(msgspec.json.encode(labs.this_process()))
    assert labs.orphans() == ()


def test_an_error_about_a_missing_lab_lists_the_existing_labs(machines: Path) -> None:
    _lab(machines, RECORD, runs=False)
    with pytest.raises(HostError, match=r"no lab other; .*nas"):
        labs.find("other")
    with pytest.raises(HostError, match="no lab zfs-9"):
        labs.remove_named("zfs-9")


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("name", ["", "-x", "../etc", "a/b", "A", "x" * 32])
def test_names_that_cannot_be_folder_names_are_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="lab name") as refused:
        labs.find(name)
    assert f"'{name}'" in refused.value.message


def test_the_kvm_result_is_saved_for_the_running_kernel(machines: Path) -> None:
    assert kvm_result() is None
    assert accelerators("kvm") == ("kvm",)
    remember_kvm(False, "no ready line")
    memory = kvm_result()
    assert memory is not None
    assert memory.kernel == os.uname().release
    assert accelerators("auto") == ("tcg",)
    assert machines.parent.exists()


def test_an_unknown_acceleration_is_rejected() -> None:
    with pytest.raises(UsageError, match="--accel hvf"):
        check_acceleration("hvf")


def _campaign(*flags: str) -> Campaign:
    return Campaign("c", "", tuple(parse_device_flag(flag) for flag in flags), (), (), Measure())


def test_devices_are_replaced_by_the_lab_disks() -> None:
    campaign = with_lab_disks(RECORD, _campaign(f"a={HD}", "b=file:1G"))
    assert [device.source for device in campaign.devices][:1] == [Disk("scsi-0LAB_hdd-7200_a")]
    assert campaign.devices[1] == parse_device_flag("b=file:1G")


def test_a_lab_disk_of_a_different_kind_is_rejected(message: Message) -> None:
    with pytest.raises(CampaignError, match="lab nas") as refused:
        with_lab_disks(RECORD, _campaign("a=emulate:nvme,8G"))
    message(refused.value)


def test_the_command_to_restart_a_lab_has_the_same_disks(tmp_path: Path) -> None:
    asked = {name: parse_device_flag(f"{name}={source}") for name, source in DISKS.items()}
    sources = {name: format_source(device.source) for name, device in asked.items()}
    lab = Lab(tmp_path, msgspec.structs.replace(RECORD, sources=sources))
    words = lab.start_command.split()
    assert words[:4] == ["poolproof", "lab", "start", "nas"]
    assert words[-6:] == ["--zfs", "2.1", "--ram", "2048M", "--cpus", "2"]
    assert [parse_device_flag(word) for word in words[4:-6] if word != "--disk"] == list(asked.values())


def test_the_hint_for_a_stopped_lab_starts_it_with_its_disks(machines: Path) -> None:
    _lab(machines, RECORD, runs=False)
    with pytest.raises(HostError) as raised, reach_host("lab:nas"):
        pass
    assert "--disk a=emulate:hdd-7200,8G" in raised.value.hint
