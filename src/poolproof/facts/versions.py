"""Which versions of the programs that build a layout a host has: a figure is that of these, and changes with them."""

import re
from collections.abc import Iterable, Mapping

from poolproof.errors import CommandError
from poolproof.hosts.base import Host

_LIMIT_S = 10.0
_ASKED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "mkfs.ext4": ("e2fsprogs", ("mkfs.ext4", "-V")),
    "mkfs.xfs": ("xfsprogs", ("mkfs.xfs", "-V")),
    "btrfs": ("btrfs-progs", ("btrfs", "--version")),
    "mergerfs": ("mergerfs", ("mergerfs", "--version")),
    "zfs": ("OpenZFS", ("zfs", "version")),
    "mdadm": ("mdadm", ("mdadm", "--version")),
    "lvm": ("lvm", ("lvm", "version")),
    "cryptsetup": ("cryptsetup", ("cryptsetup", "--version")),
    "nbdkit": ("nbdkit", ("nbdkit", "--version")),
    "nbdfuse": ("nbdfuse", ("nbdfuse", "--version")),
    "qemu-img": ("qemu", ("qemu-img", "--version")),
}
"""By program: what its version is the version of, and the command that prints it."""

_VERSION = re.compile(r"(?<![\w.])v?(?:zfs-(?:kmod-)?)?(\d+(?:\.\d+)+[^\s,():]*)")


def program_versions(host: Host, programs: Iterable[str]) -> dict[str, str]:
    """The versions of those of the programs that can be asked; one that does not tell is left out.

    Of OpenZFS it is the kernel module's, which is the last that `zfs version` prints.
    """
    found = {}
    for program in sorted(set(programs) & _ASKED.keys()):
        name, argv = _ASKED[program]
        version = _version_of(host, argv, last=name == "OpenZFS")
        if version:
            found[name] = version
    return found


def _version_of(host: Host, argv: tuple[str, ...], *, last: bool) -> str:
    try:
        said = host.run(argv, timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return ""
    versions = _VERSION.findall(said.stdout + said.stderr)
    return versions[-1 if last else 0] if versions else ""
