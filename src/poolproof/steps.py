"""A change to a machine, and how to take it back: plain values that can be printed, journalled and undone later.

Layers and devices plan steps; `provision/` guards, journals and applies them. An undo never trusts that its change was
made: a run can die between the journal line and the change, and by the time of the undo the name (a loop number, a
mount point) may belong to somebody else. So each undo carries what must still be true, and does nothing where it is
not.
"""

from dataclasses import dataclass

import msgspec

LET_GO_S = 5.0
"""How long to try what fails while somebody lets go of a device late: udev, or FUSE after close() has returned."""

_IN_BACKGROUND = ("sh", "-c", 'setsid "$@" >"$0" 2>&1 </dev/null &')


class Holds(msgspec.Struct, frozen=True):
    """True while the file at `path` exists and its content holds `text`.

    With an empty `text`: while anything stands at `path`. It is not read then, so that it may be a device node.
    """

    path: str
    text: str


class UndoCommand(msgspec.Struct, frozen=True, tag="command", tag_field="kind"):
    """Run `argv` again and again until it succeeds or `timeout_s` is over, as long as `only_if` holds.

    `last_resort` is tried once after that: a lazy unmount for a FUSE mount that hangs.
    """

    argv: tuple[str, ...]
    only_if: Holds
    timeout_s: float = 30.0
    last_resort: tuple[str, ...] = ()


class UndoDaemon(msgspec.Struct, frozen=True, tag="daemon", tag_field="kind"):
    """End the process whose number stands in `pidfile`, with its group, if its command line holds `marker`."""

    pidfile: str
    marker: str


class UndoPrograms(msgspec.Struct, frozen=True, tag="programs", tag_field="kind"):
    """End every process of these programs (`comm` names) whose command line holds `marker`.

    For what may have been starting when poolproof was killed, and had not yet written its number down.
    """

    programs: tuple[str, ...]
    marker: str


class UndoTree(msgspec.Struct, frozen=True, tag="tree", tag_field="kind"):
    """Remove the directory `path`, which holds only what poolproof wrote; never across a mount point."""

    path: str


Undo = UndoCommand | UndoDaemon | UndoPrograms | UndoTree


@dataclass(frozen=True)
class Step:
    """One command that changes the machine.

    `overwrites` names the block devices that the command writes to; the guard allows only devices of this run.
    `await_file` is a path that must come into being (and not be empty) before the step counts as done: the pid file of
    a daemon, a device node. `log` is a file on the host to quote when the step fails: what the daemon said.
    `again_if`: words of the command by which it says that a device was not there just then; it is run again once udev
    has made its nodes. `patience_s`: it is tried again for so long, whatever it says: somebody has only just let go of
    a device. `unless`: a path where nothing stands as long as the step is to be done.
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


def await_block(node: str) -> Step:
    """Wait up to 30 s for a block device's node."""
    return Step(f"wait for {node}", ("true",), await_file=node, timeout_s=30.0)


def unmount(mount_point: str, *, fuse: bool = False) -> UndoCommand:
    """The undo of a mount."""
    return UndoCommand(
        argv=("umount", mount_point),
        only_if=Holds("/proc/self/mounts", f" {mount_point} "),
        last_resort=("umount", "-l", mount_point) if fuse else (),
    )


def daemon(argv: tuple[str, ...], log: str) -> tuple[str, ...]:
    """The argv that starts a program in the background, its output in `log`, its own session, no shell quoting."""
    return (*_IN_BACKGROUND, log, *argv)


def in_background(argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The program that an argv made by `daemon` leaves running; None of any other argv."""
    head = len(_IN_BACKGROUND)
    return argv[head + 1 :] if argv[:head] == _IN_BACKGROUND else None
