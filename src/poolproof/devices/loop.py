"""A file becomes a block device: losetup with direct I/O, and nbdfuse for what comes over a socket."""

from dataclasses import dataclass

from poolproof.devices.model import Leaf, Site, Volume
from poolproof.facts.block import Below
from poolproof.steps import Holds, Step, UndoCommand, daemon, unmount

_CONNECTIONS = 8


def loop_path(number: int) -> str:
    """The node of the loop device of that number."""
    return f"/dev/loop{number}"


def attach(number: int, file: str, name: str) -> Step:
    """The step that puts loop device `number` on `file`.

    Without direct I/O the page cache would hold every block twice and answer reads that no disk saw. losetup makes the
    node where it is missing, and fails when the number is taken.
    """
    path = loop_path(number)
    return Step(
        title=f"attach {name} to {path}",
        argv=("losetup", "--direct-io=on", path, file),
        undo=UndoCommand(("losetup", "--detach", path), Holds(f"/sys/block/loop{number}/loop/backing_file", file)),
    )


def tell_rotation(number: int, rotational: bool, name: str) -> Step:
    """The step that tells the kernel, and all who ask it, whether the device turns."""
    return Step(
        title=f"mark {name} as {'rotating' if rotational else 'not rotating'}",
        argv=("tee", f"/sys/block/loop{number}/queue/rotational"),
        stdin="1\n" if rotational else "0\n",
    )


@dataclass(frozen=True)
class FuseFile:
    """The file by which nbdfuse shows an NBD export, and what belongs to it."""

    path: str
    pidfile: str
    log: str

    @classmethod
    def of(cls, site: Site, name: str) -> "FuseFile":
        return cls(*(f"{site.state_dir}/{name}.{kind}" for kind in ("disk", "fuse.pid", "fuse.log")))

    @property
    def leftovers(self) -> tuple[str, ...]:
        return (self.pidfile, self.log)

    def mount(self, name: str, socket: str) -> tuple[Step, ...]:
        """The steps that show the export on `socket`. Unmounting ends nbdfuse."""
        argv = ("nbdfuse", "-C", str(_CONNECTIONS), "-P", self.pidfile, self.path, "--unix", socket)
        return (
            Step(title=f"make the mount point of {name}", argv=("touch", self.path)),
            Step(
                title=f"bring {name} into the file system",
                argv=daemon(argv, self.log),
                undo=unmount(self.path, fuse=True),
                await_file=self.pidfile,
                log=self.log,
            ),
        )


def loop_volume(number: int, name: str, size_bytes: int, below: Below | None) -> Volume:
    """What stands once the loop device is attached."""
    path = loop_path(number)
    leaf = Leaf(name, path, f"/sys/class/block/loop{number}/stat", below)
    return Volume(path, True, (leaf,), size_bytes)
