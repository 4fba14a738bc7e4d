"""Conditions that apply to several results of a text: headings, virtual machines and rebuilding arrays."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

DISKMARK = """\
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
[Read]
  SEQ    1MiB (Q=  1, T= 1):   801.222 MB/s [    764.1 IOPS] <  1308.00 us>
  RND    4KiB (Q=  1, T= 1):    22.117 MB/s [   5399.7 IOPS] <   184.00 us>
[Write]
  SEQ    1MiB (Q=  1, T= 1):   744.105 MB/s [    709.6 IOPS] <  1402.00 us>
"""

YABS = """\
Processor  : AMD EPYC-Rome Processor
{virtual}
fio Disk Speed Tests (Mixed R/W 50/50):
---------------------------------
Block Size | 64k           (IOPS) | 512k          (IOPS)
Read       | 1.20 GB/s    (18.7k) | {rate} GB/s  ({iops})
Write      | 1.20 GB/s    (18.8k) | {rate} GB/s  ({iops})
"""

BONNIE = """\
{sentence}

      ------Sequential Output------ --Sequential Input- --Random-
                --Block-- -Rewrite-  --Block-- --Seeks--
                K/sec %CP K/sec %CP  K/sec %CP  /sec %CP
 six disks:     81020  20 40111   9  Raid6   151222  15 310.4   0
 five disks:    70311  18 33802   8  Raid5   120877  13 288.0   1

On a finished array:

      ------Sequential Output------ --Sequential Input- --Random-
                --Block-- -Rewrite-  --Block-- --Seeks--
                K/sec %CP K/sec %CP  K/sec %CP  /sec %CP
 six disks:     99020  24 50111  11  Raid6   201222  19 350.4   0
"""


def _rules(each: Audited) -> set[str]:
    return {finding.rule for finding in each.findings if finding.effect in ("suspects", "refutes")}


def _audited(text: str) -> list[Audited]:
    return list(audit_text("post", text, Context()))


@pytest.mark.parametrize(
    ("sentence", "is_memory"),
    [
        ("I then repeated this on the SATA SSD.", False),
        ("I then repeated this with more threads.", True),
        ("The SSD is slower than this RAM disk.", True),
    ],
)
def test_a_sentence_that_names_another_target_ends_a_heading(sentence: str, *, is_memory: bool) -> None:
    found = _audited(f"Inside the RAM disk:\n\n{DISKMARK}\n{sentence}\n\n{DISKMARK}")

    assert [("named-memory" in _rules(each)) for each in found] == [True] * 3 + [is_memory] * 3


@pytest.mark.parametrize(
    ("heading", "is_memory"),
    [
        ("Inside the RAM disk:", True),
        ("## tmpfs", True),
        ("**RAM drive**", True),
        ("## RAM disk\n\n\nAll tests, once:", True),
        ("MergerFS nullrw:", True),
        ("NVMe instead of a RAM disk:", False),
        ("RAM disk and SATA SSD:", False),
        ("## Creating a RAM disk", False),
        ("Then we moved the file to tmpfs:", False),
        ("## RAM disk\n\n\nOn the SATA disk:", False),
        ("# tmpfs", False),
    ],
)
def test_a_heading_that_names_memory_applies_to_all_results_below_it(heading: str, *, is_memory: bool) -> None:
    found = _audited(f"Two targets, one guest.\n\n{heading}\n\n{DISKMARK}\nOn the SSD again:\n\n{DISKMARK}")

    assert len(found) == 6
    assert [("named-memory" in _rules(each)) for each in found[:3]] == [is_memory] * 3
    assert all("named-memory" not in _rules(each) for each in found[3:])


@pytest.mark.parametrize(
    ("virtual", "rate", "iops", "is_suspect"),
    [
        ("VM Type    : KVM", "5.00", "9.7k", True),
        ("Hypervisor vendor:   KVM", "5.00", "9.7k", True),
        ("VM Type    : KVM", "2.50", "4.8k", False),
        ("VM Type    : NONE", "5.00", "9.7k", False),
        ("VM Type    : KVM\n\nThe other machine:\nVM Type    : NONE", "5.00", "9.7k", False),
    ],
)
def test_a_virtual_disk_faster_than_a_drive_is_suspect(virtual: str, rate: str, iops: str, *, is_suspect: bool) -> None:
    small, large = _audited(YABS.format(virtual=virtual, rate=rate, iops=iops))

    assert "guest-cache" not in _rules(small)
    assert ("guest-cache" in _rules(large)) == is_suspect


@pytest.mark.parametrize(
    ("sentence", "is_busy"),
    [
        ("Mind you, the array is still resyncing while I write this.", True),
        ("A scrub was running.", True),
        ("      [==>..................]  recovery = 12.9% (1/8) finish=9.9min speed=1K/sec", True),
        ("      [====>................]  check = 21.0% (1/8) finish=9.9min speed=1K/sec", True),
        ("  scan: resilver in progress since Mon Feb  7 10:00:00 2022", True),
        ("  scan: scrub repaired 0B in 03:00:10 with 0 errors", False),
        ("I waited until the array was not still rebuilding.", False),
        ("The disks were idle.", False),
    ],
)
def test_a_rebuilding_array_makes_all_rows_of_the_table_below_it_suspect(sentence: str, *, is_busy: bool) -> None:
    found = _audited(BONNIE.format(sentence=sentence))

    assert len(found) == 12
    assert [("background-io" in _rules(each)) for each in found] == [is_busy] * 8 + [False] * 4


def test_the_rate_of_a_blocking_engine_is_not_too_high_and_therefore_not_suspect() -> None:
    text = (
        "$ fio --name=a --filename=/dev/sdb1 --gtod_reduce=1 --rw=randread --bs=512k --ioengine=libaio --iodepth=64 "
        "--size=4g\n"
        "a: (groupid=0, jobs=1): err= 0: pid=2: Sat Oct 13 12:56:59 2018\n"
        "  read: IOPS=61, BW=30.5MiB/s (32.0MB/s)(4095MiB/134088msec)\n"
    )
    (found,) = audit_text("post", text, Context())
    assert found.verdict == "unproven"
    assert [each.effect for each in found.findings if each.rule == "async-engine-blocks"] == ["notes"]
