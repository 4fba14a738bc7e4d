"""`check` refuses what `run` refuses on every host, and says which permissions `run` needs."""

from pathlib import Path

import pytest

from poolproof.facts import block
from poolproof.facts.block import BlockFacts
from tests.unit.command import Command

CAMPAIGN = """
devices: {{a: {{file: 256M}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, bs: 4k, size: 16m, {option}}}}}
"""


class Check:
    def __init__(self, command: Command, path: Path) -> None:
        self.command, self.path = command, path

    def __call__(self, option: str) -> tuple[int, str, str]:
        self.path.write_text(CAMPAIGN.format(option=option))
        return self.command("check", str(self.path))


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    return Check(Command(monkeypatch, capsys), tmp_path / "c.yaml")


@pytest.mark.parametrize(
    "option",
    [
        "mem: 'mmapshared:/dev/loop0'",
        "iomem: 'mmap:/root/file'",
        "write_lat_log: ../x",
        "filename: /etc/passwd",
        "directory: /srv",
        "exec_prerun: reboot",
        "ioengine: /tmp/evil.so",
        "ioengine: 'external:../evil.so'",
    ],
)
def test_an_option_that_may_leave_the_layout_is_refused(check: Check, option: str) -> None:
    code, out, err = check(option)
    assert (code, out) == (3, "")
    assert f"{check.path}:4: workload reads: " in err


@pytest.mark.parametrize(
    "option",
    [
        "stats: 0",
        "stat: 0",
        "startdelay: 0-3s, numjobs: 2",
        "size: 20%",
        "bs: 32m",
        "jobs: {one: {ramp_time: 1s}, two: {stonewall: 1}}",
        "flow: 1, jobs: {one: {iodepth: 1}, two: {stonewall: 1}}",
        "write_iolog: /srv/x",
        "zonesize: 64k",
        "zonesize: 64k, zonemode: none",
    ],
)
def test_check_and_a_dry_run_refuse_the_same_jobs(check: Check, option: str) -> None:
    text = CAMPAIGN.format(option=option).replace("bs: 4k, size: 16m, bs", "size: 16m, bs")
    check.path.write_text(text.replace("size: 16m, size", "size"))
    code, out, err = check.command("check", str(check.path))
    assert (code, out) == (3, "")
    assert f"{check.path}:4: workload reads: " in err
    assert check.command("run", "--dry-run", str(check.path)) == (code, out, err)


@pytest.mark.parametrize(
    "option",
    ["mem: mmap", "write_lat_log: x", "filename: a", "zonesize: 64k, zonemode: strided", "an_option_of_a_newer_fio: 1"],
)
def test_other_options_are_left_to_fio(check: Check, option: str) -> None:
    assert check(option)[0] == 0


def test_an_external_engine_needs_a_permission_on_the_command_line_of_run(check: Check) -> None:
    code, out, _ = check("ioengine: 'external:/opt/engine.so'")
    assert code == 0
    assert "--external-engine /opt/engine.so" in out


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("{disk: loop0}", "loop0 is a kernel name"),
        ("{disk: /dev/sdb}", "/dev/sdb is a kernel name"),
        ("{disk: /dev/disk/by-id/nvme-X_1-part2}", "nvme-X_1-part2 is the name of a partition"),
        ("{disk: dm-name-vg-root}", "dm-name-vg-root is the name of a mapping or an array"),
        ("{emulate: floppy, size: 256M}", "no disk model 'floppy'"),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["run", "--dry-run"]])
def test_a_device_that_no_host_can_have_is_refused(check: Check, device: str, said: str, command: list[str]) -> None:
    check.path.write_text(CAMPAIGN.format(option="iodepth: 2").replace("{file: 256M}", device))
    code, out, err = check.command(*command, str(check.path))
    assert (code, out) == (3, "")
    assert said in err and f"{check.path}:2: " in err


def test_a_disk_that_another_host_may_have_is_accepted(check: Check) -> None:
    check.path.write_text(CAMPAIGN.format(option="iodepth: 2").replace("{file: 256M}", "{disk: no-such-serial}"))
    assert check.command("check", str(check.path))[0] == 0


def test_a_disk_that_is_in_use_on_this_machine_is_noted(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = BlockFacts("sdx", "/dev/sdx", 1 << 30, "disk", serial="SN-1", mount_points=("/srv",))
    free = BlockFacts("sdy", "/dev/sdy", 1 << 30, "disk", serial="SN-2")
    monkeypatch.setattr(block, "block_devices", lambda _host, examined: (mounted, free) if examined == () else ())
    text = CAMPAIGN.format(option="iodepth: 2").replace("{file: 256M}", "{disk: SN-1}, b: {disk: SN-2}")
    check.path.write_text(text.replace("one: a | ext4", "one: a | ext4, two: b | ext4"))
    code, out, _ = check.command("check", str(check.path))
    assert code == 0
    assert "note: on this machine, `run` would reject device a: SN-1 (/dev/sdx) is mounted at /srv" in out
    assert "device b" not in out


def test_a_dry_run_fills_no_files_for_a_workload_that_creates_its_own(check: Check) -> None:
    check.path.write_text(
        f"layouts: {{one: dir {check.path.parent}}}\n"
        "workloads: {reads: {rw: randread, bs: 4k, size: 16m}, log: {preset: etcd, size: 8m}}\n"
    )
    code, out, _ = check.command("run", "--dry-run", str(check.path))
    fills = [block for block in out.split("\n\n") if "writes test files" in block]
    assert code == 0 and len(fills) == 1 and "size=16m" in fills[0], "etcd's job has unlink=1"
