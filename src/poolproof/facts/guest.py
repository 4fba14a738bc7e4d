"""Detect whether a host is a virtual machine. Read-only.

Sources: the CPUID hypervisor bit in /proc/cpuinfo (x86); /sys/hypervisor of Xen, whose dom0 has /proc/xen/capabilities
with `control_d`; the DMI vendors that systemd-detect-virt(1) knows (systemd, src/basic/virt.c).
"""

import re

from poolproof.hosts.base import FileMissing, Host

_DMI = ("product_name", "sys_vendor", "board_vendor", "bios_vendor")
_VENDORS = (
    *("KVM", "OpenStack", "KubeVirt", "Amazon EC2", "QEMU", "VMware", "VMW", "innotek GmbH", "VirtualBox"),
    *("Oracle Corporation", "Xen", "Bochs", "Parallels", "BHYVE", "Hyper-V", "Apple Virtualization"),
    "Google Compute Engine",
)


def is_guest(host: Host) -> bool | None:
    """True in a virtual machine, False on bare metal, None if it cannot be detected."""
    if "control_d" in _read(host, "/proc/xen/capabilities"):
        return False
    if _read(host, "/sys/hypervisor/type").strip():
        return True
    flags = re.search(r"^flags\s*:(.*)$", _read(host, "/proc/cpuinfo"), re.MULTILINE)
    if flags is not None:
        return "hypervisor" in flags[1].split()
    return _by_dmi([_read(host, f"/sys/class/dmi/id/{name}").strip() for name in _DMI])


def _by_dmi(texts: list[str]) -> bool | None:
    """A bare-metal machine of a cloud has the vendor of the cloud, and a product name that ends in `.metal`."""
    if not any(texts):
        return None
    return any(text.startswith(_VENDORS) for text in texts) and not texts[0].endswith(".metal")


def _read(host: Host, path: str) -> str:
    try:
        return host.read(path)
    except FileMissing:
        return ""
