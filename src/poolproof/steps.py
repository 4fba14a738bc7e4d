"""A change to a host and how to undo it, as plain values that can be printed, written to the journal and undone later.

Layers and devices plan steps; `provision/` checks them, writes them to the journal and runs them. An undo never assumes
that its change was made: a run can die between the journal line and the change, and when the undo runs, the name (a
loop number, a mount point) may belong to someone else. So each undo has a condition, and does nothing unless it holds.
"""

from dataclasses import dataclass

import msgspec

LET_GO_S = 5.0
"""How long to retry a command while something releases a device late: udev, or FUSE after close() has returned."""

_IN_BACKGROUND = ("sh", "-c", 'setsid "$@" >"$0" 2>&1 </dev/null &')


class Holds(msgspec.Struct, frozen=True):
    """True if the file at `path` exists and contains `text`.

    With an empty `text`: if anything exists at `path`. It is then not read, so it may be a device node.
    """

    path: str
    text: str


class UndoCommand(msgspec.Struct, frozen=True, tag="command", tag_field="kind"):
    """Run `argv` repeatedly until it succeeds or `timeout_s` has passed, as long as `only_if` holds.

    `last_resort` is then tried once: a lazy unmount for a FUSE mount that hangs.
    """

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float = 30.0
    last_resort: tuple[str, ...] = ()


class UndoDaemon(msgspec.Struct, frozen=True, tag="daemon", tag_field="kind"):
    """End the process whose number is in `pidfile`, with its group, if its command line contains `marker`."""

    pidfile: str
    marker: str


class UndoPrograms(msgspec.Struct, frozen=True, tag="programs", tag_field="kind"):
    """End every process of these programs (`comm` names) whose command line contains `marker`.

    For a program that was starting when poolproof was killed, and had not yet written its pid file.
    """

    programs: tuple[str, ...]
    marker: str


class UndoTree(msgspec.Struct, frozen=True, tag="tree", tag_field="kind"):
    """Remove the directory `path`, which contains only files of poolproof; never across a mount point."""

    path: str


Undo = UndoCommand | UndoDaemon | UndoPrograms | UndoTree


@dataclass(frozen=True)
class Step:
    """One command that changes a host.

    `overwrites`: the block devices that the command writes to; only devices of this run are allowed.
    `await_file`: a path that must exist and not be empty before the step is done: a daemon's pid file, a device node.
    `log`: a file on the host that is quoted if the step fails: the daemon's output.
    `again_if`: text in the command's output that means a device was missing; the command is then run again after udev
    has created its nodes. `patience_s`: how long any failure is retried, because something releases a device late.
    `unless`: skip the step if anything exists at this path.
    `host`: the name of the host to change; empty: the run's main host.
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
    """Return a block device's path, after the name of its host unless that is the run's main host."""
    return f"{host}:{path}" if host else path


def await_block(node: str) -> Step:
    """Return the step that waits up to 30 s for a block device's node."""
    return Step(f"wait for {node}", ("true",), await_file=node, timeout_s=30.0)


def unmount(mount_point: str, *, fuse: bool = False) -> UndoCommand:
    """Return the undo of a mount."""
    return UndoCommand(
        argv=("umount", mount_point),
        only_if=Holds("/proc/self/mounts", f" {mount_point} "),
        last_resort=("umount", "-l", mount_point) if fuse else (),
    )


def daemon(argv: tuple[str, ...], log: str) -> tuple[str, ...]:
    """Return an argv that starts a program in the background, in its own session, with its output in `log`."""
    return (*_IN_BACKGROUND, log, *argv)


def in_background(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the program that an argv made by `daemon` starts; None for any other argv."""
    head = len(_IN_BACKGROUND)
    return argv[head + 1 :] if argv[:head] == _IN_BACKGROUND else None
