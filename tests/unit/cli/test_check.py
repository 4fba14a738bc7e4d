"""`check` refuses what `run` refuses on every host, and says which permissions `run` needs."""

from pathlib import Path

import pytest

from tests.unit.command import Command

CAMPAIGN = """
devices: {{a: {{file: 256M}}}}
layouts: {{one: a | ext4}}
workloads: {{reads: {{rw: randread, bs: 4k, size: 16m, {option}}}}}
"""


class Check:
    def __init__(self, command: Command, path: Path) -> None:
        self._command, self.path = command, path

    def __call__(self, option: str) -> tuple[int, str, str]:
        self.path.write_text(CAMPAIGN.format(option=option))
        return self._command("check", str(self.path))


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


@pytest.mark.parametrize("option", ["mem: mmap", "write_lat_log: x", "filename: a", "an_option_of_a_newer_fio: 1"])
def test_other_options_are_left_to_fio(check: Check, option: str) -> None:
    assert check(option)[0] == 0


def test_an_external_engine_needs_a_permission_on_the_command_line_of_run(check: Check) -> None:
    code, out, _ = check("ioengine: 'external:/opt/engine.so'")
    assert code == 0
    assert "--external-engine /opt/engine.so" in out
