"""Facts about a machine: whether it is a virtual machine, its settings, program versions, and its disks' links."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from poolproof import process
from poolproof.devices.site import VERSIONS as VERSIONS_OF_DEVICES
from poolproof.facts.disk_link import link_bytes_per_s
from poolproof.facts.machine import is_guest, program_versions, tunables
from poolproof.hosts.local import LocalHost
from poolproof.layers.layer_catalogue import all_layers
from tests.unit.facts.told import ToldHost

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


SAID = """\
/proc/sys/vm/dirty_ratio:20
/proc/sys/vm/dirty_bytes:0
/sys/module/zfs/parameters/zfs_txg_timeout:1
/sys/module/zfs/parameters/zfs_arc_max:268435456
/sys/module/zfs/parameters/zfs_other:7
"""


def test_those_of_this_machine() -> None:
    found = tunables(LocalHost(), {})
    assert found["vm.dirty_ratio"] == Path("/proc/sys/vm/dirty_ratio").read_text(encoding="ascii").strip()
    assert all(value.isdigit() for value in found.values())


def test_those_of_a_module_that_is_loaded() -> None:
    host = ToldHost({}, {"/sys/module/zfs/parameters/zfs_arc_max": SAID})
    names = ("zfs_txg_timeout", "zfs_arc_max")
    assert tunables(host, {f"/sys/module/zfs/parameters/{name}": name for name in names}) == {
        "vm.dirty_ratio": "20",
        "vm.dirty_bytes": "0",
        "zfs_txg_timeout": "1",
        "zfs_arc_max": "268435456",
    }


PRINTED = {
    "mkfs.ext4": ("", "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n", "e2fsprogs", "1.47.0"),
    "mkfs.xfs": ("mkfs.xfs version 6.1.0\n", "", "xfsprogs", "6.1.0"),
    "btrfs": ("btrfs-progs v6.2\n", "", "btrfs-progs", "6.2"),
    "mergerfs": ("mergerfs version: 2.33.5\n", "", "mergerfs", "2.33.5"),
    "nbdkit": ("nbdkit 1.32.5\n", "", "nbdkit", "1.32.5"),
    "nbdfuse": ("nbdfuse 1.14.2\nlibnbd 1.14.2\n", "", "nbdfuse", "1.14.2"),
    "qemu-img": ("qemu-img version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\n", "", "qemu", "7.2.22"),
    "mdadm": ("", "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", "mdadm", "4.2"),
    "cryptsetup": ("cryptsetup 2.6.1 flags: UDEV BLKID KEYRING KERNEL_CAPI \n", "", "cryptsetup", "2.6.1"),
    "zfs": ("zfs-2.1.11-1+deb12u1\nzfs-kmod-2.1.14-1~bpo\n", "", "OpenZFS", "2.1.14-1~bpo"),
    "lvm": (
        "  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185 (2022-05-18)\n",
        "",
        "lvm",
        "2.03.16",
    ),
}


VERSIONS = (
    *(layer.version for layer in all_layers().values() if layer.version is not None),
    *VERSIONS_OF_DEVICES.values(),
)


class PrintingHost(LocalHost):
    """This machine, with programs that print the given text. None of them is actually run."""

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        del stdin, check, timeout_s
        out, err, _name, _version = PRINTED[argv[0]]
        return process.Completed(tuple(argv), 0, out, err, 0.0)


@pytest.mark.parametrize("program", PRINTED)
def test_the_version_is_found_in_what_a_program_prints(program: str) -> None:
    _out, _err, name, version = PRINTED[program]
    asked = [each for each in VERSIONS if each.argv[0] == program]
    assert program_versions(PrintingHost(), asked) == {name: version}


def test_each_version_that_is_recorded_is_tested() -> None:
    assert {each.argv[0] for each in VERSIONS} == set(PRINTED)


def test_a_program_that_is_not_there_is_left_out() -> None:
    class Bare(LocalHost):
        def run(
            self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
        ) -> process.Completed:
            return super().run((f"/no/such/{argv[0]}",), timeout_s=timeout_s, stdin=stdin, check=check)

    assert program_versions(Bare(), VERSIONS) == {}
