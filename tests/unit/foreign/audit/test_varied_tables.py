"""Tables whose rows or columns vary a parameter of the job, and grids whose header has several lines."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.tables.tables import find_tables
from poolproof.foreign.audit.texts import audit_text

GRID = """\
+-----------+-----------------------+-----------------------+
|  bs=8K    |       randread        |      randwrite        |
| iodepth=4 +-----------+-----------+-----------+-----------+
|  (IOPS)   |   old fw  |   new fw  |   old fw  |   new fw  |
+-----------+-----------+-----------+-----------+-----------+
| numjobs=1 |   11,250  |   14,800  |    8,120  |    9,033  |
+-----------+-----------+-----------+-----------+-----------+
| numjobs=8 |   71.2k   |   88.4k   |   30.1k   |   33.9k   |
+-----------+-----------+-----------+-----------+-----------+
"""
BOXED = GRID.translate({ord("|"): "│", ord("-"): "─", ord("+"): "┼"})
IN_GRID = [
    ("numjobs=1 old-fw random", 11_250.0, 8120.0),
    ("numjobs=1 new-fw random", 14_800.0, 9033.0),
    ("numjobs=8 old-fw random", 71_200.0, 30_100.0),
    ("numjobs=8 new-fw random", 88_400.0, 33_900.0),
]
TITLED = """\
Measured with fio:

+--------------------------------+
|        randwrite, 16k          |
+----------+----------+----------+
|          |   IOPS   |    BW    |
+==========+==========+==========+
| one disk |   2100   | 33 MiB/s |
| a mirror |   2040   | 32 MiB/s |
+----------+----------+----------+
"""


def _values(text: str) -> list[tuple[str, float | None, float | None]]:
    return [
        (part.name, part.read.iops if part.read else None, part.write.iops if part.write else None)
        for found in find_tables(text)
        for part in found.result.parts
    ]


@pytest.mark.parametrize("grid", [GRID, BOXED, GRID.replace("\n", "\n    ")], ids=["ASCII", "box drawing", "indented"])
def test_a_header_of_several_lines_names_direction_metric_and_layout(grid: str) -> None:
    assert _values(grid) == IN_GRID


def test_a_title_may_span_the_whole_grid() -> None:
    assert _values(TITLED) == [
        ("one disk random 16k", None, 2100.0),
        ("a mirror random 16k", None, 2040.0),
    ]


def test_every_result_has_the_line_of_its_row() -> None:
    assert [found.line for found in find_tables(GRID)] == [6, 6, 8, 8]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (
            "| randwrite IOPS | QD1 | QD32 |\n|---|---|---|\n| ext4 | 1100 | 12000 |\n",
            [("ext4 QD1", None, 1100.0), ("ext4 QD32", None, 12_000.0)],
        ),
        (
            "| random read IOPS | numjobs=1 | numjobs=4 |\n|---|---|---|\n| plain | 9000 | 31k |\n",
            [("plain numjobs=1", 9000.0, None), ("plain numjobs=4", 31_000.0, None)],
        ),
        (
            "### Random read IOPS\n\n| numjobs | ext4 | xfs |\n|---|---|---|\n| 16 | 41000 | 42500 |\n",
            [("16 ext4", 41_000.0, None), ("16 xfs", 42_500.0, None)],
        ),
        (
            "**Random write IOPS**\n\n| block size | sda | sdb |\n|---|---|---|\n| 16k | 610 | 590 |\n",
            [("16k sda", None, 610.0), ("16k sdb", None, 590.0)],
        ),
    ],
    ids=["depths", "jobs", "jobs in rows", "block sizes in rows"],
)
def test_a_table_may_vary_a_parameter_of_the_job(
    table: str, found: list[tuple[str, float | None, float | None]]
) -> None:
    assert _values(table) == found


@pytest.mark.parametrize(
    "text",
    [
        GRID.replace("(IOPS)", "(p99) "),
        GRID.replace("(IOPS)", "limits"),
        GRID.replace("randread ", "old disk ").replace("randwrite", "new disk "),
        "+-----------+-----------+\n| controller (read/write)|\n|  +-----+  |  +-----+  |\n|  | sda |  |  | sdb |  |\n"
        "|  +-----+  |  +-----+  |\n+-----------+-----------+\n",
        "### Random read IOPS\n\n| numjobs | ext4 | xfs |\n|---|---|---|\n| 16 | 1.2 ms | 1.3 ms |\n",
        "### Random read IOPS\n\n| numjobs | average | worst |\n|---|---|---|\n| 16 | 9000 | 8000 |\n",
        "### Random read IOPS\n\n| numjobs | latency (us) | CPU |\n|---|---|---|\n| 16 | 310 | 44 |\n",
        "### Random read IOPS\n\n| numjobs | required | target |\n|---|---|---|\n| 16 | 9000 | 8000 |\n",
        "### Options\n\n| numjobs | iodepth | bs |\n|---|---|---|\n| 16 | 32 | 4096 |\n",
        "### Random read IOPS\n\n| volume | gp2 | gp3 |\n|---|---|---|\n| 100 GiB | 300 | 3000 |\n",
        "| IOPS | QD1 | QD32 |\n|---|---|---|\n| ext4 | 1100 | 12000 |\n",
    ],
    ids=[
        "grid of latencies",
        "grid of limits",
        "grid without direction",
        "diagram",
        "latencies",
        "averages",
        "other columns",
        "goals",
        "options",
        "volumes",
        "no direction",
    ],
)
def test_other_grids_and_tables_are_not_results(text: str) -> None:
    assert find_tables(text) == ()


def _per_disk(head: str, *rows: str) -> str:
    return "\n".join((f"| {head} | disk A (1TB) | disk B (1TB) |", "|---|---|---|", *rows)) + "\n"


TESTS = ("| Seq Q8T1 Read | 3,410 MB/s | 5,020 MB/s |", "| Random 4K Q32T4 Write | 512K IOPS | 1,130K IOPS |")
PLAIN = ("| Sequential Read | 3,410 MB/s | 5,020 MB/s |", "| Random 4K Write | 512K IOPS | 1,130K IOPS |")


@pytest.mark.parametrize("table", [_per_disk("", *TESTS), _per_disk("Test", *PLAIN), _per_disk("Benchmark", *TESTS)])
def test_a_table_of_tests_may_have_a_column_for_each_disk(table: str) -> None:
    found = [
        (kind, each.bandwidth_bytes or each.iops)
        for result in find_tables(table)
        for part in result.result.parts
        for kind, each in part.directions.items()
    ]

    assert found == [("read", 3.41e9), ("read", 5.02e9), ("write", 512e3), ("write", 1.13e6)]


@pytest.mark.parametrize(
    "table",
    [
        _per_disk("", *PLAIN),
        _per_disk("Feature", *PLAIN),
        _per_disk("Test", "| Price | 99 EUR | 129 EUR |", *PLAIN),
        _per_disk("Test", "| Interface | PCIe 4.0 x4 | PCIe 4.0 x4 |", *TESTS),
        _per_disk("Test", *(row.replace("3,410", "up to 3,410") for row in TESTS)),
        _per_disk("Test", *TESTS).replace("disk B (1TB)", "specified"),
        _per_disk("Test", *TESTS).replace("disk A (1TB)", "Minimum"),
        _per_disk("Test", "| Read | 1.2 ms | 1.3 ms |", "| Write | 87 | 91 |", "| Seq Read | 410 MB | 410 MB |"),
    ],
    ids=["no tests", "features", "prices", "interfaces", "up to", "specified", "requirements", "no rates"],
)
def test_a_data_sheet_is_not_a_table_of_tests(table: str) -> None:
    assert find_tables(table) == ()


def test_columns_with_the_parameters_of_the_tests_may_precede_the_values() -> None:
    table = (
        "| Test | Pattern | Block size | Jobs | Depth | old pool | new pool |\n"
        "|---|---|---|---|---|---|---|\n"
        "| Seq. read | read | 1 MiB | 1 | 8 | 402 MiB/s | **611 MiB/s** |\n"
        "| Rand write IOPS | randwrite | 8 KiB | 4 | 16 | 1,204 | 2,950 |\n"
    )
    found = audit_text("post", table, Context())
    names = ["Seq. read old pool", "Seq. read new pool", "Rand write IOPS old pool", "Rand write IOPS new pool"]
    assert [each.job for each in found] == names
    assert [each.figures.directions["read"].bandwidth_bytes for each in found[:2]] == [402 * 2**20, 611 * 2**20]
    assert [each.figures.directions["write"].iops for each in found[2:]] == [1204, 2950]


_WITH_NAMES_IN_TWO_COLUMNS = """\
| Category | Test | Result |
|:-|:-|:-|
| Copy | Disk Write | 130 MB/s |
| Big file | 4k Random Read | 41710 IOPS |
| Big file | 4k Random Read | 166843 KB/s |
| Big file | 4k Random Write | 12047 IOPS |
| **Score** | | 15330 |
"""


def test_several_columns_may_name_the_test() -> None:
    found = [
        (each.job, kind, figures.iops, figures.bandwidth_bytes)
        for each in audit_text("post", _WITH_NAMES_IN_TWO_COLUMNS, Context())
        for kind, figures in each.figures.directions.items()
    ]

    assert found == [
        ("Copy Disk Write Result", "write", None, 130e6),
        ("Big file 4k Random Read Result", "read", 41_710.0, 166_843 * 1024),
        ("Big file 4k Random Write Result", "write", 12_047.0, None),
    ]


@pytest.mark.parametrize("header", ["Category | Test | Limit", "Category | Test | Note", "Read IOPS | Test | Result"])
def test_such_a_table_must_call_its_last_column_a_result(header: str) -> None:
    text = _WITH_NAMES_IN_TWO_COLUMNS.replace("Category | Test | Result", header)

    assert len(audit_text("post", text, Context())) != 3


def test_a_part_of_a_cell_may_be_bold() -> None:
    rows = "| a | 3.1 GB/s | **631 MB/s** (161K IOPS) |\n| b | 3 GB/s | 600 MB/s (153K IOPS) |\n"
    text = f"Measured with fio:\n\n| Disk | Seq read | 4K random read |\n|---|---|---|\n{rows}"

    read = [each.figures.directions["read"] for each in audit_text("post", text, Context())]

    assert [each.iops for each in read] == [None, 161e3, None, 153e3]
    assert read[1].bandwidth_bytes == 631 * 1024**2
