"""`--devices "3x nvme 3.2GB/s, 14x hdd"`: how many disks, and what all of them can carry at most.

Ceilings without a rate of their own are generous, so that what is above them is above any such disk: an HDD 300 MB/s,
SATA 560 MB/s, SAS 1.2 GB/s, NVMe by its PCIe generation at four lanes 3.5, 7.3 and 14.5 GB/s.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.errors import UsageError

_PART = re.compile(
    r"^(?:(?P<count>\d{1,6})(?:\s*[x×*]\s*|\s*(?=[a-z])))?(?P<kind>[a-z][\w-]*)?(?:\s*[@:]?\s*(?P<rate>\d{1,12}(?:\.\d+)?)\s*(?P<unit>[kmgt]i?b)(?:/s|ps)?)?$"
)
_CEILINGS = {
    "hdd": 300e6, "smr": 300e6, "ssd": 560e6, "sata": 560e6, "sata-ssd": 560e6, "sas": 1.2e9, "sas-ssd": 1.2e9,
    "nvme": 14.5e9, "nvme3": 3.5e9, "nvme4": 7.3e9, "nvme5": 14.5e9,
}  # fmt: skip
_TURNING = ("hdd", "smr")
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True)
class Devices:
    """All disks together. `rotational`: all of them turn; None where the kind of one is not said. `shingled`: one is
    an SMR disk; of one that manages itself only the user can say so.
    """

    disks: int
    ceiling_bytes_per_s: float
    rotational: bool | None
    shingled: bool = False


def parse_devices(texts: Sequence[str]) -> Devices:
    """The disks of one or several flags, each with one or several kinds between commas.

    Raises:
        UsageError: a part is none that can be read.
    """
    parts = [part.strip().lower() for text in texts for part in re.split(r"[,+;]", text) if part.strip()]
    each = [_read(part) for part in parts]
    if not each:
        raise UsageError("--devices names no disk", 'write it so: --devices "3x nvme 3.2GB/s"')
    turning = [devices.rotational for devices in each]
    return Devices(
        disks=sum(devices.disks for devices in each),
        ceiling_bytes_per_s=sum(devices.ceiling_bytes_per_s for devices in each),
        rotational=None if None in turning else all(turning),
        shingled=any(devices.shingled for devices in each),
    )


def _read(part: str) -> Devices:
    found = _PART.match(part)
    kind = found["kind"] if found else None
    if found is None or (kind is not None and kind not in _CEILINGS) or (kind is None and found["rate"] is None):
        raise UsageError(
            f"--devices: {part!r} cannot be read",
            f'write it so: --devices "3x nvme 3.2GB/s"; the kinds are {", ".join(_CEILINGS)}',
        )
    count = int(found["count"] or 1)
    rate = _rate(found["rate"], found["unit"]) if found["rate"] else _CEILINGS[kind or ""]
    return Devices(count, count * rate, None if kind is None else kind in _TURNING, kind == "smr")


def _rate(number: str, unit: str) -> float:
    base = 1024 if "i" in unit else 1000
    return float(number) * float(base ** _UNITS[unit[0]])
