"""The table that `autotier status` prints, as values. Pure."""

import re

# name, size, quota, quota in per cent …; widths and units as in release 1.2
_ROW = re.compile(r"^(\S+)\s+[\d.]+\s*\w+\s+[\d.]+\s*\w+\s+(\d+(?:\.\d+)?)\s*%", re.MULTILINE)
_ALL_TIERS = "combined"


def quotas_of(status: str) -> tuple[float, ...]:
    """The quota of each tier in per cent, fastest first; empty when the text holds no table."""
    return tuple(float(percent) for name, percent in _ROW.findall(status) if name != _ALL_TIERS)
