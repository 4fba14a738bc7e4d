"""Converts undos from journals of older versions, which are stored as commands, into typed undos.

The stored commands themselves are never run. A command is converted only if poolproof could have written it. Any other
command is reported.
"""

import re

import msgspec

from poolproof.devices.disk import UndoClaim
from poolproof.devices.loop import UndoLoop
from poolproof.layers.luks import UndoMapping
from poolproof.layers.lvm_commands import UndoGroup
from poolproof.layers.md import UndoArray
from poolproof.layers.zfs_commands import ARC_PARAMETER, UndoArcLimit, UndoPool, kstats
from poolproof.undos import Holds, Undo, UndoMount

_SIZE = re.compile(r"\d{1,19}", re.ASCII)
_LOOP = re.compile(r"/dev/loop(\d{1,7})", re.ASCII)


class OldCommand(msgspec.Struct, frozen=True, tag="command", tag_field="kind"):
    """An undo that an older version wrote: the command `argv`, and the condition on which it runs."""

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float = 30.0
    last_resort: tuple[str, ...] = ()


def typed(old: OldCommand) -> Undo | None:
    """Return the typed undo that is equivalent to the command, or None if poolproof never wrote such a command."""
    match old.argv, old.only_if:
        case ("umount", point), Holds("/proc/self/mounts"):
            return UndoMount(point, lazy=bool(old.last_resort))
        case ("losetup", "--detach", device), Holds(path, file) if path.endswith("/loop/backing_file"):
            found = _LOOP.fullmatch(device)
            return UndoLoop(int(found[1]), file) if found else None
        case ("cryptsetup", "close", name), Holds():
            return UndoMapping(name)
        case ("zpool", "destroy", "-f", pool), Holds(path) if path == kstats(pool):
            return UndoPool(pool)
        case ("sh", "-c", _, *arguments), condition:
            return _typed_script(arguments, condition)
    return None


def _typed_script(arguments: list[str], condition: Holds) -> Undo | None:
    """Return the typed undo that is equivalent to a script, or None if poolproof never wrote such a script.

    The script is recognized by its arguments and its condition.
    """
    match arguments, condition:
        case [note, parameter], Holds(path) if parameter == ARC_PARAMETER and path == note:
            return UndoArcLimit(note)
        case [node, *members], Holds(path, "") if path == node and node.startswith("/dev/md/"):
            return UndoArray(node, tuple(members))
        case [group, config, *devices], Holds(path, "") if path == f"/dev/{group}" and config.startswith("--config="):
            return UndoGroup(group, tuple(devices))
        case [note], Holds(path, pool) if path == note and pool:
            return UndoPool(pool)  # its log and cache devices are destroyed with the pool
        case [identity, path, size, number, serial, wwn, note], Holds(at, text) if (at, text) == (note, identity):
            is_size = _SIZE.fullmatch(size)
            return UndoClaim(identity, path, int(size), number, serial, wwn, note) if is_size else None
    return None
