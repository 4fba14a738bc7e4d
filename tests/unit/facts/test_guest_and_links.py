"""Whether a machine is a guest, and what the links of its disks carry, from files as such machines show them."""

import pytest

from poolproof.facts.guest import is_guest
from poolproof.facts.links import link_bytes_per_s

from .told import ToldHost

# Linux 6.18 in a Firecracker guest, and 6.1 on an AMD desktop; shortened
_GUEST = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu vme sse2 hypervisor lahf_lm\n"
_METAL = "processor\t: 0\nmodel name\t: AMD Ryzen 7 5800X\nflags\t\t: fpu vme sse2 lahf_lm svm\n"
_ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes\n"
_SLOT = "/sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0"
_DMI = "/sys/class/dmi/id/"


@pytest.mark.parametrize(
    ("files", "guest"),
    [
        ({"/proc/cpuinfo": _GUEST}, True),
        ({"/proc/cpuinfo": _METAL}, False),
        ({"/proc/cpuinfo": _METAL, f"{_DMI}sys_vendor": "QEMU\n"}, False),
        ({"/proc/cpuinfo": _GUEST, "/proc/xen/capabilities": "control_d\n", "/sys/hypervisor/type": "xen\n"}, False),
        ({"/proc/cpuinfo": _METAL, "/proc/xen/capabilities": "", "/sys/hypervisor/type": "xen\n"}, True),
        ({"/proc/cpuinfo": _ARM}, None),
        ({"/proc/cpuinfo": _ARM, f"{_DMI}sys_vendor": "QEMU\n"}, True),
        ({"/proc/cpuinfo": _ARM, f"{_DMI}sys_vendor": "Ampere\n"}, False),
        ({"/proc/cpuinfo": _ARM, f"{_DMI}sys_vendor": "Amazon EC2\n", f"{_DMI}product_name": "c7g.large\n"}, True),
        ({"/proc/cpuinfo": _ARM, f"{_DMI}sys_vendor": "Amazon EC2\n", f"{_DMI}product_name": "c7g.metal\n"}, False),
        ({}, None),
    ],
)
def test_a_guest(files: dict[str, str], guest: bool | None) -> None:
    assert is_guest(ToldHost(files)) is guest


@pytest.mark.parametrize(
    ("speed", "width", "megabytes"),
    [("8.0 GT/s PCIe\n", "4\n", 3938), ("16.0 GT/s PCIe\n", "4\n", 7877), ("5.0 GT/s PCIe\n", "2\n", 1000)],
)
def test_an_nvme_disk_carries_what_its_lanes_do(speed: str, width: str, megabytes: int) -> None:
    files = {f"{_SLOT}/max_link_speed": speed, f"{_SLOT}/max_link_width": width}
    for name in ("nvme0n1", "nvme0n1/nvme0n1p2"):
        host = ToldHost(files, {f"/sys/class/block/{name[-9:]}": f"{_SLOT}/nvme/nvme0/{name}\n"})
        assert link_bytes_per_s(host, name[-9:]) == pytest.approx(megabytes * 1e6, rel=1e-3)


@pytest.mark.parametrize(
    ("device", "place", "rate"),
    [
        ("sda", "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda", 600e6),
        ("sda1", "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1", 600e6),
        ("sdb", "/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sdb", None),
        ("sdc", "/sys/devices/pci0000:00/0000:01:00.0/host1/port-1:0/end_device-1:0/1:0:0:0/block/sdc", None),
        ("vda", "/sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda", None),
        ("nvme0n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", None),
        ("loop0", "/sys/devices/virtual/block/loop0", None),
    ],
)
def test_a_link_that_is_not_known_has_no_rate(device: str, place: str, rate: float | None) -> None:
    assert link_bytes_per_s(ToldHost({}, {f"/sys/class/block/{device}": place}), device) == rate


def test_what_the_kernel_does_not_say_has_no_rate() -> None:
    place = {"/sys/class/block/nvme0n1": f"{_SLOT}/nvme/nvme0/nvme0n1\n"}
    unknown = {f"{_SLOT}/max_link_speed": "Unknown\n", f"{_SLOT}/max_link_width": "4\n"}
    assert link_bytes_per_s(ToldHost(unknown, place), "nvme0n1") is None
    assert link_bytes_per_s(ToldHost({}, place), "nvme0n1") is None
    assert link_bytes_per_s(ToldHost({}), "nvme0n1") is None
