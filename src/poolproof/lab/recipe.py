"""What an image is made of. Its name is made of the same, so that a change makes another image."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from poolproof.errors import UsageError
from poolproof.lab.apt_sources import AptSource

SERIES = ("2.1", "2.3")
"""The series of OpenZFS that images are known to be built with."""

_KERNEL = ("linux-image-cloud-amd64", "linux-headers-cloud-amd64")
_ZFS = ("zfs-dkms", "zfsutils-linux")
_STORAGE = (
    *("mdadm", "cryptsetup-bin", "lvm2", "dmsetup", "thin-provisioning-tools"),
    *("btrfs-progs", "xfsprogs", "e2fsprogs", "mergerfs", "fuse3", "fdisk"),
)
_MACHINE = (
    *("fio", "openssh-server", "udev", "kmod", "iproute2", "procps", "util-linux-extra"),
    *("busybox-static", "cpio"),  # of these the initial RAM disk is made
)
PACKAGES = (*_KERNEL, *_ZFS, *_STORAGE, *_MACHINE)

BACKPORTS_PIN = """\
Package: src:zfs-linux
Pin: release n={suite}
Pin-Priority: 900
"""
"""apt_preferences(5): OpenZFS alone comes from the backports."""


@dataclass(frozen=True)
class Recipe:
    """One image: the series of OpenZFS, and the archives that its packages come from."""

    series: str
    codename: str
    sources: tuple[AptSource, ...]

    @property
    def name(self) -> str:
        """Such as `zfs-2.1-bookworm-1f3a9c20e4`: the same recipe has the same name on every machine."""
        parts = (self.series, *(source.line() for source in self.sources), *PACKAGES, *_programs())
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return f"zfs-{self.series}-{self.codename}-{digest[:10]}"


def check_series(series: str) -> str:
    """The series, if images are made of it.

    Raises:
        UsageError: none is.
    """
    if series not in SERIES:
        raise UsageError(
            f"--zfs {series}: there is no image with OpenZFS {series}", f"write --zfs {' or '.join(SERIES)}"
        )
    return series


@cache
def guest_program(name: str) -> str:
    """One of the programs in guest/."""
    return resources.files("poolproof.lab").joinpath("guest", name).read_text(encoding="utf-8")


def _programs() -> tuple[str, ...]:
    return tuple(guest_program(name) for name in ("boot.sh", "init.sh", "finish.sh"))
