"""The targets of jobs, as described by options and found from paths on this machine."""

from pathlib import Path
from typing import Any

import pytest

from poolproof.errors import UsageError
from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.context import read_context, target_of
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.job_groups import JobFiles, files_of
from poolproof.foreign.lint.targets import TargetLookup
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.job import Job
from tests.golden import Message
from tests.unit.foreign.lint.making import KnownTarget, flags, source

GIB = 1024**3
HERE = TargetLookup(read_context(), LocalHost())


class _Nas(LocalHost):
    """This machine under the name of another one."""

    name = "backup-nas"


def _told(**given: Any) -> Target:
    target = target_of(read_context(**given))
    assert target is not None
    return target


def test_flags_tell_of_a_zfs_machine() -> None:
    target = _told(fs="zfs-2.2", ram="64G", recordsize="128k", compression="lz4")
    assert (target.file_system, target.ram_bytes, target.record_bytes, target.compression) == (
        "zfs", 64 * GIB, 131072, "lz4"
    )  # fmt: skip
    assert target.zfs is not None
    assert (target.zfs.version, target.zfs.is_zvol) == ("2.2", False)
    assert _told(fs="zfs", compression="off").compression is None


def test_the_other_names_of_file_systems() -> None:
    zvol = _told(fs="zvol-2.3.1")
    assert zvol.zfs is not None
    assert (zvol.file_system, zvol.zfs.version, zvol.zfs.is_zvol) == ("zvol", "2.3.1", True)
    assert _told(fs="mergerfs").file_system == "fuse.mergerfs"
    assert _told(fs="tmpfs").volatile
    assert _told(fs="btrfs", compression="zstd:3").record_bytes == 131072


@pytest.mark.parametrize(
    ("devices", "disks", "bytes_per_s", "rotational"),
    [
        (["3x nvme 3.2GB/s"], 3, 9.6e9, False),
        (["14x hdd"], 14, 7.84e9, True),
        (["2 sata-ssd, 1x hdd"], 3, 1.76e9, False),
        (["hdd", "hdd"], 2, 1.12e9, True),
        (["900MB/s"], 1, 900e6, None),
    ],
)
def test_devices(devices: list[str], disks: int, bytes_per_s: float, rotational: bool | None) -> None:
    target = target_of(read_context(devices=devices))
    assert target is not None
    assert (target.disks, target.ceiling_read_bytes_per_s, target.rotational) == (disks, bytes_per_s, rotational)


@pytest.mark.parametrize(("devices", "zoned"), [("3x smr", True), ("1x smr, 2x hdd", True), ("3x hdd", None)])
def test_shingled_disks_are_those_that_the_flag_names(devices: str, zoned: bool | None) -> None:
    target = target_of(read_context(devices=[devices]))
    assert target is not None
    assert target.zoned is zoned


@pytest.mark.parametrize(
    "given",
    [{"fs": "?"}, {"ram": "0"}, {"ram": "64"}, {"recordsize": "x"}, {"devices": ["a floppy"]}, {"devices": ["3x"]}],
)
def test_a_flag_that_cannot_be_read_names_a_right_one(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as raised:
        read_context(**given)
    assert raised.value.hint


def test_flags_go_over_what_the_machine_says() -> None:
    found = Target("ext4", ram_bytes=8 * GIB)
    ram, elsewhere = target_of(read_context(ram="64G"), found), target_of(read_context(fs="xfs"), found)
    assert ram == Target("ext4", ram_bytes=64 * GIB)
    assert elsewhere == Target("xfs")
    assert target_of(read_context(), found) == found


def test_the_files_of_a_job() -> None:
    both = {"filename": "/x/f:g", "directory": "/y"}
    assert files_of(Job("a", both)) == JobFiles(("/y//x/f", "/y/g"), "/y")  # measured with fio 3.33
    moved = Job("a", both, lines={"filename": 1})  # in a script after `cd /y`
    assert files_of(moved) == JobFiles(("/x/f", "/y/g"), "/y")
    assert files_of(Job("a", {"filename": "f", "directory": "/y:/z"})) == JobFiles(("/y/f",), "/y")
    assert files_of(Job("a", {"directory": "/y", "numjobs": "2"})) == JobFiles(("/y/a.0.0", "/y/a.1.0"), "/y")
    assert files_of(Job("a", {"filename": "${WHERE}"})) is None
    assert files_of(Job("a", {"ioengine": "rbd"})) is None


def test_a_directory_of_this_machine(tmp_path: Path) -> None:
    target = HERE.target(JobFiles((f"{tmp_path}/a.0.0",), str(tmp_path)))
    assert target is not None
    assert target.file_system
    assert target.ram_bytes


def test_a_place_that_is_not_here_is_not_guessed() -> None:
    assert HERE.target(JobFiles(("/not/there/a.0.0",), "/not/there")) is None
    assert HERE.target(JobFiles(("/dev/null",), "")) is None


def test_files_that_are_there_are_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "f"
    with file.open("wb") as opened:
        opened.truncate(1024**2)
    found = HERE.evidence([JobFiles((str(file), f"{tmp_path}/none"), "")])
    assert found is not None
    assert [(each.path, each.size_bytes, each.hole_bytes) for each in found.files] == [(str(file), 1024**2, 1024**2)]


@pytest.mark.parametrize(
    "before",
    [
        "ssh h ", "kubectl exec p -- ", "docker run img ", "sudo podman run --rm me/", "$SSH ", '"${SSH_CMD[@]}" h ',
        "pct exec 100 -- ", "incus exec c -- ", "chroot /mnt ", "systemd-nspawn -D /mnt ", "docker-compose exec db ",
        "multipass exec vm -- ", "srun -w n1 ", "clush -w n1 ", 'on_nas() {\n  ssh nas "$@"\n}\non_nas ',
    ],
)  # fmt: skip
def test_a_job_that_runs_on_another_machine_or_in_a_container(before: str, tmp_path: Path) -> None:
    """The paths are not those of this machine. Options describe the target, and nothing is added to them from here."""
    file = tmp_path / "f"
    with file.open("wb") as opened:
        opened.truncate(1024**2)
    text = f"{before}fio --name=r --filename={file} --rw=randread --bs=4k --size=1g\n"
    there = source(text, "b.sh")
    assert lint(there, HERE) == lint(there)
    told = lint(there, flags(ram="64G"))
    assert [each.rule for each in told if each not in lint(there)] == ["size-below-cache"]
    assert "64 GiB" in told[0].message


@pytest.mark.parametrize("quoted", ["virsh qemu-agent-command vm '{}'", "ansible all -m shell -a '{}'", "$SSH '{}'"])
def test_a_quoted_command_for_another_machine(quoted: str) -> None:
    there = source(quoted.format("fio --name=r --rw=randread --bs=4k --size=1g") + "\n", "b.sh")
    assert lint(there, HERE) == lint(there)


def test_a_finding_about_the_machine_is_reported_once_per_source() -> None:
    where = KnownTarget(Target("ext4", in_guest=True))
    call = "fio --name=a --rw=randread --bs=4k --size=1g --runtime=60 --time_based\n"
    found = [each.line for each in lint(source(call * 3, "b.sh"), where) if each.rule == "guest-cache"]
    assert found == [1]


def test_a_missing_device_is_missing_on_the_host_that_was_looked_at(message: Message) -> None:
    job = source("fio --name=a --rw=write --filename=/dev/no-such-disk")
    for host, name in ((LocalHost(), "this machine"), (_Nas(), "backup-nas")):
        (found,) = (each for each in lint(job, TargetLookup(read_context(), host)) if each.rule == "destroys-data")
        assert f"{name} has no such device" in message(found.message)
