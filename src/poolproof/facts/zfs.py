"""What ZFS says of a dataset or a volume: its properties, its pool's log and cache devices, the limits of the module.

Formats: `zfs get -Hp -o property,value all` prints a property and its exact value with a tab between them;
`zpool status` opens the groups of log and cache devices with a line of that word, one tab in (zfs-get(8),
zpool-status(8)); arcstats has a name, a type and a value on each line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.hosts.base import FileMissing, Host

_LIMIT_S = 20.0
_GROUP = re.compile(r"^\t(logs|cache)\s*$", re.MULTILINE)
_BUSY = re.compile(r"^\s*scan: (scrub|resilver) in progress", re.MULTILINE)
_C_MAX = re.compile(r"^c_max\s+\d+\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class DatasetFacts:
    """A dataset or volume. `properties` in ZFS's own words and exact values; `busy_with` is "scrub" or "resilver"."""

    properties: Mapping[str, str]
    version: str | None
    arc_max_bytes: int | None
    has_log: bool
    has_cache: bool
    busy_with: str | None


def dataset_facts(host: Host, name: str) -> DatasetFacts | None:
    """None where ZFS knows nothing of that name.

    Raises:
        ProgramMissing: the host has no `zfs`.
    """
    listing = host.run(["zfs", "get", "-Hp", "-o", "property,value", "all", name], timeout_s=_LIMIT_S, check=False)
    if listing.returncode != 0:
        return None
    status = host.run(["zpool", "status", name.partition("/")[0]], timeout_s=_LIMIT_S, check=False).stdout
    groups, busy = _GROUP.findall(status), _BUSY.search(status)
    return DatasetFacts(
        parse_properties(listing.stdout),
        _read(host, "/sys/module/zfs/version"),
        parse_arc_max(_read(host, "/proc/spl/kstat/zfs/arcstats") or ""),
        "logs" in groups,
        "cache" in groups,
        busy[1] if busy else None,
    )


def volume_of(host: Host, device: str) -> str | None:
    """The volume behind `/dev/zd0` or `/dev/zvol/tank/vol`; None where it is none."""
    if device.startswith("/dev/zvol/"):
        return device.removeprefix("/dev/zvol/")
    if not re.fullmatch(r"/dev/zd\d+", device):
        return None
    said = host.run(["/lib/udev/zvol_id", device], timeout_s=_LIMIT_S, check=False)
    return said.stdout.strip() or None if said.returncode == 0 else None


def parse_properties(text: str) -> Mapping[str, str]:
    """`zfs get -Hp -o property,value` as a mapping."""
    rows = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    return {row[0]: row[1] for row in rows}


def parse_arc_max(arcstats: str) -> int | None:
    """The size that the ARC may grow to, in bytes."""
    found = _C_MAX.search(arcstats)
    return int(found[1]) if found else None


def _read(host: Host, path: str) -> str | None:
    try:
        return host.read(path).strip()
    except FileMissing:
        return None
