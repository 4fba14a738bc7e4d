"""Disks as people name them, `3x nvme 3.2GB/s` or `14x hdd`, and the most that they can carry together.

Ceilings of a kind: what its link can carry less coding, or the fastest medium of that kind. They are upper bounds; a
disk of which the rate is named is bound by that.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

_MB = 1e6
KINDS: dict[str, tuple[float, bool | None]] = {
    "hdd": (300 * _MB, True),
    "ssd": (14_500 * _MB, False),
    "sata": (560 * _MB, None),
    "sata-ssd": (560 * _MB, False),
    "sas": (1_200 * _MB, None),
    "nvme": (14_500 * _MB, False),
    "nvme3": (3_500 * _MB, False),
    "nvme4": (7_300 * _MB, False),
    "nvme5": (14_500 * _MB, False),
    "disk": (math.inf, None),
}
"""Bytes per second of one disk, and whether it turns. An SSD of unknown make may be an NVMe one on PCIe 5."""

_GROUP = re.compile(
    r"(?i)^\s*(?:(\d{1,4})\s*[x×*]?\s*)?([a-z][a-z0-9-]*?)s?(?:\s+(\S+?)(?:\s*,?\s*read)?(?:\s*[:/,]?\s+(\S+?)\s*write)?)?\s*$"
)
_RATE = re.compile(r"(?i)^(\d+(?:\.\d+)?)\s*([kmgt])(i?)b(?:/s(?:ec)?|ps)$")
_SPACED_UNIT = re.compile(r"(?i)(\d)\s+([kmgt]i?b/s)")
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_EXAMPLE = "write a number, a kind and a rate: `3x nvme 3.2GB/s`, `14x hdd`, `2x ssd 560MB/s read 510MB/s write`"


@dataclass(frozen=True)
class Disks:
    """Some disks of one kind. Rates are those of one disk, in bytes per second; infinite where nothing bounds them."""

    count: int
    kind: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    rotational: bool | None


@dataclass(frozen=True)
class Ceiling:
    """What all disks together can carry, in bytes per second; None where nothing bounds it."""

    read_bytes_per_s: float | None
    write_bytes_per_s: float | None


def parse_disks(text: str) -> tuple[Disks, ...]:
    """The disks in `3x nvme 3.2GB/s + 14x hdd`.

    Raises:
        ValueError: the text is no such list; says how one is written.
    """
    return tuple(_group(part) for part in re.split(r"\s*[+;]\s*|,\s*(?=\d+\s*[x×])", text.strip()))


def parse_rate(text: str) -> float:
    """Bytes per second in `3.2GB/s` (powers of 1000) or `900MiB/s` (powers of 1024).

    Raises:
        ValueError: the text is no rate.
    """
    match = _RATE.match(text.replace(" ", ""))
    if match is None:
        raise ValueError(f"{text!r} is no rate; write one such as 3.2GB/s or 900MB/s")
    return float(match[1]) * (1024.0 if match[3] else 1000.0) ** _POWERS[match[2].lower()]


def ceiling_of(disks: Iterable[Disks]) -> Ceiling:
    """The sum over all disks."""
    groups = tuple(disks)
    read = sum(group.count * group.read_bytes_per_s for group in groups)
    write = sum(group.count * group.write_bytes_per_s for group in groups)
    return Ceiling(_bound(read), _bound(write))


def _bound(rate: float) -> float | None:
    return rate if 0 < rate < math.inf else None


def _group(text: str) -> Disks:
    match = _GROUP.match(_SPACED_UNIT.sub(r"\1\2", text))
    kind = match[2].lower() if match else ""
    if match is None or kind not in KINDS or match[1] == "0":
        raise ValueError(f"{text.strip()!r} names no disks; {_EXAMPLE}")
    read = parse_rate(match[3]) if match[3] else KINDS[kind][0]
    write = parse_rate(match[4]) if match[4] else read
    return Disks(int(match[1] or 1), kind, read, write, KINDS[kind][1])
