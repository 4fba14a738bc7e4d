"""What all kinds of device share: programs, their packages and versions, and names of files."""

from collections.abc import Mapping

from poolproof.devices.model import Site
from poolproof.errors import HostError
from poolproof.facts.machine import ProgramVersion
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
"""All programs that any kind of device needs."""

VERSIONS: Mapping[str, ProgramVersion] = {
    "nbdkit": ProgramVersion("nbdkit", ("nbdkit", "--version")),
    "nbdfuse": ProgramVersion("nbdfuse", ("nbdfuse", "--version")),
    "qemu-img": ProgramVersion("qemu", ("qemu-img", "--version")),
}
"""The versions that are recorded with a run, by program."""


def require(site: Site, what: str, *programs: str) -> None:
    """Check that the host has root and the programs that `what` needs."""
    if not site.is_root:
        raise HostError(
            f"{what} needs root",
            "run it with sudo (over SSH: as root, or with passwordless sudo on that host), or use a `dir` layout",
        )
    missing = [program for program in programs if program not in site.programs]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        raise HostError(f"{what} needs {', '.join(missing)}", f"Debian, Ubuntu: sudo apt-get install {packages}")


def clear(name: str, *files: str) -> Step:
    """Remove the device's old files, because each layout builds its devices again under the same names.

    Otherwise an old pid file would pass as that of the new daemon, and an old image as a new disk.
    """
    return Step(title=f"remove old files of {name}", argv=("rm", "-f", "--", *files))


def socket_path(site: Site, name: str) -> str:
    """Return the path of a socket in the state directory.

    Raises a HostError if it is longer than 108 bytes with the final 0, as unix(7) allows.
    """
    path = f"{site.state_dir}/{name}.sock"
    if len(path.encode()) > _LONGEST_SOCKET:
        raise HostError(f"{path} is too long for a socket", "use a state directory with a shorter path")
    return path
