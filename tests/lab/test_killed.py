"""A run is killed while it builds or measures ZFS, md, LVM and LUKS. `clean` removes every part of the layout."""

import json
from pathlib import Path

import pytest

from tests.loop.command import Started

from .machine import Machine, kill_in_trial, leftovers, poolproof

POOL = "zfs -f mirror (lvm linear (a | luks)) (md raid1 b c bitmap=none size=200M){} ashift=12 | zvol 40M | ext4"
"""The two layouts share the pool, so its log device is added and removed in place."""
FLAGS = (
    *(word for name in "abcd" for word in ("-d", f"{name}=file:320M")),
    *("-l", "with=" + POOL.format(" log d"), "-l", "without=" + POOL.format("")),
    *("-w", "rw=randwrite,bs=4k,size=8m,fdatasync=1", "--time", "30s", "--trials", "1"),
)
LIMIT_S = 600.0


@pytest.mark.parametrize("kind", ["group", "array", "vdevs"])
def test_a_run_killed_while_it_builds_leaves_nothing(lab: Machine, tmp_path: Path, kind: str) -> None:
    """Kill the run while it runs the command that an undo of this kind would undo."""
    run = tmp_path / "run"
    begun = Started(tmp_path, "run", *FLAGS, "--on", lab.on, "--out", str(run))
    try:
        begun.wait_for(lambda: kind in _kinds(run), f"it recorded no undo of the kind {kind}", LIMIT_S)
    finally:
        begun.kill()
    _clean(lab, run)


def test_a_run_killed_in_a_trial_leaves_nothing(lab: Machine, tmp_path: Path) -> None:
    run = tmp_path / "run"
    begun = Started(tmp_path, "run", *FLAGS, "--on", lab.on, "--out", str(run))
    kill_in_trial(lab, begun, LIMIT_S)
    assert {"mapping", "group", "array", "pool", "mount"} <= _kinds(run)
    _clean(lab, run)


def _kinds(run: Path) -> set[str]:
    """Return the kinds of undo that are in the journal so far."""
    journal = run / "journal.jsonl"
    text = journal.read_text() if journal.exists() else ""
    changes = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    return {change["undo"]["kind"] for change in changes if change["line"] == "change"}


def _clean(lab: Machine, run: Path) -> None:
    answer = poolproof("clean", str(run), "--json")
    assert answer.code == 0, answer.out + answer.err
    assert leftovers(lab) == ""
