"""Make a block device of a file: losetup with direct I/O, and nbdfuse for an NBD export."""

from dataclasses import dataclass

from poolproof.devices.model import Leaf, Site, Volume
from poolproof.facts.block import Below
from poolproof.steps import Holds, Step, UndoCommand, daemon, unmount

_CONNECTIONS = 8


def loop_path(number: int) -> str:
    """Return the path of the loop device with that number."""
    return f"/dev/loop{number}"


def attach(number: int, file: str, name: str) -> Step:
    """Attach loop device `number` to `file`.

    Without direct I/O the page cache would hold every block twice, and answer reads without the disk. losetup creates
    the device node if it is missing, and fails if the number is in use.
    """
    path = loop_path(number)
    return Step(
        title=f"attach {name} to {path}",
        argv=("losetup", "--direct-io=on", path, file),
        undo=UndoCommand(("losetup", "--detach", path), Holds(f"/sys/block/loop{number}/loop/backing_file", file)),
    )


def set_rotational(number: int, rotational: bool, name: str) -> Step:
    """Tell the kernel, and so everyone who asks it, whether the device is rotational."""
    return Step(
        title=f"mark {name} as {'rotational' if rotational else 'not rotational'}",
        argv=("tee", f"/sys/block/loop{number}/queue/rotational"),
        stdin="1\n" if rotational else "0\n",
    )


@dataclass(frozen=True)
class FuseFile:
    """The file through which nbdfuse shows an NBD export, its pid file and its log."""

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
        """Show the export on `socket` as a file. Unmounting ends nbdfuse."""
        argv = ("nbdfuse", "-C", str(_CONNECTIONS), "-P", self.pidfile, self.path, "--unix", socket)
        return (
            Step(title=f"make the mount point of {name}", argv=("touch", self.path)),
            Step(
                title=f"mount {name} with nbdfuse",
                argv=daemon(argv, self.log),
                undo=unmount(self.path, fuse=True),
                await_file=self.pidfile,
                log=self.log,
            ),
        )


def loop_volume(number: int, name: str, size_bytes: int, below: Below | None) -> Volume:
    """Return the volume of an attached loop device."""
    path = loop_path(number)
    leaf = Leaf(name, path, f"/sys/class/block/loop{number}/stat", below)
    return Volume(path, True, (leaf,), size_bytes)
