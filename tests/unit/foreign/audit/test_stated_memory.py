"""Statements that the tested device is in memory: sentences, settings and commands that create a RAM disk."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_OUTPUT = """\
   READ: bw=212MiB/s (222MB/s), 212MiB/s-212MiB/s (222MB/s-222MB/s), io=12.4GiB (13.3GB), run=60001-60001msec
"""


def _is_suspect(text: str) -> list[bool]:
    return [
        any(finding.rule == "named-memory" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("statement", "is_memory"),
    [
        ("The mapping target uses a 4G ramdisk for its data.", True),
        ("We measured the layer on top of an encrypted RAM device.", True),
        ("All runs are with null_blk.", True),
        ("$ sudo modprobe brd rd_nr=2", True),
        ("device: /dev/nullb1", True),
        ("# nbd-server 10809 /dev/ram1p1", True),
        ("# mdadm --create /dev/md7 --level=1 --raid-devices=2 /dev/ram0 /dev/ram1", True),
        ("backing device: /dev/nullb0", True),
        ("These are the numbers with the null_blk device:", True),
        ("The performance is worse on a ramdisk.", True),
        ("As I see now, its file system is tmpfs.", True),
        ("$ fio job.fio --filename=/dev/nullb2 --size=1g", True),
        ("Is its file system tmpfs or not?", False),
        ("The performance on an SSD is worse than on a ramdisk.", False),
        ("$ fio job.fio --filename=/data/nullb2 --size=1g", False),
        ("# zpool create p sda log /dev/ram0", False),
        ("# mkfs.ext4 /dev/ramips", False),
        ("The mapping target uses a 4G ramdisk for its journal.", False),
        ("The SSD is compared with a ramdisk.", False),
        ("We did not run this on a ramdisk.", False),
        ("We would use a ramdisk if there was enough RAM.", False),
        ("A ramdisk is faster.", False),
        ("I put it on a ramdisk.", False),
        ("## Using a ramdisk", False),
        ("device: /dev/sdb1", False),
        ("tmpfs on /run type tmpfs (rw,nosuid)", False),
    ],
)
def test_a_statement_that_the_device_is_in_memory_makes_slow_results_suspect_too(
    statement: str, *, is_memory: bool
) -> None:
    text = f"A new target for the device mapper.\n{statement}\n\nBefore:\n{_OUTPUT}\nAfter:\n{_OUTPUT}"

    assert _is_suspect(text) == [is_memory, is_memory]


@pytest.mark.parametrize(
    "between",
    [
        "Then on the NVMe drive:",
        "Then on the array:",
        "$ fio job.fio --filename=/data/file --runtime=60",
        "$ fio --name=a --filename=/data/file --rw=read --bs=4k --direct=1 --size=8g --runtime=60 --time_based",
    ],
)
def test_a_statement_ends_where_the_text_names_or_shows_another_target(between: str) -> None:
    text = f"The target uses a ramdisk.\n\nBefore:\n{_OUTPUT}\n{between}\n{_OUTPUT}"

    assert _is_suspect(text) == [True, False]


@pytest.mark.parametrize(
    ("device", "is_memory"), [("/dev/nbd3", True), ("/dev/mapper/slow", True), ("/dev/sdb", False)]
)
def test_devices_made_from_other_devices_may_be_in_memory(device: str, *, is_memory: bool) -> None:
    command = f"$ fio --name=a --filename={device} --rw=read --bs=4k --direct=1 --size=8g --runtime=60 --time_based"

    assert _is_suspect(f"$ nbd-server 10809 /dev/zram1\n{command}\n{_OUTPUT}") == [is_memory]


@pytest.mark.parametrize(
    ("column", "is_memory"),
    [
        ("tmpfs", True),
        ("Kernel A RamFS", True),
        ("ublk-mem", True),
        ("in-memory backend", True),
        ("tmpfs, then SSD", False),
        ("ublk-file", False),
        ("ext4", False),
    ],
)
def test_a_column_of_a_table_may_name_memory(column: str, *, is_memory: bool) -> None:
    table = (
        f"| test | {column} | btrfs |\n|---|---|---|\n| randread | IOPS=81k, BW=316MiB/s | IOPS=42k, BW=164MiB/s |\n"
    )

    assert _is_suspect(table) == [is_memory, False]


@pytest.mark.parametrize(
    ("several", "one"), [("two ramdisks", "one ramdisk"), ("two null_blk devices", "one null_blk device")]
)
def test_an_array_of_memory_devices_is_in_memory(several: str, one: str) -> None:
    text = f"All of this is with {several}.\n\nRAID1 (/dev/md5):\n{_OUTPUT}\nThe NVMe drive:\n{_OUTPUT}"

    assert _is_suspect(text) == [True, False]
    assert _is_suspect(text.replace(several, one)) == [False, False]
    assert _is_suspect(f"/dev/md5 is a mirror with {several}.\n\n{_OUTPUT}") == [True]
    assert _is_suspect(f"/dev/md5 is a mirror with {several} and the SSD.\n\n{_OUTPUT}") == [False]


def test_the_members_of_an_array_may_be_listed_in_memory() -> None:
    listed = "nullb0  252:0  0  8G  0 disk\nnullb1  252:1  0  8G  0 disk\n"
    text = (
        f"{listed}$ mdadm -E /dev/nullb0\n$ mdadm -E /dev/nullb1\n  Raid Level : raid0\n  Raid Devices : 2\n{_OUTPUT}"
    )

    assert _is_suspect(text) == [True]
    assert _is_suspect(f"$ mdadm -E /dev/nullb0\n{listed}{_OUTPUT}") == [True]
    assert _is_suspect(f"$ mdadm -E /dev/nullb0\nnvme0n1  259:0  0  8G  0 disk\n{_OUTPUT}") == [False]
    assert _is_suspect(f"$ losetup /dev/loop3 /dev/ram2\nRaid Level : raid0\n{_OUTPUT}") == [False]


_FAST = """\
   READ: bw=2120MiB/s (2223MB/s), 2120MiB/s-2120MiB/s (2223MB/s-2223MB/s), io=124GiB (133GB), run=60001-60001msec
"""


@pytest.mark.parametrize(
    ("sentence", "is_memory"),
    [
        ("That is clearly cached.", True),
        ("These are just the ARC.", True),
        ("This is only measuring RAM.", True),
        ("It reads mostly from the host page cache.", True),
        ("Second run, with a warm cache.", True),
        ("The difference is due to ZFS caching.", True),
        ("It is hitting the SSD cache tier.", False),
        ("It reads from cache devices of lvm-cache.", False),
        ("I cleared the page cache first.", False),
        ("This is not due to caching.", False),
        ("It also measures the CPU.", False),
    ],
)
def test_people_say_in_many_ways_that_a_fast_result_comes_from_a_cache(sentence: str, *, is_memory: bool) -> None:
    assert _is_suspect(f"The volume:\n{_FAST}\n{sentence}\n") == [is_memory]
    assert _is_suspect(f"The volume:\n{_OUTPUT}\n{sentence}\n") == [False]


@pytest.mark.parametrize(
    ("heading", "is_cached"),
    [
        ("# Reads (cached)", True),
        ("### Cached reads", True),
        ("**Sequential read (page-cached):**", True),
        ("## Reads from the page cache", True),
        ("# Reads (uncached)", False),
        ("# Cached and direct reads", False),
        ("### Cached reads (bcache)", False),
        ("## Reads with cache drive", False),
        ("The reads are cached", False),
    ],
)
def test_a_heading_says_that_the_reads_are_cached(heading: str, *, is_cached: bool) -> None:
    fast = "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 0.7 s, 3.1 GB/s\n"
    slow = "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 4.4 s, 488 MB/s\n"

    assert _is_suspect(f"{heading}\n\n{fast}\n{slow}\n## Reads after a restart\n\n{fast}") == [is_cached, False, False]


@pytest.mark.parametrize(
    ("sentence", "is_memory"),
    [
        ("感觉测试结果是从内存跑出来的", True),
        ("感觉测试结果不是从内存跑出来的", False),
        ("Die Datei liegt komplett im RAM.", True),
        ("Die Datei liegt nicht im RAM.", False),
        ("Это чтение из кэша", True),
        ("先清了缓存", False),
    ],
)
def test_people_say_so_in_other_languages(sentence: str, *, is_memory: bool) -> None:
    text = f"{sentence}\n\nrandread: IOPS=310k, BW=1211MiB/s (1270MB/s)\n"

    (audited,) = audit_text("post", text, Context())

    assert any(finding.rule == "named-memory" for finding in audited.findings) is is_memory


def test_a_sentence_above_a_long_table_applies_to_all_of_its_rows() -> None:
    rows = "".join(f"| {block}k randread | 310k | 330k |\n" for block in range(1, 21))
    text = f"All reads come from the page cache:\n\n| Test | Read IOPS | Write IOPS |\n|--|--|--|\n{rows}"

    found = audit_text("post", text, Context())

    assert [each.verdict for each in found] == ["suspect"] * len(found)
    assert len(found) >= 20
