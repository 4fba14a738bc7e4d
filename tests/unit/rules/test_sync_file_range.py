"""sync_file_range is not a sync, but it can make writes to a block device wait until the device has the data."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from poolproof.verdicts import Verdict
from tests.unit.rules.making import EXT4, MIB, account, direction, jobs, leaf, said


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ("wait_after:8", "suspect"),  # starts no writes
        ("write:8", "suspect"),  # does not wait
        ("write,wait_after:8", "sound"),
        ("wait_before,write:8", "sound"),
        ("write,wait_after:400", "suspect"),  # leaves the last writes to the close
    ],
)
def test_writes_to_a_block_device_are_in_order_if_their_range_was_written_and_awaited(
    flags: str, verdict: Verdict
) -> None:
    moved = 400 * MIB
    disk = leaf(write_bytes=moved, drained_write_bytes=moved, write_ios=800, write_merges=0, below_device=None)
    evidence = Evidence(account(write=(moved, moved, moved)), (disk,))
    load = jobs(f"rw=write bs=1m size=400m direct=0 filename=/dev/sdx sync_file_range={flags}")
    target = replace(EXT4, file_system="block device")
    case = Case(load, said(write=direction(moved, 3.0, MIB)), evidence, target)
    assert judge(case, "bandwidth").verdict == verdict
