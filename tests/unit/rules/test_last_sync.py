"""Writes after the last sync: the counted syncs show how many there are, even if there were few syncs."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.judge import judge
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, KIB, account, direction, jobs, leaf


@pytest.mark.parametrize(("syncs", "is_late"), [(18, False), (17, True)])
def test_metadata_that_btrfs_writes_after_the_last_sync_is_not_late(syncs: int, is_late: bool) -> None:
    """On a hard disk, fio did 144 writes in 1 s, with a sync after every 8. btrfs wrote its trees later."""
    write = direction(576 * KIB, 1.0, 4 * KIB)
    part = PartOutcome("job", write=write, syncs=syncs, sync=Latency(samples=syncs, mean_ns=5e7))
    disk = leaf(
        write_bytes=1802 * KIB, drained_write_bytes=6707 * KIB, write_ios=172, write_merges=80, flush_ios=2 * syncs
    )  # fmt: skip
    evidence = Evidence(account(write=(576 * KIB, 1802 * KIB, 6707 * KIB)), (disk,))
    load = jobs("rw=randwrite bs=4k size=64m ioengine=psync fdatasync=8 time_based=1 runtime=1")
    target = replace(EXT4, file_system="btrfs", write_through=False)
    found = judge(Case(load, Outcome("fio-3.33", (part,)), evidence, target), "bandwidth")
    assert ("write-not-on-disk" in {finding.rule for finding in found.findings}) == is_late
    assert found.verdicts.get("bandwidth", found.verdict) == ("suspect" if is_late else "sound")
