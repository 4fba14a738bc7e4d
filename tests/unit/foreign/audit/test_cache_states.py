"""Headings, columns and rows that state whether the cache was warm or cold, and names of devices in memory."""

import pytest

from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.texts import audit_text

_FAST = "   READ: bw=2120MiB/s (2223MB/s), 2120MiB/s-2120MiB/s, io=124GiB (133GB), run=60001-60001msec\n"


def _suspects(text: str) -> list[bool]:
    return [
        any(finding.rule == "named-memory" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("heading", "is_cached"),
    [
        ("## Random read (host page cache warm)", True),
        ("## Random read, QD1 (warm cache)", True),
        ("### Sequential and random reads (cached)", True),
        ("**From page cache**", True),
        ("=== warm cache ===", True),
        ("--- ARC warm ---", True),
        ("Second pass, hot cache:", True),
        ("## Random read (page cache dropped)", False),
        ("## Random read (cold cache)", False),
        ("## Cold cache, then warm cache", False),
        ("## Reads with the cache drive warmed up", False),
        ("=== cold ===", False),
        ("## Random read (warm-up)", False),
        ("Cached pool (SSD):", False),
    ],
)
def test_a_heading_states_the_cache_up_to_the_next_heading(heading: str, *, is_cached: bool) -> None:
    assert _suspects(f"{heading}\n\n{_FAST}\n## Reads after a restart\n\n{_FAST}") == [is_cached, False]


def test_a_heading_below_a_result_is_about_the_next_one() -> None:
    assert _suspects(f"## Cold\n{_FAST}\n=== warm cache ===\n{_FAST}") == [False, True]
    assert _suspects(f"## Reads\n{_FAST}\n# That is the page cache warm\n") == [False]
    assert _suspects(f"## Reads\n{_FAST}\n# This was read from the page cache\n") == [True]


@pytest.mark.parametrize(
    ("header", "row", "suspects"),
    [
        ("Test | Cold read MB/s | Warm read MB/s", "fio seq | 1450 | 5200", [False, True]),
        ("Test | Direct read (MB/s) | Cached read (MB/s)", "xfs | 1450 | 5200", [False, True]),
        ("Test | Read MB/s (page cache) | Read MB/s (direct)", "xfs | 5200 | 1450", [True, False]),
        ("Test | Uncached read (MB/s) | Cached read (MB/s)", "xfs | 45 | 52", [False, False]),
        ("Cache | rw | IOPS | MB/s", "warm | randread | 310000 | 1270", [True]),
        ("Cache | rw | IOPS | MB/s", "cold | randread | 310000 | 1270", [False]),
        ("Pool | rw | IOPS | MB/s", "hot spare | randread | 310000 | 1270", [False]),
        ("Device | rw | IOPS | MB/s", "nullb0 | randread | 310000 | 1270", [True]),
        ("Device | rw | IOPS | MB/s", "scsi_debug | randread | 310000 | 1270", [True]),
        ("Device | rw | IOPS | MB/s", "sdb | randread | 310000 | 1270", [False]),
    ],
)
def test_a_column_or_a_row_states_the_cache_or_names_memory(header: str, row: str, suspects: list[bool]) -> None:
    cells = header.count("|") + 1

    assert _suspects(f"fio results:\n\n| {header} |\n|{'---|' * cells}\n| {row} |\n") == suspects


def test_a_row_that_is_cold_takes_precedence_over_the_heading() -> None:
    table = "| Test | IOPS | MB/s |\n|---|---|---|\n| randread | 310k | 1270 |\n| randread {} | 320k | 1310 |\n"

    assert _suspects(f"## Random read (warm cache)\n\n{table.format('QD32')}") == [True, True]
    assert _suspects(f"## Random read (warm cache)\n\n{table.format('O_DIRECT')}") == [True, False]


@pytest.mark.parametrize(
    ("sentence", "is_memory"),
    [
        ("This measures the page cache, not storage.", True),
        ("It reads from the page cache rather than the actual disk.", True),
        ("It does not read from the page cache.", False),
        ("It reads from the disk, not from the page cache.", False),
    ],
)
def test_a_contrast_with_the_disk_is_not_a_negation(sentence: str, *, is_memory: bool) -> None:
    assert _suspects(f"The volume:\n{_FAST}\n{sentence}\n") == [is_memory]


_RANDOM = """\
$ fio --name=r --filename=/tank/f --rw={rw} --bs=1m --size=500m --ioengine=psync --iodepth=1 --invalidate=0 {more}
r: (groupid=0, jobs=1): err= 0: pid=2792: Thu Dec 10 23:58:35 2020
  read: IOPS=43, BW=43.7MiB/s (45.9MB/s)(500MiB/11432msec)
    clat (usec): min=685, max=173592, avg=22859.43, stdev=15543.06
    clat percentiles (usec):
     |  1.00th=[  734],  5.00th=[ 2321], 10.00th=[{tenth}], 20.00th=[15926], 50.00th=[19926]
"""


@pytest.mark.parametrize(
    ("rw", "tenth", "more", "is_warm"),
    [
        ("randread", 5407, "", False),
        ("randread", 5080, "", True),  # 1 ms and 1 MiB at 250 MB/s are 5.19 ms
        ("read", 5407, "", True),
        ("randread", 5407, "--numjobs=2 --ioengine=libaio --iodepth=8", True),
    ],
)
def test_random_reads_that_waited_for_disks_did_not_come_from_a_warm_cache(
    rw: str, tenth: int, more: str, *, is_warm: bool
) -> None:
    (audited,) = audit_text("post", _RANDOM.format(rw=rw, tenth=tenth, more=more), Context())
    rules = {finding.rule for finding in audited.findings if finding.effect == "suspects"}
    assert ("invalidate-is-not-cold" in rules) is is_warm
    assert ("repeated-offsets" in rules) is (is_warm and rw == "randread")


def test_waiting_for_disks_also_excludes_a_cache_larger_than_the_file() -> None:
    text = f"RAM: 64 GB\n{_RANDOM.replace('--invalidate=0', '--invalidate=1 --runtime=60 --time_based')}"
    rules = [
        {finding.rule for finding in each.findings if finding.effect == "suspects"}
        for tenth in (5407, 5080)
        for each in audit_text("post", text.format(rw="randread", tenth=tenth, more=""), Context(ram_bytes=64 << 30))
    ]
    assert ["size-below-cache" in found for found in rules] == [False, True]


@pytest.mark.parametrize(
    ("options", "effect"),
    [
        ("", "notes"),
        ("--loops=4", "suspects"),
        ("--invalidate=0", "suspects"),
        ("--time_based --runtime=5", "suspects"),
    ],
)
def test_a_single_pass_after_fio_has_dropped_the_files_is_only_a_note(options: str, effect: str) -> None:
    command = f"fio --name=a --filename=/srv/a --rw=randread --bs=4k --size=64m {options}\n"
    result = "  read: IOPS=9041, BW=35.3MiB/s (37.0MB/s)(64.0MiB/1812msec)\n"
    (audited,) = audit_text("post", command + result, read_context(fs="ext4", ram="24G"))
    assert [each.effect for each in audited.findings if each.rule == "size-below-cache"] == [effect]
