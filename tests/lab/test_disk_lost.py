"""A pool loses its only disk in the middle of a trial.

The trial reports it, the next layout is measured, and `clean` removes the rest when the disk is back.
"""

import json
from pathlib import Path

from poolproof.lab.reach import reach_host
from tests.loop.command import Started

from .machine import Machine, leftovers, poolproof

FLAGS = (
    *("-d", "a=file:320M", "-d", "b=file:320M", "-l", "lost=zfs a", "-l", "kept=b | ext4"),
    *("-w", "rw=randwrite,bs=16k,size=16m,fdatasync=1", "--time", "15s", "--trials", "1"),
)
LIMIT_S = 600.0
_STATE = "/sys/block/$(basename $(readlink -f /dev/disk/by-id/{disk}))/device/state"
_FIO_REPORTS = ("sh", "-c", "grep -aqs 'status[-]interval' /proc/[0-9]*/cmdline")


def test_a_pool_that_loses_its_disk_does_not_end_the_run(lab: Machine, tmp_path: Path) -> None:
    state, run = _STATE.format(disk=lab.record.disks["a"]), tmp_path / "run"
    begun = Started(tmp_path, "run", *FLAGS, "--on", lab.on, "--out", str(run))
    try:
        with reach_host(lab.on) as host:
            begun.wait_for(lambda: host.run(_FIO_REPORTS, timeout_s=60, check=False).returncode == 0, "no fio", LIMIT_S)
        lab.ask(f"echo offline >{state}")
        answer = begun.wait(LIMIT_S)
    finally:
        begun.kill()
        lab.ask(f"echo running >{state}; for pool in $(zpool list -H -o name); do zpool clear $pool; done")
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    failed = {trial["layout"]: trial["verdict"] == "failed" for trial in trials}
    said = " ".join(finding["message"] for trial in trials for finding in trial["findings"])
    assert failed == {"lost": True, "kept": False}, said
    assert "suspended the pool" in said
    assert answer.code == 6, answer.err
    assert "could not be undone" in answer.err
    cleaned = poolproof("clean", str(run))
    assert cleaned.code == 0, cleaned.err
    assert leftovers(lab) == ""
