"""The link between a disk and its host: PCIe for NVMe disks, SATA for others.

Sources: Documentation/ABI/testing/sysfs-bus-pci (current_link_speed, max_link_width, …); PCI Express Base
Specification: 8b/10b encoding up to 5 GT/s, 128b/130b from 8 GT/s.
"""

import re
from dataclasses import dataclass
from typing import Literal

from poolproof.hosts.base import Host, text_of

_LIMIT_S = 20.0
_SATA_BYTES_PER_S = 600e6
_SATA = re.compile(r"/ata\d+/")
_SPEED = re.compile(r"([\d.]+) GT/s")


@dataclass(frozen=True)
class _PcieLink:
    gigatransfers: float
    lanes: int

    def __str__(self) -> str:
        return f"{self.gigatransfers:g} GT/s x{self.lanes}"


def link_bytes_per_s(host: Host, device: str) -> float | None:
    """Return the maximum bandwidth of a disk's link, in bytes per second per direction, or None if unknown.

    For an NVMe disk, this is the bandwidth of the fastest PCIe link that the disk supports. Every SATA link is assumed
    to be SATA 3, the fastest version: 6 Gbit/s with 8b/10b encoding, or 600 MB/s.
    """
    path = device_path(host, device)
    if "/nvme/" not in path:
        return _SATA_BYTES_PER_S if _SATA.search(path) else None
    most = _pcie_link(host, path, "max")  # an idle link may run slower
    if most is None:
        return None
    return most.gigatransfers * 1e9 * most.lanes / 8 * (0.8 if most.gigatransfers <= 5 else 128 / 130)


def narrow_link(host: Host, device: str) -> str | None:
    """Describe an NVMe disk's PCIe link if it is slower or narrower than the disk allows, otherwise return None."""
    path = device_path(host, device) if device.startswith("nvme") else ""
    if "/nvme/" not in path:
        return None
    now, most = _pcie_link(host, path, "current"), _pcie_link(host, path, "max")
    if now is None or most is None or not now.lanes:
        return None
    if now.gigatransfers >= most.gigatransfers and now.lanes >= most.lanes:
        return None
    return f"the link of {device} runs at {now} instead of {most}"


def device_path(host: Host, device: str) -> str:
    """Return the device's real path in sysfs, or "" if it does not exist."""
    argv = ["realpath", "--canonicalize-existing", f"/sys/class/block/{device}"]
    return host.run(argv, timeout_s=_LIMIT_S, check=False).stdout.strip()


def _pcie_link(host: Host, path: str, kind: Literal["current", "max"]) -> _PcieLink | None:
    pcie = path.partition("/nvme/")[0]
    speed = _SPEED.match(text_of(host, f"{pcie}/{kind}_link_speed"))
    lanes = text_of(host, f"{pcie}/{kind}_link_width").strip()
    return _PcieLink(float(speed[1]), int(lanes)) if speed and lanes.isdecimal() else None
