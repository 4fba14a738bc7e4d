"""Which devices count as emulated disks, including the disks of a lab."""

import pytest

from poolproof.campaign.emulation import emulated_model
from poolproof.campaign.model import Device, DeviceSource, Disk, Emulated, LoopFile
from poolproof.lab.disks import LabDirectories, plan_disks


@pytest.mark.parametrize(
    ("source", "model"),
    [
        (Emulated("hdd-7200", 1 << 30), "hdd-7200"),
        (LoopFile(1 << 30), ""),
        (Disk("ata-ST4000VN008_ZDH1"), ""),
    ],
)
def test_only_emulated_disks_have_a_model(source: DeviceSource, model: str) -> None:
    assert emulated_model(source) == model


@pytest.mark.parametrize(("source", "model"), [(Emulated("nvme", 1 << 30), "nvme"), (LoopFile(1 << 30), "")])
def test_a_disk_of_a_lab_is_recognized(source: DeviceSource, model: str) -> None:
    disk = plan_disks([Device("a_1", source)], LabDirectories("/x", None))[0]
    assert emulated_model(Disk(disk.identity)) == model
    assert emulated_model(Disk(f"/dev/disk/by-id/{disk.identity}")) == model
