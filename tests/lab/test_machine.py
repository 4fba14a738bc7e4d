"""A lab is as documented: ready in time, with the right disks and real storage systems.

Each failure is a clear error.
"""

import json
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from .machine import Machine, new_name, poolproof, traces

GIB = 1 << 30
READY_S = 25.0
"""The time limit, in seconds, on two idle processors. On busy processors, it applies to QEMU's processor time."""

DISKS = {
    "hdd": (2 * GIB, True, "hdd-7200"),
    "ssd": (2 * GIB, False, "sata-ssd"),
    "nvme1": (2 * GIB, False, "nvme"),
    "a": (320 << 20, False, "file"),
    "middle": (GIB, False, "qcow2"),
}
"""Some disks of the shared lab: the size, whether it is rotational, and the model."""

MODULES = (
    *(
        "zfs",
        "raid0",
        "raid1",
        "raid10",
        "raid456",
        "dm_crypt",
        "dm_thin_pool",
        "dm_cache_smq",
        "dm_writecache",
        "dm_raid",
    ),
    *("btrfs", "xfs", "ext4", "fuse", "loop"),
)
PROGRAMS = (
    *("zpool", "zfs", "mdadm", "cryptsetup", "lvm", "thin_check", "cache_check", "mkfs.btrfs", "mkfs.xfs", "mkfs.ext4"),
    *("mergerfs", "fio", "sfdisk", "wipefs", "losetup", "fincore", "filefrag", "blockdev"),
)


def test_disks_report_their_type_and_size(lab: Machine) -> None:
    disks = lab.disks()
    assert set(disks) == set(lab.record.disks)
    assert {name: (disks[name]["size"], disks[name]["rota"], disks[name]["model"]) for name in DISKS} == DISKS
    assert {disks[name]["phy-sec"] for name in ("hdd", "ssd")} == {4096}
    assert all(row["disc-max"] > 0 for row in disks.values())


def test_disks_have_the_printed_names(lab: Machine) -> None:
    assert set(lab.record.disks.values()) <= set(lab.ask("ls /dev/disk/by-id").split())


def test_devices_on_the_lab_lists_them(lab: Machine) -> None:
    answer = poolproof("devices", "--on", lab.on, "--json")
    assert set(lab.record.disks.values()) <= {row["identity"] for row in answer.json["disks"]}


@pytest.mark.zfs("2.1", "2.3")
def test_openzfs_has_the_requested_series(lab: Machine) -> None:
    series = re.escape(lab.record.series)
    assert re.search(rf"^zfs-{series}\.\d+.*\nzfs-kmod-{series}\.\d+", lab.ask("modprobe zfs && zpool version"))


def test_every_storage_system_is_installed(lab: Machine) -> None:
    missing = f"for name in {' '.join(MODULES)}; do modprobe $name || echo $name; done"
    absent = f"for name in {' '.join(PROGRAMS)}; do command -v $name >/dev/null || echo $name; done"
    assert lab.ask(f"{missing} 2>/dev/null; {absent}") == ""


def test_build_tools_are_not_installed(lab: Machine) -> None:
    assert lab.run("sh", "-c", "command -v gcc make; ls -A /usr/src").out == ""


def test_the_guest_has_no_network_except_ssh(lab: Machine) -> None:
    assert lab.ask("ip route show default") == ""


def test_output_and_exit_code_are_passed_on(lab: Machine) -> None:
    answer = lab.run("sh", "-c", "echo out; echo 'a  b' >&2; exit 7")
    assert (answer.code, answer.out, answer.err) == (7, "out\n", "a  b\n")
    assert lab.run("no-such-program").code == 9


def test_a_lab_name_is_taken_while_it_runs(lab: Machine) -> None:
    answer = poolproof("lab", "start", lab.name, "--json")
    assert answer.error["message"] == f"the lab {lab.name} is already running"


def test_a_device_that_differs_from_the_lab_s_is_refused(lab: Machine, tmp_path: Path) -> None:
    flags = ("-l", "hdd | ext4", "-d", "hdd=emulate:nvme,1G", "-w", "rw=randread,bs=16k,size=16m")
    answer = poolproof("run", *flags, "--on", lab.on, "--out", str(tmp_path / "run"), "--json")
    assert "but {emulate: hdd-7200, size: 2G} in the lab" in answer.error["message"]


def test_a_port_in_use_is_one_error() -> None:
    name = new_name()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = poolproof("lab", "start", name, "--port", str(port), "--accel", "tcg", "--json")
    assert answer.error["message"] == f"port {port} of this machine is in use"
    assert list(traces(name)) == []


def test_without_qemu_the_error_names_the_package() -> None:
    answer = poolproof("lab", "start", new_name(), "--json", env={"PATH": "/nowhere"})
    assert "qemu-system-x86_64" in answer.error["message"]
    assert "apt-get install" in answer.error["hint"]
    assert "qemu-system-x86" in answer.error["hint"]


def test_too_much_ram_is_one_error() -> None:
    name = new_name()
    answer = poolproof("lab", "start", name, "--ram", "4T", "--json")
    assert "is available" in answer.error["message"]
    assert list(traces(name)) == []


def test_a_lab_is_ready_in_time_and_a_crash_is_reported() -> None:
    lab = Machine.start(new_name(), "--disk", "a=emulate:nvme,64M", "--ram", "1G")
    try:
        assert min(lab.ready_after_s, lab.boot_processor_s) < READY_S, f"at a load of {os.getloadavg()}"
        os.kill(lab.qemu, signal.SIGKILL)
        answer = lab.run("true")
        assert answer.code == 4
        assert "is not running (state: crashed)" in answer.err
        states = {row["name"]: row["state"] for row in json.loads(poolproof("lab", "list", "--json").out)["labs"]}
        assert states[lab.name] == "crashed"
    finally:
        lab.remove()
