"""What all kinds of devices share: programs with their packages and versions, and file names."""

from collections.abc import Mapping

from poolproof.devices.model import Site
from poolproof.errors import HostError
from poolproof.facts.machine import ProgramVersion
from poolproof.steps import Step

_MAX_SOCKET_PATH_BYTES = 107
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
"""All programs that any kind of device may need."""

VERSIONS: Mapping[str, ProgramVersion] = {
    "nbdkit": ProgramVersion("nbdkit", ("nbdkit", "--version")),
    "nbdfuse": ProgramVersion("nbdfuse", ("nbdfuse", "--version")),
    "qemu-img": ProgramVersion("qemu", ("qemu-img", "--version")),
}
"""The commands that print the versions of programs. The versions are recorded with each run."""


def require(site: Site, what: str, *programs: str) -> None:
    """Raise a HostError if commands do not run as root or the host lacks one of these programs.

    `what`: the thing that needs the programs. It begins the error message.
    """
    if not site.is_root:
        raise HostError(
            f"{what} needs root",
            "run poolproof with sudo (over SSH: as root, or with passwordless sudo on that host), or use a `dir` "
            "layout",
        )
    missing = [program for program in programs if program not in site.programs]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        verb = "is" if len(missing) == 1 else "are"
        message = f"{what} needs {' and '.join(missing)}, which {verb} not installed"
        raise HostError(message, f"Debian, Ubuntu: sudo apt-get install {packages}")


def clear(name: str, *files: str) -> Step:
    """Return the step that removes the files of an earlier device with the same name.

    All layouts build their devices under the same names. Without this step, poolproof could mistake an old pid file for
    that of the new daemon, or an old image for a new disk.
    """
    return Step(title=f"remove old files of {name}", argv=("rm", "-f", "--", *files))


def socket_path(site: Site, name: str) -> str:
    """Return the path of the device's socket in the state directory.

    Raises a HostError if the path is longer than 107 bytes. The limit in unix(7) is 108, including the final NUL.
    """
    path = f"{site.state_dir}/{name}.sock"
    if len(path.encode()) > _MAX_SOCKET_PATH_BYTES:
        raise HostError(f"the path {path} is too long for a Unix socket", "give --work a directory with a shorter path")
    return path
