"""The command that undoes a change, derived from the fields of the undo. A command in a journal is never run."""

import shlex
from dataclasses import dataclass
from itertools import chain

from poolproof.devices.disk import WIPE_AND_FORGET
from poolproof.layers.file_system import UNMOUNT_LIMIT_S
from poolproof.layers.lvm import only
from poolproof.layers.zfs_commands import ARC_PARAMETER, first_partition, kstats
from poolproof.steps import (
    Holds,
    UndoArcLimit,
    UndoArray,
    UndoClaim,
    UndoGroup,
    UndoLoop,
    UndoMapping,
    UndoMount,
    UndoPool,
    UndoVdevs,
)

WithCommand = (
    UndoMount | UndoLoop | UndoMapping | UndoArray | UndoGroup | UndoPool | UndoVdevs | UndoArcLimit | UndoClaim
)
"""The undos that run a command under a condition. All others end processes or remove files."""

_STOP_ARRAY = """
uuid() { sed -n 's/^MD_UUID=//p'; }
array=$(mdadm --detail --export "$0" | uuid)
for member do
    if [ -n "$array" ] && [ "$(mdadm --examine --export "$member" 2>/dev/null | uuid)" = "$array" ]
    then set -- "$@" "$member"
    fi
    shift
done
mdadm --stop "$0" || exit 1
[ $# -eq 0 ] || mdadm --zero-superblock "$@"
"""
# Only the group's own physical volumes lose their labels, although the configuration admits all of its devices.
_REMOVE_GROUP = """
volumes=$(lvm pvs --noheadings -o pv_name --select "vg_name=$0" "$1") || exit 1
lvm vgremove --yes --force "$1" "$0" && lvm pvremove --yes "$1" $volumes
"""
_RESTORE_ARC = 'read -r limit before <"$0" && echo "$limit" >"$1" && echo "$before" >"$1" && rm -- "$0"'

COMMAND_LIMIT_S = 30.0
"""How many seconds a command is repeated until it succeeds, unless its kind of undo has another limit."""

ONCE_S = 20.0
"""Seconds after which a single run of a command is ended, unless its kind of undo has another limit."""


@dataclass(frozen=True)
class Removal:
    """Run `argv` repeatedly until it succeeds or `timeout_s` has passed, as long as `only_if` holds.

    If `argv` never succeeds, `last_resort` is run once. `once_s` is the time limit of each run.
    """

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float
    last_resort: tuple[str, ...] = ()
    once_s: float = ONCE_S


def removal_of(undo: WithCommand) -> Removal:
    """Return the command that undoes the change, and the condition under which it runs."""
    match undo:
        case UndoMount(point, lazy):
            last_resort = ("umount", "-l", point) if lazy else ()
            once_s = ONCE_S if lazy else UNMOUNT_LIMIT_S
            mounted = Holds("/proc/self/mounts", f" {point} ")
            return Removal(("umount", point), mounted, COMMAND_LIMIT_S, last_resort, once_s)
        case UndoLoop(number, file):
            attached = Holds(f"/sys/block/loop{number}/loop/backing_file", file)
            return Removal(("losetup", "--detach", f"/dev/loop{number}"), attached, COMMAND_LIMIT_S)
        case UndoMapping(name):
            return Removal(("cryptsetup", "close", name), Holds(f"/dev/mapper/{name}", ""), COMMAND_LIMIT_S)
        case UndoArray(node, members):
            return Removal(("sh", "-c", _STOP_ARRAY, node, *members), Holds(node, ""), COMMAND_LIMIT_S)
        case UndoGroup(name, devices):
            argv = ("sh", "-c", _REMOVE_GROUP, name, f"--config={only(devices)}")
            return Removal(argv, Holds(f"/dev/{name}", ""), 60)
        case UndoPool(name):
            export = ("zpool", "export", "-f", name)
            return Removal(("zpool", "destroy", "-f", name), Holds(kstats(name), ""), 60, export, UNMOUNT_LIMIT_S)
        case UndoVdevs(pool, _, note):
            return Removal(("sh", "-c", _remove_vdevs(undo), note), Holds(note, pool), timeout_s=120)
        case UndoArcLimit(note):
            return Removal(("sh", "-c", _RESTORE_ARC, note, ARC_PARAMETER), Holds(note, " "), COMMAND_LIMIT_S)
        case UndoClaim(identity, path, size_bytes, number, serial, wwn, note):
            marks = (identity, path, str(size_bytes), number, serial, wwn, note)
            return Removal(("sh", "-c", WIPE_AND_FORGET, *marks), Holds(note, identity), timeout_s=5)


def _remove_vdevs(undo: UndoVdevs) -> str:
    """Return the script. It removes the note once the vdevs are gone, so a partly failed undo can be repeated."""
    pool = shlex.quote(undo.pool)
    commands = [["zpool", "detach", undo.pool, device] for vdev in undo.vdevs for device in vdev[1:]]
    commands += [["zpool", "remove", undo.pool, vdev[0]] for vdev in undo.vdevs]
    devices = chain.from_iterable(undo.vdevs)
    named = shlex.join(part for device in devices for part in ("-e", device, "-e", first_partition(device)))
    return (
        f'test -e {shlex.quote(kstats(undo.pool))} || {{ rm -- "$0"; exit 0; }}; '
        f"output=$({{ {'; '.join(map(shlex.join, commands))}; }} 2>&1); zpool wait -t remove {pool}; "
        f'if zpool status -P {pool} | tr -s "[:space:]" "\\n" | grep -q -x -F {named}; '
        'then echo "$output" >&2; exit 1; else rm -- "$0"; fi'
    )
