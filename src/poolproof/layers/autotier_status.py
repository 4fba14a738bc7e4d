"""The table that `autotier status` prints, as values. Pure."""

import re
from dataclasses import dataclass

# name, size, quota, quota in per cent …; widths and units as in release 1.2
_ROW = re.compile(r"^(\S+)\s+[\d.]+\s*\w+\s+([\d.]+)\s*([KMGTPEZY]?)i?B\s+(\d+(?:\.\d+)?)\s*%", re.MULTILINE)
_ALL_TIERS = "combined"
_POWERS = " KMGTPEZY"


@dataclass(frozen=True)
class SaidQuota:
    """What autotier takes a tier's quota for: a share of the tier in per cent, and bytes, rounded as it prints them."""

    percent: float
    size_bytes: float


def quotas_of(status: str) -> tuple[SaidQuota, ...]:
    """The quota of each tier, fastest first; empty when the text holds no table."""
    return tuple(
        SaidQuota(float(percent), float(size) * 1024.0 ** _POWERS.index(unit or " "))
        for name, size, unit, percent in _ROW.findall(status)
        if name != _ALL_TIERS
    )
