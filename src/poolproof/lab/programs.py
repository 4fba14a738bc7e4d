"""The programs that the lab needs on this machine, and the packages that contain them."""

import os
import shutil
from collections.abc import Mapping, Sequence

from poolproof.errors import HostError

_PACKAGES: Mapping[str, str] = {
    "apt-get": "apt",
    "fakeroot": "fakeroot",
    "mke2fs": "e2fsprogs",
    "mmdebstrap": "mmdebstrap",
    "newuidmap": "uidmap",
    "nbdkit": "nbdkit nbdkit-plugin-python",
    "qemu-img": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "tar": "tar",
}
_FOR_USERS = ("newuidmap", "fakeroot")
_FOLDERS = ":/usr/sbin:/sbin"

BUILD = ("apt-get", "mmdebstrap", "mke2fs", "tar", *_FOR_USERS)
START = ("qemu-system-x86_64", "ssh", "ssh-keygen")


def require(programs: Sequence[str], purpose: str) -> None:
    """Raise a HostError unless this machine has the programs for `purpose`."""
    path = os.environ.get("PATH", os.defpath) + _FOLDERS
    needed = [program for program in programs if os.geteuid() != 0 or program not in _FOR_USERS]
    missing = [program for program in needed if shutil.which(program, path=path) is None]
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES[program] for program in missing))
        raise HostError(f"{purpose} needs {', '.join(missing)}", f"Debian, Ubuntu: sudo apt-get install {packages}")
