"""The bandwidth of the link of a disk, if the kernel shows which link it is. Read-only.

Sources: sysfs-bus-pci (max_link_speed, max_link_width); coding of 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on (PCI
Express Base Specification); SATA 3 signals 6 Gbit/s with 8b/10b, 600 MB/s, and no SATA link is faster.
"""

import re

from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0
_SATA_BYTES_PER_S = 600e6
_SATA = re.compile(r"/ata\d+/")
_SPEED = re.compile(r"([\d.]+) GT/s")


def link_bytes_per_s(host: Host, device: str) -> float | None:
    """Return an upper limit in bytes per second, in one direction, of a disk or partition by kernel name; None if
    unknown.
    """
    argv = ["realpath", "--canonicalize-existing", f"/sys/class/block/{device}"]
    place = host.run(argv, timeout_s=_LIMIT_S, check=False).stdout
    pcie, nvme, _ = place.partition("/nvme/")
    if nvme:
        return _pcie(host, pcie)
    return _SATA_BYTES_PER_S if _SATA.search(place) else None


def _pcie(host: Host, device: str) -> float | None:
    """Use the maximum of the device: an idle link may run slower."""
    try:
        speed = _SPEED.match(host.read(f"{device}/max_link_speed"))
        lanes = int(host.read(f"{device}/max_link_width"))
    except (FileMissing, ValueError):
        return None
    if speed is None:
        return None
    transfers = float(speed[1])
    return transfers * 1e9 * lanes / 8 * (0.8 if transfers <= 5 else 128 / 130)
