"""The zpool and zfs commands that create, change, import, export and destroy a pool."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated

from poolproof.evidence.zfs import KSTATS
from poolproof.records import RECORDS
from poolproof.steps import LET_GO_S, Step
from poolproof.undos import (
    COMMAND_LIMIT_S,
    MOUNTS,
    UNMOUNT_LIMIT_S,
    Check,
    CommandUndo,
    DevicePath,
    Holds,
    Owned,
    OwnFile,
    OwnName,
    Removal,
)

ARC_PARAMETER = "/sys/module/zfs/parameters/zfs_arc_max"
ARC_STATISTICS = f"{KSTATS}/arcstats"
_ACTIVITIES = "initialize,replace,remove,resilver,trim"
_WAIT_LIMIT_S = 3600.0
# When zpool has partitioned a disk, udev rereads the table, and the partition disappears for a moment. libzfs then
# prints this for ENXIO.
_NOT_THERE_YET = "currently unavailable"

# Prints the limit, and the two values before it, from each record of the parameter $1 except that of the note $2.
_OTHERS = r"""
others() {
  for record in /run/poolproof-setting-*; do
    [ "$record" != "$(record_of setting "$2")" ] && [ -O "$record" ] && [ ! -L "$record" ] || continue
    [ "$(sed -n 1p -- "$record")" = "$(boot_id)" ] && [ "$(sed -n 2p -- "$record")" = "$1" ] || continue
    sed -n '3,5p' -- "$record" | paste -s -d ' ' -
  done
}
"""
# The note and the record contain the limit and the parameter's value before. 0 means the default, but writing 0 does
# not restore the previous limit, so that limit must be written first. If another run has set the current value, that
# run's record shows the values before.
_LIMIT_ARC = (
    RECORDS
    + _OTHERS
    + """
c_max() { while read -r n _ v; do [ "$n" = c_max ] && echo "$v"; done <"$statistics"; }
statistics=$3
[ -e "$0" ] || {
  now=$(cat "$2")
  before=$(others "$2" "$0" | while read -r limit rest; do [ "$limit" != "$now" ] || { echo "$rest"; break; }; done)
  before=${before:-$(c_max) $now}
  keep_record setting "$0" "$2" "$1" $before && echo "$before" >"$0" || exit
}
echo "$1" >"$2"
[ "$(c_max)" = "$1" ] && exit 0
echo "the ARC limit is still $(c_max) bytes: zfs_arc_max must be between its minimum and the RAM size" >&2; exit 1
"""
)


# $1: the vdev's devices, $2: its devices after the exchange
_SAME_SECTORS = (
    'largest() { for d in $1; do blockdev "$2" "$d" || exit 1; done | sort -n | tail -n 1; }; '
    'sectors() { echo "$(largest "$1" --getss)/$(largest "$1" --getpbsz)"; }; '
    'had=$(sectors "$1"); gets=$(sectors "$2"); [ "$had" = "$gets" ] && exit 0; '
    'echo "the ashift was chosen for sectors of $had bytes (logical/physical), but a new pool has $gets" >&2; exit 1'
)
# Only the record shows which values to restore. A value that someone else has set in the meantime stays. If another run
# has a limit, that limit is restored.
_RESTORE_ARC = (
    RECORDS
    + _OTHERS
    + """
values=$(read_record setting "$0") || { rm -- "$0"; exit; }
set -- "$1" $values
[ "$1" = "$2" ] || { rm -- "$0"; exit; }
other=$(others "$1" "$0" | head -n 1)
case $(cat "$1") in "$3" | "$4")
  if [ -n "$other" ]; then echo "${other%% *}" >"$1"; else echo "$4" >"$1" && echo "$5" >"$1"; fi || exit ;;
esac
forget_record setting "$0"; rm -- "$0"
"""
)


class UndoPool(CommandUndo, frozen=True, tag="pool"):
    """Destroy the ZFS pool `name`."""

    name: OwnName

    def unmounts(self, owned: Owned) -> str:
        return f"{owned.places[0]}/{MOUNTS}/{self.name}"

    def removal(self) -> Removal:
        """Return the command that destroys the pool. It runs only if the pool is imported.

        If the pool cannot be destroyed, it is exported instead.
        """
        export = ("zpool", "export", "-f", self.name)
        destroy = ("zpool", "destroy", "-f", self.name)
        return Removal(destroy, Holds(kstats(self.name), ""), 60, export, UNMOUNT_LIMIT_S)


def _empty_vdev(vdevs: Sequence[Sequence[str]], _owned: Owned) -> Iterator[str]:
    if not all(vdevs):
        yield "a vdev has no device"


class UndoVdevs(CommandUndo, frozen=True, tag="vdevs"):
    """Remove log and cache vdevs from the pool `pool`, if the file `note` exists.

    `vdevs`: the devices of each vdev. Mirrors are first reduced to their first device, which can then be removed by
    name.
    """

    pool: OwnName
    vdevs: Annotated[tuple[tuple[DevicePath, ...], ...], Check(_empty_vdev)]
    note: OwnFile

    def removal(self) -> Removal:
        """Return a script that removes the vdevs. It deletes the note last, so that a failed undo can be retried."""
        pool = shlex.quote(self.pool)
        commands = [["zpool", "detach", self.pool, device] for vdev in self.vdevs for device in vdev[1:]]
        commands += [["zpool", "remove", self.pool, vdev[0]] for vdev in self.vdevs]
        devices = chain.from_iterable(self.vdevs)
        named = shlex.join(part for device in devices for part in ("-e", device, "-e", first_partition(device)))
        script = (
            f'test -e {shlex.quote(kstats(self.pool))} || {{ rm -- "$0"; exit 0; }}; '
            f"output=$({{ {'; '.join(map(shlex.join, commands))}; }} 2>&1); zpool wait -t remove {pool}; "
            f'if zpool status -P {pool} | tr -s "[:space:]" "\\n" | grep -q -x -F {named}; '
            'then echo "$output" >&2; exit 1; else rm -- "$0"; fi'
        )
        return Removal(("sh", "-c", script, self.note), Holds(self.note, self.pool), timeout_s=120)


class UndoArcLimit(CommandUndo, frozen=True, tag="arc"):
    """Restore the ARC limit if the file `note` exists and the machine has a record of the change (`records.py`).

    The record contains the previous limit. It is lost in a reboot, and so is the limit that the run had set.
    """

    note: OwnFile

    def removal(self) -> Removal:
        """Return a script that restores the recorded limit, if any, and then deletes the record and the note."""
        argv = ("sh", "-c", _RESTORE_ARC, self.note, ARC_PARAMETER)
        return Removal(argv, Holds(self.note, " "), COMMAND_LIMIT_S)


def load_module() -> Step:
    """Return the step that loads the kernel module. It has no undo, because a loaded module does no harm."""
    return Step("load the kernel module zfs", ("modprobe", "zfs"), timeout_s=120)


def limit_arc(size_bytes: int, note: str) -> Step:
    """Return the step that limits the ARC. It records the previous limit, which the undo restores."""
    return Step(
        f"limit the ARC to {size_bytes} bytes",
        ("sh", "-c", _LIMIT_ARC, note, str(size_bytes), ARC_PARAMETER, ARC_STATISTICS),
        UndoArcLimit(note),
    )


def create(
    pool: str,
    root: str,
    pool_properties: Sequence[tuple[str, str]],
    dataset_properties: Sequence[tuple[str, str]],
    vdevs: Sequence[str],
    devices: Sequence[str],
) -> Step:
    """Return the step that creates the pool.

    `-R` mounts the pool under `root` and keeps it out of the cache file, so that it is not imported at boot. `-f` is
    needed because zpool otherwise refuses a disk with traces of an earlier pool, even if they are in a partition that
    it is about to recreate. `-f` is safe, because the guard has already checked the devices and the parser has checked
    the vdev tree.
    """
    named = [part for key, value in pool_properties for part in ("-o", f"{key}={value}")]
    named += [part for key, value in dataset_properties for part in ("-O", f"{key}={value}")]
    return Step(
        f"create the pool {pool}",
        ("zpool", "create", "-f", "-R", root, *named, pool, *vdevs),
        undo=UndoPool(pool),
        timeout_s=300,
        overwrites=tuple(devices),
        again_if=_NOT_THERE_YET,
    )


def attach(pool: str, anchor: str, device: str) -> Step:
    """Return the step that attaches a device to the mirror of the device `anchor`.

    The undo destroys the entire pool, for two reasons. Detaching the device could fail, because the anchor may have
    been detached in the meantime. Besides, the layers below the device can be removed only after the pool.
    """
    return Step(
        f"attach {device} to {pool}",
        ("zpool", "attach", "-f", pool, anchor, device),
        undo=UndoPool(pool),
        timeout_s=300,
        overwrites=(device,),
        again_if=_NOT_THERE_YET,
    )


def keep_ashift(pool: str, had: Sequence[str], gets: Sequence[str]) -> Step:
    """Return the step that fails if a new vdev of the devices `gets` would have a different ashift than one of `had`.

    The ashift of a vdev never changes. `zpool create` derives it from the largest logical and physical sector sizes of
    the vdev's devices. Source: vdev_open() and vdev_ashift_optimize() in OpenZFS (module/zfs/vdev.c).
    """
    argv = ("sh", "-c", _SAME_SECTORS, "sectors", " ".join(had), " ".join(gets))
    return Step(f"check that a new pool would have the same ashift as {pool}", argv)


def detach(pool: str, device: str) -> Step:
    """Return the step that detaches a device from its mirror.

    It has no undo, because the entire pool is destroyed in the end.
    """
    return Step(f"detach {device} from {pool}", ("zpool", "detach", pool, device), timeout_s=120)


def add(pool: str, vdevs: Sequence[str], removable: Sequence[Sequence[str]], note: str) -> Step:
    """Return the step that adds log and cache vdevs to the pool.

    `removable`: the devices of each of these vdevs.

    The undo removes the vdevs. It first reduces each mirror to a single device, which can then be removed by name. The
    file `note` exists as long as the pool may contain the vdevs, so that an undo that failed halfway can be retried.
    """
    devices = [device for vdev in removable for device in vdev]
    return Step(
        f"add log and cache devices to {pool}",
        ("sh", "-c", 'note=$0; echo "$1" >"$note"; shift; exec zpool add -f "$@"', note, pool, pool, *vdevs),
        undo=UndoVdevs(pool, tuple(map(tuple, removable)), note),
        timeout_s=300,
        overwrites=tuple(devices),
        again_if=_NOT_THERE_YET,
    )


def wait_until_quiet(pool: str) -> Step:
    """Return the step that waits until any resilver, removal, initialization or trim of the pool has finished."""
    return Step(
        f"wait until the pool {pool} has no background work",
        ("zpool", "wait", "-t", _ACTIVITIES, pool),
        timeout_s=_WAIT_LIMIT_S,
    )


def open_pool(pool: str, root: str, devices: Sequence[str]) -> Step:
    """Return the step that imports the pool from these devices, unless it is already imported.

    With `-l`, zpool also loads the encryption keys.
    """
    places = [part for device in devices for path in (device, first_partition(device)) for part in ("-d", path)]
    argv = ("zpool", "import", "-l", "-R", root, *places, pool)
    return Step(f"import the pool {pool}", argv, timeout_s=300, unless=kstats(pool))


def close_pool(pool: str, point: str) -> Step:
    """Return the step that exports the pool. This flushes the pool's data and drops it from the ARC.

    `point`: the mount point of the pool's dataset.

    The step fails if the pool stays busy.
    """
    argv = ("zpool", "export", pool)
    return Step(f"export the pool {pool}", argv, timeout_s=300, patience_s=LET_GO_S, unmounts=point)


def flush_pool(pool: str) -> Step:
    """Return the step that writes out the open transaction group.

    syncfs is not used, because it would write the data to the intent log as well.
    """
    return Step(f"write the data of the pool {pool} to its disks", ("zpool", "sync", pool), timeout_s=600)


def kstats(pool: str) -> str:
    """Return a path that exists only while the pool is imported."""
    return f"{KSTATS}/{pool}"


def first_partition(device: str) -> str:
    """Return the path of the first partition of a disk. It may not exist.

    When zpool is given an entire disk, it creates this partition for the data.
    """
    if device.startswith("/dev/disk/"):
        return f"{device}-part1"
    return f"{device}p1" if device[-1].isdecimal() else f"{device}1"
