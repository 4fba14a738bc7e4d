"""Settings of the kernel that move figures of storage and are nobody's layout: how long and how much stays in RAM.

`vm.*`: Documentation/admin-guide/sysctl/vm.rst of Linux; the others are parameters of OpenZFS's module (zfs(4)), there
once it is loaded. Values are the kernel's own words; 0 for `zfs_arc_max` is "as much as OpenZFS thinks right".
"""

from poolproof.hosts.base import Host

_LIMIT_S = 10.0
_VM = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes", "dirty_expire_centisecs")
_ZFS = (
    "zfs_txg_timeout",
    "zfs_arc_max",
    "zfs_dirty_data_max",
    "zfs_prefetch_disable",
    "l2arc_write_max",
    "l2arc_noprefetch",
)
_PATHS = {
    **{f"/proc/sys/vm/{name}": f"vm.{name}" for name in _VM},
    **{f"/sys/module/zfs/parameters/{name}": name for name in _ZFS},
}


def tunables(host: Host) -> dict[str, str]:
    """Those that this host has, by name, as they are now.

    Raises:
        CommandError: the host does not answer.
    """
    said = host.run(["grep", "-sH", "", *_PATHS], timeout_s=_LIMIT_S, check=False).stdout
    rows = (line.partition(":") for line in said.splitlines())
    return {_PATHS[path]: value.strip() for path, _, value in rows if path in _PATHS and value.strip()}
