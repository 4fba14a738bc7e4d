"""Steps that attach a file as a block device (losetup with direct I/O) or expose an NBD export as a file (nbdfuse)."""

from collections.abc import Iterator
from typing import Annotated

from poolproof.devices.model import Leaf, Site, Volume
from poolproof.facts.block import Below
from poolproof.steps import Step, daemon
from poolproof.undos import COMMAND_LIMIT_S, Check, CommandUndo, HoldsLine, Owned, OwnPath, Removal, UndoMount

_CONNECTIONS = 8
_MOST_LOOPS = 1 << 20
IS_ATTACHED = """
found=$(cat "/sys/block/${0#/dev/}/loop/backing_file" 2>/dev/null)
case $found in "$1" | "$1 (deleted)") ;; *)
  echo "$0 is attached to ${found:-no file} instead of $1, so nothing is written to it" >&2; exit 1
esac
"""
"""A shell script that fails unless the loop device $0 is attached to the file $1."""


def _not_a_loop(number: int, _owned: Owned) -> Iterator[str]:
    if not 0 <= number < _MOST_LOOPS:
        yield f"{number} is not the number of a loop device"


class UndoLoop(CommandUndo, frozen=True, tag="loop"):
    """Detach loop device `number`, if its backing file is still `file`."""

    number: Annotated[int, Check(_not_a_loop)]
    file: OwnPath

    def removal(self) -> Removal:
        """Return the losetup command. It runs only if the loop device is still attached to the file."""
        attached = HoldsLine(f"/sys/block/loop{self.number}/loop/backing_file", self.file)
        return Removal(("losetup", "--detach", f"/dev/loop{self.number}"), attached, COMMAND_LIMIT_S)


def attach(number: int, file: str, name: str) -> Step:
    """Return the step that attaches loop device `number` to `file`.

    The loop device uses direct I/O. Without it, the page cache would hold every block twice and serve reads without the
    disk. losetup creates the device node if it is missing, and fails if the number is already in use.
    """
    path = f"/dev/loop{number}"
    return Step(
        title=f"attach {name} to {path}",
        argv=("losetup", "--direct-io=on", path, file),
        undo=UndoLoop(number, file),
    )


def is_attached(number: int, file: str) -> tuple[str, ...]:
    """Return the command that fails unless loop device `number` is attached to `file`.

    Anyone who is root can detach a loop device between two trials (`losetup -D`). The next program that needs a loop
    device then gets the same number for its own file.
    """
    return ("sh", "-c", IS_ATTACHED, f"/dev/loop{number}", file)


def set_rotational(number: int, rotational: bool, name: str) -> Step:
    """Return the step that sets the rotational flag that the kernel reports for the loop device."""
    return Step(
        title=f"mark {name} as {'rotational' if rotational else 'not rotational'}",
        argv=("tee", f"/sys/block/loop{number}/queue/rotational"),
        stdin="1\n" if rotational else "0\n",
    )


def fuse_files(site: Site, name: str) -> tuple[str, str, str]:
    """Return three paths for nbdfuse: the file that exposes the NBD export, the pid file, and the log."""
    base = f"{site.state_dir}/{name}"
    return f"{base}.disk", f"{base}.fuse.pid", f"{base}.fuse.log"


def attach_export(number: int, socket: str, name: str, site: Site) -> tuple[Step, ...]:
    """Return the steps that expose the NBD export on `socket` as a file and attach this file to loop device `number`.

    nbdfuse ends when the file is unmounted.
    """
    file, pidfile, log = fuse_files(site, name)
    argv = ("nbdfuse", "-C", str(_CONNECTIONS), "-P", pidfile, file, "--unix", socket)
    return (
        Step(title=f"create the mount point of {name}", argv=("touch", file)),
        Step(
            title=f"mount {name} with nbdfuse",
            argv=daemon(argv, log),
            undo=UndoMount(file, lazy=True),
            await_file=pidfile,
            log=log,
        ),
        attach(number, file, name),
    )


def block_volume(node: str, name: str, size_bytes: int, below: Below | None, model: str = "") -> Volume:
    """Return a volume for the block device /dev/`node`.

    `name`: the device's name in the campaign.
    `below`: the disk that stores the device's data, if known.
    `model`: the disk model if the disk is emulated.
    """
    leaf = Leaf(name, f"/dev/{node}", f"/sys/class/block/{node}/stat", below, model=model)
    return Volume(leaf.path, True, (leaf,), size_bytes)
