"""The words of findings: they name what the target has, and do not contradict each other."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.rules.judge import judge
from poolproof.rules.model import Case

from .making import EXT4, KIB, account, direction, jobs, leaf, said

_BARE = replace(EXT4, file_system="block device")
_ZFS = Target("zfs", record_bytes=128 * KIB, zfs=ZfsFacts(version="2.1.11"))


@pytest.mark.parametrize(
    ("target", "expected", "unexpected"),
    [
        (_BARE, ("whole page", "part of a page", "multiple of 4k"), ("journal", "file system", "record")),
        (EXT4, ("whole page, the journal and metadata", "part of a page", "multiple of 4k"), ("record",)),
        (_ZFS, ("the journal and metadata", "part of a record", "recordsize"), ("multiple of 4k",)),
    ],
    ids=["a bare device", "ext4", "zfs"],
)
def test_commits_of_parts_of_pages_are_explained_for_the_target(
    target: Target, expected: tuple[str, ...], unexpected: tuple[str, ...]
) -> None:
    """The preset etcd on a disk without a file system: the page cache of the block device reads the rest of each page.

    Only ZFS has records whose size can be set.
    """
    disk = leaf(read_bytes=500 * KIB, read_ios=125, write_bytes=1350 * KIB, write_ios=442,
                drained_write_bytes=1350 * KIB)  # fmt: skip
    evidence = Evidence(account(read=(0, 500 * KIB), write=(496 * KIB, 1350 * KIB, 1350 * KIB)), (disk,))
    load = jobs("rw=randwrite bs=2300 size=64m fdatasync=1 ioengine=psync time_based=1 runtime=3")
    found = judge(Case(load, said(write=direction(496 * KIB, 3.0, 2300), syncs=221), evidence, target), "sync_p99")
    of_these = [each for each in found.findings if each.rule in ("amplification", "recordsize-mismatch")]
    words = " ".join(f"{each.message} {each.fix}" for each in of_these)
    assert len(of_these) == 2
    assert [text for text in expected if text not in words] == []
    assert [text for text in unexpected if text in words] == []


@pytest.mark.parametrize(
    ("rate", "reached", "not_reached"), [(100, "this limit", False), (93, "93% of this limit", True)]
)
def test_a_rate_just_below_its_limit_is_not_said_to_have_reached_it(rate: int, reached: str, not_reached: bool) -> None:
    """Between 90 and 95% of rate_iops, one rule reports the limit, and another one that it was missed."""
    moved = rate * 4 * KIB
    disk = leaf(read_bytes=moved, read_ios=rate, read_merges=0)
    load = jobs("rw=randread bs=4k size=64m direct=1 rate_iops=100 time_based=1 runtime=1")
    found = judge(Case(load, said(read=direction(moved, 1.0)), Evidence(account(read=(moved, moved)), (disk,)), EXT4))
    (message,) = [each.message for each in found.findings if each.rule == "capped-rate"]
    assert f"they reached {reached}," in message
    assert ("rate-not-reached" in {each.rule for each in found.findings}) is not_reached
    assert ("requested rate" in message) is not not_reached, "a rate that was missed is not the requested one"
