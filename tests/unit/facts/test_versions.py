"""The versions of the programs that build a layout, from what they really print."""

from collections.abc import Sequence

import pytest

from poolproof import process
from poolproof.devices.site import VERSIONS as VERSIONS_OF_DEVICES
from poolproof.facts.versions import program_versions
from poolproof.hosts.local import LocalHost
from poolproof.layers.catalogue import all_layers

PRINTED = {
    "mkfs.ext4": ("", "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n", "e2fsprogs", "1.47.0"),
    "mkfs.xfs": ("mkfs.xfs version 6.1.0\n", "", "xfsprogs", "6.1.0"),
    "btrfs": ("btrfs-progs v6.2\n", "", "btrfs-progs", "6.2"),
    "mergerfs": ("mergerfs version: 2.33.5\n", "", "mergerfs", "2.33.5"),
    "nbdkit": ("nbdkit 1.32.5\n", "", "nbdkit", "1.32.5"),
    "nbdfuse": ("nbdfuse 1.14.2\nlibnbd 1.14.2\n", "", "nbdfuse", "1.14.2"),
    "qemu-img": ("qemu-img version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\n", "", "qemu", "7.2.22"),
    "mdadm": ("", "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", "mdadm", "4.2"),
    "cryptsetup": ("cryptsetup 2.6.1 flags: UDEV BLKID KEYRING KERNEL_CAPI \n", "", "cryptsetup", "2.6.1"),
    "zfs": ("zfs-2.1.11-1+deb12u1\nzfs-kmod-2.1.14-1~bpo\n", "", "OpenZFS", "2.1.14-1~bpo"),
    "lvm": (
        "  LVM version:     2.03.16(2) (2022-05-18)\n  Library version: 1.02.185 (2022-05-18)\n",
        "",
        "lvm",
        "2.03.16",
    ),
}


VERSIONS = (
    *(layer.version for layer in all_layers().values() if layer.version is not None),
    *VERSIONS_OF_DEVICES.values(),
)


class PrintingHost(LocalHost):
    """This host with programs that print what is given; nothing of it is run."""

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        del stdin, check, timeout_s
        out, err, _name, _version = PRINTED[argv[0]]
        return process.Completed(tuple(argv), 0, out, err, 0.0)


@pytest.mark.parametrize("program", PRINTED)
def test_the_version_is_found_in_what_a_program_prints(program: str) -> None:
    _out, _err, name, version = PRINTED[program]
    asked = [each for each in VERSIONS if each.argv[0] == program]
    assert program_versions(PrintingHost(), asked) == {name: version}


def test_each_version_that_is_recorded_is_tested() -> None:
    assert {each.argv[0] for each in VERSIONS} == set(PRINTED)


def test_a_program_that_is_not_there_is_left_out() -> None:
    class Bare(LocalHost):
        def run(
            self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
        ) -> process.Completed:
            return super().run((f"/no/such/{argv[0]}",), timeout_s=timeout_s, stdin=stdin, check=check)

    assert program_versions(Bare(), VERSIONS) == {}
