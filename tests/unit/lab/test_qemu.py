"""The disks of a lab, and the exact command lines for nbdkit and QEMU."""

import json
from pathlib import Path

import pytest

from poolproof.campaign.device_source import parse_device_flag
from poolproof.devices.emulate import PLUGIN
from poolproof.errors import CampaignError, HostError
from poolproof.lab.boot import Accelerator, Boot, qemu_command
from poolproof.lab.disks import LabDirectories, LabDisk, in_ram, plan_disks
from poolproof.lab.labs import Image
from poolproof.provision.journal import Journal
from tests.golden import Message

PLACES = LabDirectories("/cache/lab/nas", "/dev/shm/poolproof-lab-nas")
GIB = 1 << 30
JOURNAL = Journal(Path("/none/journal.jsonl"))
WAYS: tuple[Accelerator, ...] = ("kvm", "tcg")
CPU = "max,erms=off,fsrm=off,la57=off"


def planned(*flags: str, places: LabDirectories = PLACES) -> tuple[LabDisk, ...]:
    return plan_disks([parse_device_flag(flag) for flag in flags], places, pipeline_s=0.0003)


def test_an_emulated_disk_is_served_by_nbdkit() -> None:
    (disk,) = planned("rust=emulate:hdd-7200,8G")
    (serve,) = disk.steps
    assert serve.argv == (
        *("nbdkit", "-U", "/cache/lab/nas/rust.sock", "-P", "/cache/lab/nas/rust.nbd.pid", "-t", "16"),
        *("python", str(PLUGIN), "model=hdd-7200", f"size={8 * GIB}"),
        *("store=/dev/shm/poolproof-lab-nas/rust.store", "seed=1", "pipeline=0.000300"),
    )


def test_a_hard_disk_reports_its_rotation_rate_and_model() -> None:
    blockdev, backend, device, shape = planned("rust=emulate:hdd-7200,8G")[0].qemu(3)
    assert (blockdev, device) == ("-blockdev", "-device")
    assert json.loads(backend) == {
        "node-name": "disk3",
        "driver": "nbd",
        "server": {"type": "unix", "path": "/cache/lab/nas/rust.sock"},
        "discard": "unmap",
    }
    assert json.loads(shape) == {
        "driver": "scsi-hd",
        "bus": "scsi0.0",
        "scsi-id": 3,
        "drive": "disk3",
        "serial": "rust",
        "vendor": "LAB",
        "product": "hdd-7200",
        "rotation_rate": 7200,
        "logical_block_size": 512,
        "physical_block_size": 4096,
        "werror": "report",
    }


@pytest.mark.parametrize("flag", ["a=emulate:sata-ssd,8G", "a=emulate:nvme,8G", "a=file:8G", "a=qcow2:8G"])
def test_other_disks_report_that_they_are_not_rotational(flag: str) -> None:
    (disk,) = planned(flag)
    assert disk.rotation_rate == 1


def test_images_are_opened_with_direct_io() -> None:
    for flag, driver in (("a=file:8G", "raw"), ("a=qcow2:8G", "qcow2")):
        (disk,) = planned(flag)
        assert disk.backend["driver"] == driver
        assert disk.backend["cache"] == disk.backend["file"]["cache"] == {"direct": True}
        assert disk.backend["discard"] == "unmap"


def test_a_disk_is_named_by_its_serial_in_the_guest() -> None:
    assert [disk.identity for disk in planned("a=emulate:hdd-7200,8G", "b=file:1G")] == [
        "scsi-0LAB_hdd-7200_a",
        "scsi-0LAB_file_b",
    ]


def test_the_complete_qemu_command_line() -> None:
    image, folder = Image(Path("/cache/lab/images/zfs,2.1")), Path("/cache/lab/nas")
    machine = Boot("nas", 2 * GIB, 2, 40022, image, folder, planned("a=file:1G"), JOURNAL)
    argv = qemu_command(machine, "tcg", 40022, "AAAAC3")
    assert argv == (
        *("qemu-system-x86_64", "-name", "poolproof-lab-nas", "-nodefaults", "-no-user-config"),
        *("-display", "none", "-no-reboot", "-daemonize", "-pidfile", "/cache/lab/nas/qemu.pid"),
        *("-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", CPU),
        *("-smp", "2", "-m", "2048M"),
        *("-kernel", "/cache/lab/images/zfs,2.1/kernel", "-initrd", "/cache/lab/images/zfs,2.1/initrd", "-append"),
        "console=ttyS0 quiet loglevel=4 panic=-1 net.ifnames=0 mitigations=off random.trust_cpu=on "
        "cryptomgr.notests poolproof.key=AAAAC3",
        *("-serial", "file:/cache/lab/nas/console.log", "-drive"),
        "file=/cache/lab/images/zfs,,2.1/disk.raw,format=raw,if=none,id=root,snapshot=on,cache=unsafe",
        *("-device", "virtio-blk-pci,drive=root,werror=report"),
        *("-netdev", "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:40022-:22"),
        *("-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci"),
        *("-object", "iothread,id=disks", "-device", "virtio-scsi-pci,id=scsi0,iothread=disks"),
        *planned("a=file:1G")[0].qemu(0),
    )


def test_with_kvm_only_the_acceleration_differs() -> None:
    machine = Boot("nas", 2 * GIB, 2, 40022, Image(Path("/i")), Path("/l"), (), JOURNAL)
    kvm, tcg = (qemu_command(machine, way, 40022, "A") for way in WAYS)
    assert set(kvm) ^ set(tcg) == {"kvm", "host", "tcg,thread=multi", CPU}


@pytest.mark.parametrize("accelerator", WAYS)
def test_a_guest_with_one_processor_has_room_for_a_second_one(accelerator: Accelerator) -> None:
    """Otherwise, QEMU 7.2 leaves out memory barriers, and loses requests to the disks."""
    machine = Boot("nas", 2 * GIB, 1, 40022, Image(Path("/i")), Path("/l"), (), JOURNAL)
    argv = qemu_command(machine, accelerator, 40022, "A")
    assert argv[argv.index("-smp") + 1] == "1,maxcpus=2"


def test_a_real_disk_cannot_be_a_lab_disk() -> None:
    with pytest.raises(CampaignError, match=r"\ba\b.* real disk"):
        planned("a=disk:ata-X_1")


def test_an_unknown_model_is_rejected_before_anything_starts() -> None:
    with pytest.raises(CampaignError, match="no disk model 'hdd-7300'"):
        planned("a=emulate:hdd-7300,8G")


def test_names_that_cannot_be_serial_numbers_are_rejected(message: Message) -> None:
    with pytest.raises(CampaignError, match=r"\ba\b.*\bA\b.* case") as refused:
        planned("a=file:1G", "A=file:1G")
    message(refused.value)
    with pytest.raises(CampaignError, match="36 characters") as refused:
        planned(f"{'a' * 37}=file:1G")
    message(refused.value)


def test_a_folder_path_too_long_for_a_socket_is_rejected() -> None:
    with pytest.raises(HostError, match="Unix socket"):
        planned("a=emulate:nvme,1G", places=LabDirectories("/" + "x" * 105, None))


def test_emulated_disks_are_stored_in_ram_only_if_all_fit() -> None:
    devices = [parse_device_flag(flag) for flag in ("a=emulate:nvme,1G", "b=emulate:nvme,2G", "c=file:8G")]
    assert in_ram(devices, 3 * GIB)
    assert not in_ram(devices, 3 * GIB - 1)
    assert not in_ram(devices[2:], 3 * GIB)
