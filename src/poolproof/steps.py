"""Changes to a host and their undos, as values that can be printed, written to the journal and undone later.

Layers and devices plan steps. `provision/` checks the steps, writes them to the journal and runs them.

An undo never assumes that its change was made. A run can die after the change was written to the journal but before it
was made. By the time the undo runs, the name (a loop number, a mount point) may belong to something else. So each undo
has a condition and does nothing if that condition is false.
"""

from dataclasses import dataclass

import msgspec

LET_GO_S = 5.0
"""Seconds to retry a command on a device that may be released late, by udev or by FUSE (after close() has returned)."""

_IN_BACKGROUND = ("sh", "-c", 'setsid "$@" >"$0" 2>&1 </dev/null &')


class Holds(msgspec.Struct, frozen=True):
    """The condition that the file at `path` exists and contains `text`.

    If `text` is empty, the condition is only that something exists at `path`. Nothing is read then, so `path` may be a
    device node.
    """

    path: str
    text: str


class UndoMount(msgspec.Struct, frozen=True, tag="mount", tag_field="kind"):
    """Unmount `mount_point`. With `lazy`, the last attempt is a lazy unmount, for a FUSE mount that hangs."""

    mount_point: str
    lazy: bool = False


class UndoLoop(msgspec.Struct, frozen=True, tag="loop", tag_field="kind"):
    """Detach loop device `number` as long as its backing file is `file`."""

    number: int
    file: str


class UndoMapping(msgspec.Struct, frozen=True, tag="mapping", tag_field="kind"):
    """Close the LUKS mapping /dev/mapper/`name`."""

    name: str


class UndoArray(msgspec.Struct, frozen=True, tag="array", tag_field="kind"):
    """Stop the md array `node` and erase the superblocks of those `members` that belong to it."""

    node: str
    members: tuple[str, ...]


class UndoGroup(msgspec.Struct, frozen=True, tag="group", tag_field="kind"):
    """Remove the LVM volume group `name` and the labels of its physical volumes, which are all among `devices`."""

    name: str
    devices: tuple[str, ...]


class UndoPool(msgspec.Struct, frozen=True, tag="pool", tag_field="kind"):
    """Destroy the ZFS pool `name`."""

    name: str


class UndoVdevs(msgspec.Struct, frozen=True, tag="vdevs", tag_field="kind"):
    """Remove log and cache vdevs from the pool `pool`, as long as the file `note` exists.

    `vdevs` has the devices of each vdev. All devices but the first of each mirror are detached, so that the first can
    be removed by name.
    """

    pool: str
    vdevs: tuple[tuple[str, ...], ...]
    note: str


class UndoArcLimit(msgspec.Struct, frozen=True, tag="arc", tag_field="kind"):
    """Restore the limit of the ARC that is saved in the file `note`."""

    note: str


class UndoClaim(msgspec.Struct, frozen=True, tag="claim", tag_field="kind"):
    """Erase the signatures on a real disk that the run has claimed, as long as the file `note` names it.

    The size, `number` (major:minor, empty if there is a by-id name), serial number and WWN must still be those of the
    disk at `path`.
    """

    identity: str
    path: str
    size_bytes: int
    number: str
    serial: str
    wwn: str
    note: str


class UndoDaemon(msgspec.Struct, frozen=True, tag="daemon", tag_field="kind"):
    """End the process whose PID is in `pidfile`, with its process group, if its command line contains `marker`.

    `marker` is a path that only this daemon of this run has in its command line.
    """

    pidfile: str
    marker: str


class UndoPrograms(msgspec.Struct, frozen=True, tag="programs", tag_field="kind"):
    """End every process of these programs (`comm` names) whose command line contains `marker`.

    This also finds a program if the poolproof process that started it was killed before the program wrote its pid file.
    """

    programs: tuple[str, ...]
    marker: str


class UndoTree(msgspec.Struct, frozen=True, tag="tree", tag_field="kind"):
    """Remove the directory or file `path`, which contains only poolproof's files.

    Mount points in the directory are never crossed.
    """

    path: str


Undo = (
    UndoMount
    | UndoLoop
    | UndoMapping
    | UndoArray
    | UndoGroup
    | UndoPool
    | UndoVdevs
    | UndoArcLimit
    | UndoClaim
    | UndoDaemon
    | UndoPrograms
    | UndoTree
)
"""Each kind names what to remove and has no command. `provision/removal.py` derives the commands from the fields."""


@dataclass(frozen=True)
class Step:
    """One command that changes a host.

    `overwrites`: the block devices that the command writes to. They must be devices of this run.

    `await_file`: a path that must exist and must not be empty before the step is done, for example a daemon's pid file
    or a device node.

    `log`: a file on the host that is quoted if the step fails, for example a daemon's output.

    `again_if`: text in the command's output which means that a device was missing. The command is then run again after
    udev has created the device nodes.

    `patience_s`: how long to retry after the first failure, because a device may be released late.

    `unless`: the step is skipped if anything exists at this path.

    `host`: the name of the host to change, empty for the run's main host.
    """

    title: str
    argv: tuple[str, ...]
    undo: Undo | None = None
    timeout_s: float = 60.0
    stdin: str | None = None
    secret: bool = False
    overwrites: tuple[str, ...] = ()
    await_file: str | None = None
    log: str | None = None
    again_if: str = ""
    patience_s: float = 0.0
    unless: str = ""
    host: str = ""


def path_on(host: str, path: str) -> str:
    """Return a block device's path, prefixed with its host's name unless that is the run's main host."""
    return f"{host}:{path}" if host else path


def await_block(node: str) -> Step:
    """Return a step that waits up to 30 s for the device node of a block device."""
    return Step(f"wait for {node}", ("true",), await_file=node, timeout_s=30.0)


def daemon(argv: tuple[str, ...], log: str) -> tuple[str, ...]:
    """Return an argv that starts a program in the background, in its own session, and writes its output to `log`."""
    return (*_IN_BACKGROUND, log, *argv)


def in_background(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the argv that was passed to `daemon` if `argv` is a result of `daemon`; otherwise None."""
    head = len(_IN_BACKGROUND)
    return argv[head + 1 :] if argv[:head] == _IN_BACKGROUND else None
