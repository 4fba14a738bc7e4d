"""Narrow links, cloud volumes and degraded arrays are recognized by the contents of sysfs."""

import pytest

from poolproof.facts.disk_link import narrow_link
from poolproof.facts.disk_state import cloud_volume, degraded_arrays, governor
from tests.unit.facts.told import ToldHost

_SLOT = "/sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0"
_GEN4, _GEN3 = "16.0 GT/s PCIe\n", "8.0 GT/s PCIe\n"


_MDSTAT = """\
Personalities : [raid1] [raid6]
md0 : active raid1 sda1[0] sdb1[2](F)
      1046528 blocks super 1.2 [2/1] [U_]

md1 : active raid1 sdc1[0] sdd1[1]
      1046528 blocks super 1.2 [2/2] [UU]

unused devices: <none>
"""


@pytest.mark.parametrize(
    ("speed", "lanes", "said"),
    [
        (_GEN4, "4\n", None),
        (_GEN4, "2\n", "the link of nvme0n1 runs at 16 GT/s x2 instead of 16 GT/s x4"),
        (_GEN3, "4\n", "the link of nvme0n1 runs at 8 GT/s x4 instead of 16 GT/s x4"),
        ("Unknown\n", "0\n", None),
    ],
)
def test_a_link(speed: str, lanes: str, said: str | None) -> None:
    files = {
        f"{_SLOT}/current_link_speed": speed, f"{_SLOT}/current_link_width": lanes,
        f"{_SLOT}/max_link_speed": _GEN4, f"{_SLOT}/max_link_width": "4\n",
    }  # fmt: skip
    host = ToldHost(files, {"/sys/class/block/nvme0n1": f"{_SLOT}/nvme/nvme0/nvme0n1\n"})
    assert narrow_link(host, "nvme0n1") == said
    assert narrow_link(host, "sda") is None


def test_a_cloud_volume() -> None:
    model = "/sys/class/block/nvme1n1/device/model"
    assert cloud_volume(ToldHost({model: "Amazon Elastic Block Store \n"}), "nvme1n1") == "Amazon Elastic Block Store"
    assert cloud_volume(ToldHost({model: "Samsung SSD 990 PRO\n"}), "nvme1n1") is None


@pytest.mark.parametrize("partition", ["sda1", "nvme1n1p1"])
def test_a_partition_of_a_cloud_volume(partition: str) -> None:
    """/sys/class/block/sda1 is a symbolic link into the folder of sda."""
    host = ToldHost({f"/sys/class/block/{partition}/../device/model": "PersistentDisk\n"})
    assert cloud_volume(host, partition) == "PersistentDisk"


@pytest.mark.parametrize(
    ("devices", "said"),
    [(["sdb"], ("md0 is missing a disk",)), (["md0"], ("md0 is missing a disk",)), (["sdd1"], ()), (["sdz"], ())],
)
def test_degraded_arrays(devices: list[str], said: tuple[str, ...]) -> None:
    host = ToldHost({"/proc/mdstat": _MDSTAT})
    assert degraded_arrays(host, devices) == said


def test_a_governor() -> None:
    files = {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n"}
    assert (governor(ToldHost(files)), governor(ToldHost({}))) == ("powersave", None)
