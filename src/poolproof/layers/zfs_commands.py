"""The commands of zpool and zfs that create, import, export and destroy a pool."""

import shlex
from collections.abc import Sequence

from poolproof.evidence.zfs import KSTATS
from poolproof.steps import LET_GO_S, Holds, Step, UndoCommand

_PARAMETER = "/sys/module/zfs/parameters/zfs_arc_max"
_ACTIVITIES = "initialize,replace,remove,resilver,trim"
_WAIT_LIMIT_S = 3600.0
# zpool partitions a disk, and udev rereads the table: for a moment the partition is gone. libzfs prints this for ENXIO.
_NOT_THERE_YET = "currently unavailable"

_C_MAX = 'c_max() { while read -r n _ v; do [ "$n" = c_max ] && echo "$v"; done </proc/spl/kstat/zfs/arcstats; }; '
# 0 means the default, but writing 0 does not restore the old limit; the limit in force before must be written first.
_LIMIT_ARC = _C_MAX + (
    '[ -e "$0" ] || echo "$(c_max) $(cat "$2")" >"$0"; echo "$1" >"$2"; [ "$(c_max)" = "$1" ] && exit 0; '
    'echo "the ARC keeps its limit of $(c_max) bytes: zfs_arc_max must be between its minimum and the RAM" >&2; exit 1'
)
_RESTORE_ARC = 'read -r limit before <"$0" && echo "$limit" >"$1" && echo "$before" >"$1" && rm -- "$0"'


def load_module() -> Step:
    """Load the module. There is no undo, because a loaded module does no harm."""
    return Step("load the kernel module zfs", ("modprobe", "zfs"), timeout_s=120)


def limit_arc(size_bytes: int, note: str) -> Step:
    """Limit the ARC. The undo restores the old limit from the file `note`."""
    undo = UndoCommand(("sh", "-c", _RESTORE_ARC, note, _PARAMETER), Holds(note, " "))
    return Step(
        f"limit the ARC to {size_bytes} bytes", ("sh", "-c", _LIMIT_ARC, note, str(size_bytes), _PARAMETER), undo
    )


def create(
    pool: str,
    root: str,
    pool_properties: Sequence[tuple[str, str]],
    dataset_properties: Sequence[tuple[str, str]],
    vdevs: Sequence[str],
    devices: Sequence[str],
) -> Step:
    """Create the pool. `-R` mounts it under `root` and keeps it out of the cache file, so that no boot imports it.

    `-f` is safe, because the guard has checked the devices and the parser the vdev tree. Without it, zpool would refuse
    the remains of an earlier pool in a partition that it is about to recreate.
    """
    named = [part for key, value in pool_properties for part in ("-o", f"{key}={value}")]
    named += [part for key, value in dataset_properties for part in ("-O", f"{key}={value}")]
    return Step(
        f"create the pool {pool}",
        ("zpool", "create", "-f", "-R", root, *named, pool, *vdevs),
        undo=_destroy(pool),
        timeout_s=300,
        overwrites=tuple(devices),
        again_if=_NOT_THERE_YET,
    )


def _destroy(pool: str) -> UndoCommand:
    return UndoCommand(
        ("zpool", "destroy", "-f", pool),
        Holds(f"{KSTATS}/{pool}", ""),
        timeout_s=60,
        last_resort=("zpool", "export", "-f", pool),
    )


def attach(pool: str, anchor: str, device: str) -> Step:
    """Attach the device to the mirror of the anchor.

    The undo destroys the whole pool. The anchor may have been detached since, and the layers under the new device can
    be removed only after the pool.
    """
    return Step(
        f"attach {device} to {pool}",
        ("zpool", "attach", "-f", pool, anchor, device),
        undo=_destroy(pool),
        timeout_s=300,
        overwrites=(device,),
        again_if=_NOT_THERE_YET,
    )


def detach(pool: str, device: str) -> Step:
    """Detach a device from its mirror. The undo of the pool covers this."""
    return Step(f"detach {device} from {pool}", ("zpool", "detach", pool, device), timeout_s=120)


def add(pool: str, vdevs: Sequence[str], removable: Sequence[Sequence[str]], note: str) -> Step:
    """Add log and cache vdevs to the pool. `removable` has the devices of each vdev.

    The undo removes them. It detaches the devices of a mirror first, so that the last one can be removed by its name.
    The file `note` exists as long as the vdevs may be in the pool, so the undo can be repeated after a partial failure.
    """
    devices = [device for vdev in removable for device in vdev]
    commands = [["zpool", "detach", pool, device] for vdev in removable for device in vdev[1:]]
    commands += [["zpool", "remove", pool, vdev[0]] for vdev in removable]
    named = shlex.join(part for device in devices for part in ("-e", device, "-e", _partition(device)))
    script = (
        f'test -e {KSTATS}/{pool} || {{ rm -- "$0"; exit 0; }}; '
        f"said=$({{ {'; '.join(map(shlex.join, commands))}; }} 2>&1); zpool wait -t remove {pool}; "
        f'if zpool status -P {pool} | tr -s "[:space:]" "\\n" | grep -q -x -F {named}; '
        'then echo "$said" >&2; exit 1; else rm -- "$0"; fi'
    )
    return Step(
        f"add log and cache devices to {pool}",
        ("sh", "-c", 'note=$0; echo "$1" >"$note"; shift; exec zpool add -f "$@"', note, pool, pool, *vdevs),
        undo=UndoCommand(("sh", "-c", script, note), Holds(note, pool), timeout_s=120),
        timeout_s=300,
        overwrites=tuple(devices),
        again_if=_NOT_THERE_YET,
    )


def wait_until_quiet(pool: str) -> Step:
    """Wait until resilver, removal, initialization and trim have ended."""
    return Step(f"wait until {pool} is quiet", ("zpool", "wait", "-t", _ACTIVITIES, pool), timeout_s=_WAIT_LIMIT_S)


def open_pool(pool: str, root: str, devices: Sequence[str]) -> Step:
    """Import the pool, unless it was just created. `-l` loads keys. Only the run's own devices are searched."""
    places = [part for device in devices for path in (device, _partition(device)) for part in ("-d", path)]
    argv = ("zpool", "import", "-l", "-R", root, *places, pool)
    return Step(f"import the pool {pool}", argv, timeout_s=300, unless=f"{KSTATS}/{pool}")


def close_pool(pool: str) -> Step:
    """Export the pool, which writes everything out and drops it from the ARC. A busy pool is an error."""
    return Step(f"export the pool {pool}", ("zpool", "export", pool), timeout_s=300, patience_s=LET_GO_S)


def flush_pool(pool: str) -> Step:
    """Write out the open transaction group. Syncing the file system would write it to the log first."""
    return Step(f"write out the pool {pool}", ("zpool", "sync", pool), timeout_s=600)


def _partition(device: str) -> str:
    """Return the first partition, where zpool stores data on a whole disk. It may not exist."""
    if device.startswith("/dev/disk/"):
        return f"{device}-part1"
    return f"{device}p1" if device[-1].isdigit() else f"{device}1"
