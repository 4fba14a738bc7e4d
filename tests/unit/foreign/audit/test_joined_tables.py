"""Tables whose cells are on lines of their own, with columns for several storages, and with units in the header."""

import pytest

from poolproof.foreign.audit.tables.tables import find_tables

MIB = 1024**2


def _values(text: str) -> list[tuple[str, float | None, float | None]]:
    return [
        (name, moved.iops, moved.bandwidth_bytes)
        for found in find_tables(text)
        for part in found.result.parts
        for name, moved in part.directions.items()
    ]


_CELLS = """\
## Summary\u00b6
Test |
Pattern |
Block Size |
pond (80%) |
lake |
|---|---|---|---|---|
Seq. Write |
write |
1 MiB |
310 MiB/s |
125 MiB/s |
Rand Read IOPS |
randread |
4 KiB |
21,300 |
|
Mixed Read BW |
randrw 70/30 |
256 KiB |
690 MiB/s |
37.5 MiB/s |
Note:
"""


def test_the_cells_of_a_row_can_be_on_lines_of_their_own() -> None:
    assert _values(_CELLS) == [
        ("write", None, 310 * MIB),
        ("write", None, 125 * MIB),
        ("read", 21_300, None),
        ("read", None, 690 * MIB),
        ("read", None, 37.5 * MIB),
    ]
    assert [found.line for found in find_tables(_CELLS)][:3] == [8, 8, 13]


def test_an_incomplete_row_of_such_a_table_is_left_out() -> None:
    assert len(_values(_CELLS.replace("37.5 MiB/s |\n", ""))) == 3
    assert _values(_CELLS.replace("lake |\n", "")) == []


_STORAGES = """\
| | *Ceph* 1GB | Weka |
|---|---|---|
| Writes: | 190 MiB/s | 1050 MiB/s |
| Reads: | 680 MiB/s | 1400 MiB/s |
"""


@pytest.mark.parametrize(
    ("titles", "count"),
    [
        ("## Results\n#### Network\n\n", 4),
        ("# fio\n\n", 4),
        ("## Offers\n\n", 0),
        ("", 0),
    ],
)
def test_rows_of_directions_are_results_below_a_title_that_says_so(titles: str, count: int) -> None:
    assert len(_values(titles + _STORAGES)) == count


def test_a_data_sheet_below_a_title_about_results_is_none() -> None:
    assert _values("# Benchmarks\n\n" + _STORAGES + "| Endurance | 600 TBW | 1200 TBW |\n") == []


_DIRECTIONS = """\
| Disk | 4K Random Read | 4K Random Write |
| --- | --- | --- |
| first | 9.25 MB/sec | 8.75 MB/sec |
| second | 14.5 MB/sec | 24.5 MB/sec |
"""


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("## Disk Benchmarks\n\n" + _DIRECTIONS, [9.25e6, 8.75e6, 14.5e6, 24.5e6]),
        ("## Measured\n### Disks\n\n" + _DIRECTIONS, [9.25e6, 8.75e6, 14.5e6, 24.5e6]),
        ("## Disks\n\n" + _DIRECTIONS, []),
        ("## Disk Benchmarks\n\n" + _DIRECTIONS.replace("Disk |", "Capacity |"), []),
        ("## Disk Benchmarks\n\n" + _DIRECTIONS.replace("MB/sec", "MB"), []),
        ("## Disk Benchmarks\n\n" + _DIRECTIONS.replace("9.25", "up to 9.25"), [8.75e6, 14.5e6, 24.5e6]),
    ],
)
def test_rates_below_directions_are_results_below_a_title_that_says_so(table: str, expected: list[float]) -> None:
    assert [rate for _, _, rate in _values(table)] == expected


@pytest.mark.parametrize(
    ("table", "rate"),
    [
        ("| Test | Bandwidth (MB/s) |\n|---|---|\n| read | 129 |\n", 129e6),
        ("| Block (KB) | Sequential Read (MB/s) |\n|---|---|\n| 4 | 24.59 |\n", 24.59e6),
        ("| bs | Read IOPS | Read (MB/s) |\n|---|---|---|\n| 4k | 1000 | 4.096 |\n", 4.096e6),
        ("| bs | Read IOPS | Read (MB/s) |\n|---|---|---|\n| 4k | 1000 | 3.906 |\n", 3.906 * MIB),
        ("| bs | Read IOPS | Read (MB/s) |\n|---|---|---|\n| 4k | 1000 | 9.9 |\n", None),
    ],
)
def test_a_unit_in_the_header_is_decimal_unless_the_iops_show_otherwise(table: str, rate: float | None) -> None:
    ((_, _, found),) = _values(table)
    assert found == (None if rate is None else pytest.approx(rate, rel=0.001))
