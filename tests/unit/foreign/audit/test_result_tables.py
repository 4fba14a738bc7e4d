"""Tables of results in the forms in which people post them."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.tables.tables import find_tables
from poolproof.foreign.audit.texts import audit_text

KIB, MIB = 1024, 1024**2

Value = tuple[str, float, float | None]  # a direction, IOPS (0 if unknown) and bytes/s


def _values(text: str) -> list[tuple[str, object, object]]:
    return [
        (name, values.iops or 0, values.bandwidth_bytes)
        for audited in audit_text("post", text, Context())
        for name, values in audited.figures.directions.items()
    ]


DIRECTION_IN_BRACKETS = """\
| Layout | IOP/s (R) | BW (R) | IOP/s (W) | BW (W) |
|---|---|---|---|---|
| mirror 4k | **12.3k** | 48.0 MB | 4,100 | 16.0 MB |
| raidz 4k | 8000 | 31.25MiB/sec | - | - |
"""
DIRECTION_IN_ROWS = """\
| Test | Bandwidth |
|---|---|
| Write | 129 MiB/s |
| Read | 97 MiB/s |
"""
METRICS_IN_ROWS = """\
| Metric | ext4 | xfs | delta |
|---|---|---|---|
| 4k Read IOPS | 8402.34 | 9000 | 597 |
| 4k Read BW (MB/s) | 34.42 | 36.86 | 2.4 |
| 4k Write IOPS | 5,000,000+ | 267K | -95 |
"""
METRICS_IN_ROWS_DIRECTIONS_IN_COLUMNS = """\
| | randread | randwrite |
|---|---|---|
| IOPS | 52.1k | 10.2k |
| BW | 203MiB/s | 40MiB/s |
"""
METRIC_IN_THE_CORNER = "| IOPS | Read | Write |\n|---|---|---|\n| ext4 | 52100 | 10,200 |\n"
METRIC_IN_THE_CORNER_OF_LAYOUTS = "| IOPS | ext4 | xfs |\n|---|---|---|\n| randread | 52100 | 10,200 |\n"
METRIC_ABOVE = "### Bandwidth (MiB/s)\n\n| fs | Read | Write |\n|---|---|---|\n| ext4 | 100 | 50 |\n"
DIRECTION_IN_THE_CORNER = "| Random write | IOPS | BW |\n|---|---|---|\n| 4k | **1234** | 4936 KiB/s |\n"
RATE_IN_BRACKETS = """\
| bs | Read | Write |
|---|---|---|
| 16k | 8286(129 MB/secs) | 6000(94 MB/secs) |
"""
RATE_IN_BRACKETS_WITHOUT_BLOCK = RATE_IN_BRACKETS.replace("| bs |", "| pool |").replace("16k", "tank")
BLANKS = """\
Test Description                                      BW(MB/s)      IOPS  Lat(us)
----------------------------------------------------- -------- --------- --------
Sustained Sequential Read by Block Size, BS=4096         41.94    10,240      0.0
Sustained Random Write by Block Size, BS=4096            40.96     10000      0.0
"""
TWO_LINES_OF_HEADERS = """\
                                     bw                                iops
bs          rw              xfs              ext 4           xfs            ext 4
4k       randread       40 MiB/s        20 MiB/s         10240         5120
16k      randwrite      80 MiB/s        -                5120          -
"""
TWO_ROWS_OF_HEADERS = """\
| | IOPS | | BW | |
|---|---|---|---|---|
| Test | xfs | ext4 | xfs | ext4 |
| 4k read | 10240 | 5120 | 40 MiB/s | 20 MiB/s |
"""
BENCHMARKS = """\
| Benchmark | Result |
| --- | --- |
| gio 4K random read | 20.48 MB/s |
| fio 1M sequential write | 300MB/s |
| Random read QD1 | 5,120 IOPS |
| Read cache | 64 MB |
| Geekbench | 900 |
"""
LIMITS_OF_PARTS = "| Part | Price |\n|---|---|\n| SSD with 500 MB/s read | 50 EUR |\n| Read of the SSD | 500 MB/s |\n"
PAIRS_OF_TARGETS = """\
| Operation | Ceph | Local |
|---|---|---|
| Read | 300(4.7 MB/secs) | 7000(109 MB/secs) |
| Write | 380(6 MB/secs) | 556(9 MB/secs) |
"""
COUNTS_OF_FILES = "| | Before | After |\n|---|---|---|\n| Read | 300 (4.1 MB/s) | 370 (5.3 MB/s) |\n"
SINGLE_BLANKS = "bs IOPS BW lat\n4k read 10240 40 MiB/s 20us\n"
A_CELL_PER_LINE = """\
Test
IOPS
BW (MiB/s)
Lat
randread

52,100
203.5
597us
randwrite
10.2k
39.8
1.2ms
That was the last test of this disk, and it took rather long.
"""
TWO_TESTS = """\
| Mode | Rand Read IOPS | Seq Read BW (KiB/s) |
|---|---|---|
| polling | 6,996 | **370,937** |
"""
SAME_RATE_TWICE = "rw        bw(KiB/s)  iops  bw(MiB/s)\nrandread  40000      10000 39.1\n"
GROUPS = """\
| host | IOPS | BW | IOPS | BW |
|---|---|---|---|---|
| a | 195 | 780KiB/s | 7349 | 28.7MiB/s |
"""
TWO_TABLES = f"{DIRECTION_IN_THE_CORNER}\n| Other | 1 | 2 |\n|---|---|---|\n| 4k | 77 | 2 MiB/s |\n"
LIST = "Operations:      1000\nWrite IOPS:      27027.03\nBandwidth:       105.57 MiB/s (110.70 MB/s)\n"
TABS = "Test\tIOPS\tBW\n4k read\t100\t409.6 kB/s\n"
AS_CSV_TOO = "| rw | IOPS | BW |\n|--|--|--|\n| read | 100 | 1 MiB/s |\n\nrw,IOPS,BW\nread,100,1 MiB/s\n"

SPREADS = """\
+-----------+------------+------------+
|   MiB/s   |    fuse    | native 91% |
+-----------+------------+------------+
| read      | 471(±1.3%) | 1839 ± 12  |
| write     | 95 (2.5%)  | 1322       |
+-----------+------------+------------+
"""
SUM = "| way | IOPS | BW |\n|--|--|--|\n| read | 100 | 1 MiB/s |\n| **Total** | 200 | 2 MiB/s |\n"
BLOCK_ABOVE = "### randrw, 8 K\n\n| ID | Read IOPS | Read BW (MB/s) |\n|--|--|--|\n| D | 2595 | 20.3 |\n"
RATE_WITH_UNIT_ABOVE = "| fs | randW IOPS (MiB/s) |\n|--|--|\n| ext4 | 166.5k (650) |\n"
EITHER = "| store | iops/bandwidth |\n|--|--|\n| 4k randwrite | 3539 |\n| 512k read | 216 MiB/s |\n"
NAMED_METRICS = """\
| phase | ours IOPS | ours BW | nvmet IOPS | nvmet BW | ours vs nvmet |
|--|--|--|--|--|--|
| 4k randread | 254.2k | 993 MiB/s | 228.7k | 894 MiB/s | **+11.1%** |
"""
WITH_A_VERDICT = """\
| workload | one | two | verdict |
|---|---|---|---|
| rand 4k read IOPS | **230k** | 35k | one +552% |
"""
SOME_UNITS = """\
| workload (one disk) | one | two | verdict |
|---|---|---|---|
| seq write 1M | 499 MB/s | **669** | +34% |
| seq read (ARC) | **8510** | 3446 | +147% |
| seq read latency | 12 | 13 | same |
| metadata reads | 53881 | 87810 | +63% |
"""
BOTH_IN_NAMED_ROWS = """\
| Metric | plain | other | Ratio |
|---|---|---|---|
| fio 4k randread | 19,764 IOPS (~77.2 MiB/s) | 111,820 IOPS (~437 MiB/s) | 5.6x faster |
| dd write | 0.19 s | 0.20 s | comparable |
"""
INVALID = "| test | Read IOPS | Write IOPS |\n|--|--|--|\n| a | 100 | — (invalid) |\n"

TABLES: dict[str, tuple[str, list[Value]]] = {
    "direction in brackets": (
        DIRECTION_IN_BRACKETS,
        [("read", 12_300, 48 * MIB), ("write", 4100, 16 * MIB), ("read", 8000, 31.25 * MIB)],
    ),
    "direction in rows": (DIRECTION_IN_ROWS, [("write", 0, 129 * MIB), ("read", 0, 97 * MIB)]),
    "metrics in rows": (
        METRICS_IN_ROWS,
        [("read", 8402.34, 34.42e6), ("read", 9000, 36.86e6), ("write", 5e6, None), ("write", 267_000, None)],
    ),
    "directions in columns": (
        METRICS_IN_ROWS_DIRECTIONS_IN_COLUMNS,
        [("read", 52_100, 203 * MIB), ("write", 10_200, 40 * MIB)],
    ),
    "a verdict in the last column": (WITH_A_VERDICT, [("read", 230_000, None), ("read", 35_000, None)]),
    "units of some cells": (
        SOME_UNITS,
        [("write", 0, 499e6), ("write", 0, 669e6), ("read", 0, 8510e6), ("read", 0, 3446e6)],
    ),
    "metric in the corner": (METRIC_IN_THE_CORNER, [("read", 52_100, None), ("write", 10_200, None)]),
    "metric of layouts": (METRIC_IN_THE_CORNER_OF_LAYOUTS, [("read", 52_100, None), ("read", 10_200, None)]),
    "metric above": (METRIC_ABOVE, [("read", 0, 100 * MIB), ("write", 0, 50 * MIB)]),
    "direction in the corner": (DIRECTION_IN_THE_CORNER, [("write", 1234, 4936 * KIB)]),
    "rate in brackets": (RATE_IN_BRACKETS, [("read", 8286, 129 * MIB), ("write", 6000, 94 * MIB)]),
    "unit from the IOPS": (
        RATE_IN_BRACKETS_WITHOUT_BLOCK, [("read", 8286, 129 * MIB), ("write", 6000, 94 * MIB)],
    ),
    "pairs of targets": (
        PAIRS_OF_TARGETS,
        [("read", 300, 4.7 * MIB), ("read", 7000, 109 * MIB), ("write", 380, 6e6), ("write", 556, 9e6)],
    ),
    "two lines of headers": (
        TWO_LINES_OF_HEADERS, [("read", 10_240, 40 * MIB), ("read", 5120, 20 * MIB), ("write", 5120, 80 * MIB)],
    ),
    "two rows of headers": (TWO_ROWS_OF_HEADERS, [("read", 10_240, 40 * MIB), ("read", 5120, 20 * MIB)]),
    "benchmarks and results": (BENCHMARKS, [("read", 0, 20.48e6), ("write", 0, 300e6), ("read", 5120, None)]),
    "another kind of table": (LIMITS_OF_PARTS, []),
    "counts that are not IOPS": (COUNTS_OF_FILES, []),
    "aligned by blanks": (BLANKS, [("read", 10_240, 41.94e6), ("write", 10_000, 40.96e6)]),
    "single blanks": (SINGLE_BLANKS, [("read", 10_240, 40 * MIB)]),
    "a cell per line": (A_CELL_PER_LINE, [("read", 52_100, 203.5 * MIB), ("write", 10_200, 39.8 * MIB)]),
    "two tests in a row": (TWO_TESTS, [("read", 6996, None), ("read", 0, 370_937 * KIB)]),
    "a rate in two units": (SAME_RATE_TWICE, [("read", 10_000, 40_000 * KIB)]),
    "groups of columns": (GROUPS, [("mixed", 195, 780 * KIB), ("mixed", 7349, 28.7 * MIB)]),
    "another table below": (TWO_TABLES, [("write", 1234, 4936 * KIB)]),
    "a list": (f"fio --name=a --rw=write --bs=4k\n{LIST}", [("write", 27027.03, 105.57 * MIB)]),
    "tabs": (TABS, [("read", 100, 409_600)]),
    "spreads": (
        SPREADS, [("read", 0, 471 * MIB), ("read", 0, 1839 * MIB), ("write", 0, 95 * MIB), ("write", 0, 1322 * MIB)],
    ),
    "a sum": (SUM, [("read", 100, MIB)]),
    "block size above": (BLOCK_ABOVE, [("read", 2595, 20.3 * MIB)]),
    "brackets with the unit above": (RATE_WITH_UNIT_ABOVE, [("write", 166_500, 650 * MIB)]),
    "IOPS or a rate": (EITHER, [("write", 3539, None), ("read", 0, 216 * MIB)]),
    "metrics of two targets": (NAMED_METRICS, [("read", 254_200, 993 * MIB), ("read", 228_700, 894 * MIB)]),
    "both in named rows": (BOTH_IN_NAMED_ROWS, [("read", 19_764, 77.2 * MIB), ("read", 111_820, 437 * MIB)]),
    "a missing value": (INVALID, [("read", 100, None)]),
    "repeated as CSV": (AS_CSV_TOO, [("read", 100, MIB)]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_value_of_a_table_is_read_once(name: str) -> None:
    text, expected = TABLES[name]

    about = [(way, pytest.approx(iops), rate and pytest.approx(rate, rel=1e-3)) for way, iops, rate in expected]
    assert _values(text) == about


@pytest.mark.parametrize(
    "text",
    [
        "| Tier | Read Throughput | Read IOPS |\n|---|---|---|\n| Free | 50 MB/s | 500 |\n",
        "| Disk type | IOPS (Read) | Throughput | Cost |\n|---|---|---|---|\n| balanced | 3000 | 140 MB/s | low |\n",
        "## Storage configuration\n\n| Part | Throughput | IOPS |\n|--|--|--|\n| MySQL | 125 MB/s | 3000 |\n",
        "| Volume | Max IOPS | Burst IOPS |\n|--|--|--|\n| read | 3000 | 9000 |\n",
        "| Volume | gp3 IOPS |\n|--|--|\n| read | 3000 |\n",
        "| Test | Provisioned IOPS |\n|---|---|\n| read | 3000 |\n",
        "| Metric | Target |\n|---|---|\n| Read IOPS | similar |\n",
        "| | HDD | NVMe |\n|---|---|---|\n| Random read IOPS | 150 | hundreds of thousands |\n",
        "| | HDD | NVMe | factor |\n|---|---|---|---|\n| Random read IOPS | 100-200 | 5000 | 25x |\n",
        "| Test Item | host | sandbox |\n|---|---|---|\n| read | 1416 | 4509 |\n",
        "| fs | IOPS |\n|---|---|\n| ext4 | 5200 |\n",
        "| Test | Link (Mb/s) |\n|---|---|\n| read | 129 |\n",
        "### Random Read IOPs - Rate Limited\nWe use 1 node.\nWe see if the system achieves 31467 random read IOPs.\n",
    ],
    ids=[
        "tiers",
        "prices",
        "configuration",
        "burst",
        "one name",
        "words",
        "goals",
        "words for values",
        "ranges",
        "no metric",
        "no direction",
        "bits",
        "prose",
    ],
)
def test_other_tables_are_not_results(text: str) -> None:
    assert find_tables(text) == ()


UNNAMED = "| test | iops | bw |\n|---|---|---|\n| polling on | 244k | 953MiB/s |\n| polling off | 345k | 1414 MB/s |\n"
JOB_FILE = "[global]\nbs=4k\nrw=randread\nioengine=io_uring\n[device]\nfilename=/dev/sdb\n\n"
OTHER_JOB = "fio --name=w --rw=randwrite --bs=64k --filename=/dev/sdb\n\n"


@pytest.mark.parametrize(
    ("above", "direction"), [("", "mixed"), (JOB_FILE, "read"), (OTHER_JOB, "write"), (JOB_FILE + OTHER_JOB, "mixed")]
)
def test_the_only_job_of_a_text_names_the_direction(above: str, direction: str) -> None:
    assert {name for name, *_ in _values(above + UNNAMED)} == {direction}


def test_the_block_size_of_the_only_job_shows_the_unit() -> None:
    text = "| test | IOPS | BW (MB/s) |\n|---|---|---|\n| a read | 10000 | 39.06 |\n"

    assert [rate for *_, rate in _values(text)] == [None]
    assert [rate for *_, rate in _values(JOB_FILE + text)] == [pytest.approx(39.06 * MIB)]


def test_a_row_for_both_directions_does_not_take_that_of_the_job() -> None:
    text = UNNAMED.replace("polling on", "randrw").replace("polling off", "50/50")

    assert {name for name, *_ in _values(JOB_FILE + text)} == {"mixed"}


@pytest.mark.parametrize(
    ("headings", "found"),
    [
        ("## Random read\n\n### Large machine\n", ["read"]),
        ("## Random read\n\n### Large machine\n\n## Other\n", []),
        ("## Random read\n\n### Random writes\n\n#### Large machine\n", ["write"]),
        ("## Random read\n\n### Mixed jobs (r/w)\n\n#### Large machine\n", []),
        ("# Random read\n\n### Large machine\n", []),
    ],
)
def test_a_pair_without_direction_has_that_of_the_sections_around_it(headings: str, found: list[str]) -> None:
    text = f"{headings}\n- job-xfs: IOPS=10.2k, BW=40.0MiB/s (41.9MB/s)(2400MiB/60001msec)\n"

    assert [way for way, _, _ in _values(text)] == found


@pytest.mark.parametrize(
    ("sections", "way"),
    [
        ("## Random write\n\n### Small machine\n", "write"),
        ("## Random write\n\n## Small machine\n", "read"),
        ("## Random write\n\n### Mixed (r/w)\n\n#### Small machine\n", "mixed"),
    ],
)
def test_the_rows_of_a_table_have_the_direction_of_the_sections_before_that_of_the_jobs(
    sections: str, way: str
) -> None:
    jobs = "fio --name=a --rw=randread --bs=4k --filename=/dev/sdb\n\n"
    table = "| layout | IOPS | BW |\n|---|---|---|\n| xfs | 10240 | 40 MiB/s |\n"

    assert [each for each, _, _ in _values(f"{jobs}{sections}\n{table}")] == [way]
