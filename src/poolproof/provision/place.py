"""The places on the host that belong to one run alone."""

import secrets

from poolproof.devices.model import Site
from poolproof.errors import HostError
from poolproof.facts.machine import Machine
from poolproof.hosts.base import Host
from poolproof.provision.owner import StateOwner, name_owner
from poolproof.steps import Step, UndoTree

DEFAULT_WORK = "/var/tmp"
RAM_FILES = "/dev/shm"
_ANOTHER = ", or name another with --work"
_LIMIT_S = 20.0


def new_label() -> str:
    """A short name that no other run has."""
    return secrets.token_hex(4)


def real_directory(host: Host, path: str) -> str:
    """The work directory without links, as the kernel's table of mounts will name it.

    Raises:
        HostError: as `directory_there`, or its name holds a blank or a backslash, which that table writes otherwise.
    """
    real = directory_there(host, path, instead=_ANOTHER)
    if any(character.isspace() or character == "\\" for character in real):
        raise HostError(f"{real} has a blank or a backslash in its name", "name another with --work")
    return real


def directory_there(host: Host, path: str, *, instead: str = "") -> str:
    """An existing directory without links. `instead`: what else the user can do if there is none.

    Raises:
        HostError: it is not there, or it is something else.
    """
    found = host.run(["realpath", "--canonicalize-existing", f"{path}/."], timeout_s=_LIMIT_S, check=False)
    if "Not a directory" in found.stderr:
        raise HostError(f"{path} is no directory", f"ls -ld {path}{instead}")
    if found.returncode != 0:
        raise HostError(f"the directory {path} is not there", f"mkdir -p {path}{instead}")
    return found.stdout.rstrip("\n")


def check_writable(host: Host, path: str, *, instead: str = "") -> None:
    """Return when something can be made in the directory.

    Raises:
        HostError: it can't.
    """
    if host.run(["test", "-w", path], timeout_s=_LIMIT_S, check=False).returncode != 0:
        raise HostError(f"the directory {path} cannot be written to", f"ls -ld {path}{instead}")


def check_work(host: Host, state_dir: str) -> None:
    """Return when the run's own directory can be made in the work directory.

    Raises:
        HostError: it can't.
    """
    check_writable(host, state_dir.rpartition("/")[0] or "/", instead=_ANOTHER)


def site_of(machine: Machine, label: str, state_dir: str, ram_dir: str, *, is_here: bool) -> Site:
    """The run's places with what the host can do; `is_here`: the host is this machine."""
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


def places(site: Site, owner: StateOwner, *, with_ram: bool) -> tuple[Step, ...]:
    """The steps that make the run's directories, for its user alone; the first says whose they are."""
    steps = [_directory(site.state_dir), name_owner(site.state_dir, owner)]
    if with_ram:
        steps.append(_directory(site.ram_dir))
    return tuple(steps)


def _directory(path: str) -> Step:
    return Step(f"make {path}", ("mkdir", "-m", "0711", path), UndoTree(path))
