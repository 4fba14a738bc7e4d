"""Where the files of a device lie, and what its host must have. One naming for all kinds of device."""

from collections.abc import Mapping

from poolproof.devices.model import Site
from poolproof.errors import HostError
from poolproof.facts.versions import ProgramVersion
from poolproof.steps import Step

_LONGEST_SOCKET = 107
_PACKAGES: Mapping[str, str] = {
    "losetup": "mount",
    "nbdfuse": "libnbd-bin fuse3",
    "nbdkit": "nbdkit nbdkit-plugin-python",
    "qemu-img": "qemu-utils",
    "qemu-nbd": "qemu-utils",
    "tee": "coreutils",
    "touch": "coreutils",
    "truncate": "coreutils",
    "wipefs": "util-linux",
}
PROGRAMS = frozenset(_PACKAGES)
"""All programs that some kind of device needs."""

VERSIONS: Mapping[str, ProgramVersion] = {
    "nbdkit": ProgramVersion("nbdkit", ("nbdkit", "--version")),
    "nbdfuse": ProgramVersion("nbdfuse", ("nbdfuse", "--version")),
    "qemu-img": ProgramVersion("qemu", ("qemu-img", "--version")),
}
"""The versions that are recorded with a run, by program."""


def require(site: Site, what: str, *programs: str) -> None:
    """Raise a HostError unless the host has root and the programs that `what` needs."""
    if not site.is_root:
        raise HostError(
            f"{what} needs root",
            "run it with sudo (over SSH: as root, or with a sudo there that asks no password), or use a `dir` layout",
        )
    missing = [program for program in programs if program not in site.programs]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        raise HostError(f"{what} needs {', '.join(missing)}", f"Debian, Ubuntu: sudo apt-get install {packages}")


def clear(name: str, *files: str) -> Step:
    """The step that comes first: every layout builds its devices anew, in the same places.

    A stale pid file would pass for that of the daemon about to start, a stale image for a fresh disk.
    """
    return Step(title=f"clear the place of {name}", argv=("rm", "-f", "--", *files))


def socket_path(site: Site, name: str) -> str:
    """A socket in the state directory.

    Raises:
        HostError: the path is longer than a Unix socket's may be (unix(7): 108 bytes with the final 0).
    """
    path = f"{site.state_dir}/{name}.sock"
    if len(path.encode()) > _LONGEST_SOCKET:
        raise HostError(f"{path} is too long for a socket", "put the state directory at a shorter path")
    return path
