"""The directories on a host that belong to one run, and the file in them that names the run.

A crashed run can be found by that file, and its journal with it.
"""

import socket
from pathlib import Path

import msgspec

from poolproof.devices.model import Site
from poolproof.errors import HostError
from poolproof.facts.machine import Machine, mark_of
from poolproof.hosts.base import Host, text_of
from poolproof.hosts.local import LocalHost
from poolproof.steps import Step, UndoTree

DEFAULT_WORK = "/var/tmp"
RAM_FILES = "/dev/shm"
SCHEMA = 1
FILE = "owner.json"

_WRITE = 'cat >"$1.part" && sync "$1.part" && mv "$1.part" "$1"'
_WRITE_LIMIT_S = 60.0
_LIMIT_S = 20.0
_ANOTHER = ", or choose another directory with --work"


class StateOwner(msgspec.Struct, frozen=True):
    """The run that a state directory belongs to.

    `run`: the run's directory on the machine where poolproof ran. `host`: that machine's name. `machine`: its unique
    mark (`facts.machine.mark_of`), or empty if it has none.
    """

    run: str
    host: str
    machine: str
    schema: int = SCHEMA


def owner_of(run: Path) -> StateOwner:
    """Return the owner to write for a run whose directory is `run`; it need not exist yet."""
    return StateOwner(str(run.resolve()), socket.gethostname(), mark_of(LocalHost()))


def name_owner(state_dir: str, owner: StateOwner) -> Step:
    """Return the step that writes the file, whole or not at all. The directory's undo removes the file too."""
    return Step(
        f"write the name of the run to {state_dir}",
        ("sh", "-c", _WRITE, "sh", f"{state_dir}/{FILE}"),
        stdin=msgspec.json.encode(owner).decode() + "\n",
        timeout_s=_WRITE_LIMIT_S,
    )


def read_owner(state_dir: str, host: Host) -> StateOwner | None:
    """Return the owner of a state directory; None if there is no such file in this schema."""
    try:
        owner = msgspec.json.decode(text_of(host, f"{state_dir}/{FILE}"), type=StateOwner)
    except msgspec.DecodeError:
        return None
    return owner if owner.schema == SCHEMA else None


def directory_steps(site: Site, owner: StateOwner, *, with_ram: bool) -> tuple[Step, ...]:
    """Return the steps that create the run's directories, for its user only, and name the run in the first one."""
    paths = (site.state_dir, site.ram_dir) if with_ram else (site.state_dir,)
    first, *more = (Step(f"make {path}", ("mkdir", "-m", "0711", path), UndoTree(path)) for path in paths)
    return (first, name_owner(site.state_dir, owner), *more)


def site_of(machine: Machine, label: str, state_dir: str, ram_dir: str, *, is_here: bool) -> Site:
    """Return the run's directories and the capabilities of the host; `is_here`: the host is this machine."""
    return Site(
        label=label,
        state_dir=state_dir,
        ram_dir=ram_dir,
        mount_dir=f"{state_dir}/mnt",
        is_root=machine.is_root,
        programs=machine.programs,
        file_systems=machine.file_systems,
        ram_bytes=machine.ram_bytes,
        ram_free_bytes=machine.ram_free_bytes,
        is_here=is_here,
        modules=machine.modules,
    )


def real_directory(host: Host, path: str) -> str:
    """Return the work directory without symbolic links, as it appears in the kernel's mount table.

    Raises a HostError if it does not exist, or its name has a space or a backslash, which the mount table escapes.
    """
    real = existing_directory(host, path, instead=_ANOTHER)
    if any(character.isspace() or character == "\\" for character in real):
        raise HostError(f"the name of {real} has a space or a backslash", "choose another directory with --work")
    return real


def existing_directory(host: Host, path: str, *, instead: str = "") -> str:
    """Return the path of a directory without symbolic links. `instead`: the end of the hint.

    Raises a HostError if it does not exist, or is not a directory.
    """
    found = host.run(["realpath", "--canonicalize-existing", f"{path}/."], timeout_s=_LIMIT_S, check=False)
    if "Not a directory" in found.stderr:
        raise HostError(f"{path} is not a directory", f"ls -ld {path}{instead}")
    if found.returncode != 0:
        raise HostError(f"the directory {path} does not exist", f"mkdir -p {path}{instead}")
    return found.stdout.rstrip("\n")


def check_writable(host: Host, path: str, *, instead: str = "") -> None:
    """Raise a HostError unless files can be created in the directory. `instead`: the end of the hint."""
    if host.run(["test", "-w", path], timeout_s=_LIMIT_S, check=False).returncode != 0:
        raise HostError(f"the directory {path} is not writable", f"ls -ld {path}{instead}")


def check_work(host: Host, state_dir: str) -> None:
    """Raise a HostError unless the run's own directory can be created in the work directory."""
    check_writable(host, state_dir.rpartition("/")[0] or "/", instead=_ANOTHER)
