"""The transaction groups of ZFS: how long what is written may stay in RAM before it goes to the pool's disks.

A group is closed after zfs_txg_timeout seconds, or sooner, when zfs_dirty_data_sync_percent of zfs_dirty_data_max are
dirty (zfs(4), module parameters). The intent log makes synchronous writes safe before; they go to their place with
their group all the same.
"""

from poolproof.hosts.base import FileMissing, Host
from poolproof.layers.base import WriteBack

_PARAMETERS = "/sys/module/zfs/parameters"
_TIMEOUT_S = 5


def transaction_groups(host: Host) -> WriteBack:
    """The cycle as this host's module has it."""
    most, percent = _parameter(host, "zfs_dirty_data_max"), _parameter(host, "zfs_dirty_data_sync_percent")
    timeout_s = _parameter(host, "zfs_txg_timeout")
    return WriteBack(
        seconds=float(_TIMEOUT_S if timeout_s is None else timeout_s),
        bytes=most * percent // 100 if most and percent else None,
    )


def _parameter(host: Host, name: str) -> int | None:
    try:
        return int(host.read(f"{_PARAMETERS}/{name}"))
    except (FileMissing, ValueError):
        return None
