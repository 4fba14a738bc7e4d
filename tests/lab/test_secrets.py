"""The key of an encrypted layer is only in its file in RAM: not in the files of the run, and on no command line."""

import base64
from pathlib import Path

from tests.loop.command import Started

from .machine import Machine, kill_in_trial, leftovers, poolproof

_LIMIT_S = 600.0
_CAMPAIGN = """
devices: {a: {disk: DISK}}
layouts: {one: a | luks | ext4}
workloads: {writes: {rw: randwrite, bs: 4k, size: 8m}}
measure: {trials: 1, time: 60s}
"""


def test_the_key_is_in_no_file_of_the_run_and_on_no_command_line(lab: Machine, tmp_path: Path) -> None:
    assert leftovers(lab) == ""
    disk, run = lab.record.disks["a"], tmp_path / "run"
    (tmp_path / "c.yaml").write_text(_CAMPAIGN.replace("DISK", disk))
    begun = Started(tmp_path, "run", str(tmp_path / "c.yaml"), "--on", lab.on, "--wipe", disk, "--out", str(run))
    kill_in_trial(lab, begun, _LIMIT_S)
    try:
        listed = lab.ask("stat -c '%a %U' /dev/shm/poolproof-*.key; base64 --wrap=0 /dev/shm/poolproof-*.key").split()
        command_lines = lab.ask("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | base64 --wrap=0")
        assert listed[:2] == ["600", "root"]
        key = base64.b64decode(listed[2])
        assert len(key) == 32
        texts = {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        texts["command lines"] = base64.b64decode(command_lines)
        forms = {key, key.hex().encode(), key.hex().upper().encode(), base64.b64encode(key)}
        assert str(run / "journal.jsonl") in texts
        assert [name for name, text in texts.items() if any(form in text for form in forms)] == []
    finally:
        assert poolproof("clean", str(run)).code == 0
    assert leftovers(lab) == ""
