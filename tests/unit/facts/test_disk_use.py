"""Whether a device can be opened exclusively, and the message if this can't be tested."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import pytest

from poolproof.facts.disk_use import disk_uses, exclusive_use
from poolproof.hosts.local import LocalHost
from poolproof.process import Completed


class Bare(LocalHost):
    """This machine, but without any programs on the PATH."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        bare = ["/usr/bin/env", "PATH=/nonexistent", f"/bin/{argv[0]}", *argv[1:]]
        return super().run(bare, timeout_s=timeout_s, stdin=stdin, check=check)


def test_a_disk_that_cannot_be_tried_counts_as_in_use(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.touch()
    assert exclusive_use(LocalHost(), str(disk)) is None
    use = exclusive_use(Bare(), str(disk))
    assert use is not None and {"Python", "Perl"} <= set(use.what.replace(",", "").split())


class Silent(LocalHost):
    """A host on which `find` hangs, with a shorter time limit for it."""

    def __init__(self, programs: Path) -> None:
        super().__init__()
        (programs / "find").write_text("#!/bin/sh\nexec sleep 60\n")
        (programs / "find").chmod(0o755)
        self.programs = programs

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        script = argv[2].replace("timeout -s KILL 20", "timeout -s KILL 0.2")
        found = ["/usr/bin/env", f"PATH={self.programs}:/usr/bin:/bin", *argv[:2], script, *argv[3:]]
        return super().run(found, timeout_s=timeout_s, stdin=stdin, check=check)


def test_no_disk_counts_as_free_if_open_files_cannot_be_examined(tmp_path: Path) -> None:
    uses = disk_uses(Silent(tmp_path), ["8:0", "8:16"])
    assert [[use.what.startswith("may be in use") for use in found] for found in uses.values()] == [[True], [True]]


class Lacking(LocalHost):
    """This machine with only one directory on the PATH, in which some programs are missing."""

    def __init__(self, programs: Path, *found: str) -> None:
        super().__init__()
        self.programs = programs
        for name in found:
            (programs / name).symlink_to(str(which(name)))

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        script = argv[2].replace("PATH=$PATH:/sbin:/usr/sbin", f"PATH={self.programs}")
        return super().run([*argv[:2], script, *argv[3:]], timeout_s=timeout_s, stdin=stdin, check=check)


def test_no_disk_counts_as_free_if_a_program_that_the_check_needs_is_missing(tmp_path: Path) -> None:
    needed = ("sh", "find", "timeout", "stat", "grep", "xargs", "sed")
    (use,) = disk_uses(Lacking(tmp_path, *needed), ["8:0"])["8:0"]
    assert use.what.startswith("may be in use") and use.what.endswith("the program awk")
    (tmp_path / "awk").symlink_to(str(which("awk")))
    assert disk_uses(Lacking(tmp_path), ["8:0"]) == {"8:0": ()}


class Exporting(LocalHost):
    """This machine, with a directory in the place of /sys/kernel/config."""

    def __init__(self, config: Path) -> None:
        super().__init__()
        self.config = config

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        script = argv[2].replace("/sys/kernel/config", str(self.config))
        return super().run([*argv[:2], script, *argv[3:]], timeout_s=timeout_s, stdin=stdin, check=check)


@pytest.mark.parametrize(
    "path",
    [
        "nvmet/subsystems/nqn/namespaces/1/device_path",
        "target/core/fileio_0/disk/udev_path",
        "usb_gadget/g/functions/mass_storage.0/lun.0/file",
    ],
)
def test_a_disk_that_the_kernel_exports_is_in_use(tmp_path: Path, path: str) -> None:
    """The kernel opens such a disk itself, not exclusively and without a process."""
    disk = next(each for each in sorted(Path("/dev").iterdir()) if each.is_block_device())
    number = f"{os.major(disk.stat().st_rdev)}:{os.minor(disk.stat().st_rdev)}"
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(f"{disk}\n")
    found = [use.what for use in disk_uses(Exporting(tmp_path), [number])[number]]
    assert "is exported by the kernel to other machines" in found
    file.write_text("/nonexistent\n")
    found = [use.what for use in disk_uses(Exporting(tmp_path), [number])[number]]
    assert "is exported by the kernel to other machines" not in found


class Generic(LocalHost):
    """This machine, with a directory in the place of /sys/class."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        script = argv[2].replace("class=/sys/class", f"class={self.folder}")
        return super().run([*argv[:2], script, *argv[3:]], timeout_s=timeout_s, stdin=stdin, check=check)


@pytest.mark.parametrize(
    ("generic", "disk"),
    [
        ("scsi_generic/sg0", "scsi_generic/sg0/device/block/sda"),
        ("bsg/0:0:0:0", "bsg/0:0:0:0/device/block/sda"),
        ("nvme-generic/ng0n1", "block/nvme0n1"),
    ],
)
def test_a_disk_whose_character_device_is_open_is_in_use(tmp_path: Path, generic: str, disk: str) -> None:
    """A virtual machine can send SCSI or NVMe commands to a disk without opening its block device."""
    for folder, number in ((generic, "1:7"), (disk, "8:48")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "dev").write_text(f"{number}\n")
    assert disk_uses(Generic(tmp_path), ["8:48"]) == {"8:48": ()}
    with Path("/dev/full").open("rb", buffering=0):  # its number is 1:7
        (use,) = disk_uses(Generic(tmp_path), ["8:48"])["8:48"]
    assert use.what.startswith("is held open by ")


class Timed(LocalHost):
    """This machine. `asked` lists each script with its time limit."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, float]] = []

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        self.asked.append((argv[2], timeout_s))
        return super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)


def test_every_search_may_reach_its_limit_before_the_whole_script_does() -> None:
    """Otherwise, the user is told that a script was killed, not that a file system may hang."""
    host = Timed()
    disk_uses(host, ["8:0"])
    script, limit_s = host.asked[0]
    (each_s,) = re.findall(r"timeout -s KILL (\d+)", script)
    assert limit_s > int(each_s) * script.count("\nseen ") >= 3 * int(each_s)
