"""CrystalDiskMark, KDiskMark and tdeDiskMark in the forms in which people post them."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

Value = tuple[str, object, object]  # a direction, IOPS and bytes/s, or what they must be about

# the values of https://github.com/JonMagon/KDiskMark/issues/122 (KDiskMark 3.1.3): MB/s means 1000 KiB/s
KDISKMARK_3 = """\
                        {name}: https://example.org
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]

[Read]
Sequential   1 MiB (Q=  8, T= 1):  5683.719 MB/s [   5550.5 IOPS] <  1417.53 us>
    Random   4 KiB (Q= 32, T= 1):   755.180 MB/s [ 188795.1 IOPS] <   169.29 us>
    Random   4 KiB (Q=  1, T= 1):     0.004 MB/s [      1.0 IOPS] <  1000.00 us>
"""

# lines of CrystalDiskMark 3 in a post without its first lines
WITHOUT_NAME = """\
The controller with write-through, 50 MB and then a second volume:

Sequential Read : 255.045 MB/s
Sequential Write : 235.498 MB/s
Test : 50 MB [D: 0.0% (0.2/1660.8 GB)] (x9)
"""
IN_A_QUOTATION = """\
<blockquote>Sequential Read : 520.557 MB/s
Random Read 4KB (QD=1) : 24.216 MB/s [ 5912.1 IOPS]</blockquote>
"""
DATA_SHEET = "Sequential Read : 7000 MB/s\nSequential Write : 6500 MB/s\n"

KOREAN = """\
[읽기]
  순차 1MiB (Q=  8, T= 1):  3417.132 MB/s [   3258.8 IOPS] <  2452.66 us>
  임의 4KiB (Q=  1, T= 1):    61.105 MB/s [  14918.2 IOPS] <    66.89 us>

[쓰기]
  순차 1MiB (Q=  8, T= 1):  2995.118 MB/s [   2856.4 IOPS] <  2795.11 us>
"""
GERMAN = """\
CrystalDiskMark 5.1.2 x64
   Sequenzielles Lesen (Q= 32,T= 1) :  2323.450 MB/s
   Zufälliges Schreiben 4KiB (Q= 32,T= 1) :   500.100 MB/s [122094.7 IOPS]
   das erste zufällige Lesen: 200 MB/s
"""

# https://github.com/seb3773 and several reports of KDiskMark: the same values in tables
NAMED_COLUMNS = """\
KDiskMark
| Test | Read \\[MB/s\\] | Write \\[MB/s\\] |
| --- | --- | --- |
| SEQ1M Q8T1 | 7,169.86 | **6,365.18** |
| RND4K Q1T1 | 75.43 | 269.45 |
"""
NAMED_ROWS = """\
| Test | MB/s | us |
| :- | :- | :- |
| Read: SEQ1M Q8T1 | 441 | 18,700 |
| Write: RND4K Q32T1 | 300 | 446 |
"""
NAMED_ABOVE = """\
### 循序寫入 (Sequential Write)
| 測試項目 | MB/s | IOPS | Latency (us) |
|----------|------|------|--------------|
| SEQ-1MiB (Q8T1) | 5207.282 | 4966.1 | 1608.38 |
"""
TWO_DRIVES = """\
| Test | Read A | Read B | Write A | Write B |
|---|---|---|---|---|
| SEQ1M Q8T1 | 3500.5 | 3600.1 | 3100.2 | 3200.1 |
"""
IOPS_PER_DIRECTION = """\
| Test | Read MB/s | IOPS | Write MB/s | IOPS |
|---|---|---|---|---|
| RND4K Q32T1 | 354.657 | 88664.6 | 300.000 | 73242.2 |
"""
WHOLE_NUMBERS = """\
| Workload | Read | Write |
|---|---|---|
| SEQ1M Q8T1 | 7,856 MB/s | 3,853 MB/s |
| RND4K Q1T1 | 456 MB/s (111,328 IOPS) | 27 MB/s (6,900 IOPS) |
"""
LINES_BELOW_A_WORD = "Read:\nSEQ1M Q8T1: 3500.5 MB/s\nWrite:\nRND4K Q1T1: 200.5 MB/s\n"


def _values(text: str) -> list[Value]:
    return [
        (name, values.iops, values.bandwidth_bytes)
        for audited in audit_text("post", text, Context())
        for name, values in audited.figures.directions.items()
    ]


@pytest.mark.parametrize("name", ["KDiskMark (3.1.3)", "tdeDiskMark (1.0)"])
def test_the_unit_of_mb_is_the_one_that_fits_the_iops(name: str) -> None:
    first, second, third = _values(KDISKMARK_3.format(name=name))

    assert first == ("read", 5550.5, pytest.approx(5683.719 * 1.024e6))
    assert second == ("read", 188795.1, pytest.approx(755.180 * 1.024e6))
    assert third == ("read", 1.0, pytest.approx(0.004e6))  # too few digits: every unit fits


def test_the_unit_is_not_changed_if_the_iops_fit_none() -> None:
    text = KDISKMARK_3.format(name="KDiskMark").replace("5550.5", "5000.0")

    assert _values(text)[0] == ("read", 5000.0, pytest.approx(5683.719e6))


def test_results_of_tdediskmark_carry_its_name() -> None:
    found = audit_text("post", KDISKMARK_3.format(name="tdeDiskMark (1.0)"), Context())

    assert {audited.job.partition(":")[0] for audited in found} == {"tdeDiskMark"}
    assert all("tdeDiskMark used O_DIRECT" in " ".join(audited.missing) for audited in found)


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        (WITHOUT_NAME, [("read", 255.045), ("write", 235.498)]),
        (IN_A_QUOTATION, [("read", 520.557), ("read", 24.216)]),
        (f"> {WITHOUT_NAME.splitlines()[2]}\n> Test : 50 MB [D: 0.0% (0.2/1660.8 GB)] (x9)\n", [("read", 255.045)]),
        (f"{DATA_SHEET}\nand measured:\n{WITHOUT_NAME}", [("read", 255.045), ("write", 235.498)]),
        (DATA_SHEET, []),
        (KOREAN, [("read", 3417.132), ("read", 61.105), ("write", 2995.118)]),
        (GERMAN, [("read", 2323.45), ("write", 500.1)]),
        (LINES_BELOW_A_WORD, [("read", 3500.5), ("write", 200.5)]),
    ],
    ids=["no name", "quotation", "quoted lines", "after a data sheet", "data sheet", "Korean", "German", "words"],
)
def test_lines_are_read_in_any_language_and_without_the_name(text: str, rates: list[tuple[str, float]]) -> None:
    found: list[tuple[str, object]] = [(name, rate) for name, _, rate in _values(text)]

    assert found == [(name, pytest.approx(rate * 1e6)) for name, rate in rates]


def test_a_sequential_test_with_a_queue_had_blocks_of_128_kib() -> None:
    """Versions 4 to 6 do not print this size."""
    assert _values(GERMAN)[0][1] == pytest.approx(2323.45e6 / (128 * 1024))


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        (NAMED_COLUMNS, [("read", 7169.86), ("write", 6365.18), ("read", 75.43), ("write", 269.45)]),
        (NAMED_ROWS, [("read", 441), ("write", 300)]),
        (NAMED_ABOVE, [("write", 5207.282)]),
        (TWO_DRIVES, [("read", 3500.5), ("read", 3600.1), ("write", 3100.2), ("write", 3200.1)]),
        (IOPS_PER_DIRECTION, [("read", 354.657 * 1.024), ("write", 300.0)]),
        (NAMED_COLUMNS.replace("[MB/s", "[GB/s").replace("7,169.86", "7.17"), [("read", 7170.0), ("write", 6365.18e3)]),
        (NAMED_ROWS.replace("Read: ", "").replace("Write: ", ""), []),
        (TWO_DRIVES.replace("Read A", "Old").replace("Read B", "New").replace("Write ", ""), []),
        (TWO_DRIVES.replace("3500.5 | 3600.1 | 3100.2 | 3200.1", "3,500 | 3,600 | 3,100 | 3,200"), []),
        (TWO_DRIVES.replace("3500.5 | 3600.1", "3.500,5 | 3,600").replace("3100.2 | 3200.1", "3.100 | 3.200"),
            [("read", 3500.5), ("read", 3.6), ("write", 3100.0), ("write", 3200.0)]),
        (WHOLE_NUMBERS, [("read", 7856), ("write", 3853), ("read", 456), ("write", 27 * 1.048576)]),
        (TWO_DRIVES.replace("|", "\t"), [("read", 3500.5), ("read", 3600.1)]),
    ],
    ids=[
        "columns", "rows", "heading", "two drives", "IOPS", "GB/s", "no direction", "other columns", "either comma",
        "decimal comma", "whole numbers", "tabs",
    ],
)  # fmt: skip
def test_a_table_is_read_if_it_names_the_directions(text: str, rates: list[tuple[str, float]]) -> None:
    found: list[tuple[str, object]] = [(name, rate) for name, _, rate in _values(text)]

    assert found[: len(rates)] == [(name, pytest.approx(rate * 1e6)) for name, rate in rates]
    assert bool(found) == bool(rates)


def test_values_of_several_disks_next_to_each_other_are_separate_results() -> None:
    text = """\
[Read]                             (one disk, without any cache in front)        (two disks as a mirror, with a cache)
Sequential 1MiB (Q=  8, T= 1):   180.512 MB/s [    172.1 IOPS]   351.048 MB/s [    334.8 IOPS] <  23851.10 us>
    Random 4KiB (Q=  1, T= 1):     0.614 MB/s [    149.9 IOPS]     0.000 MB/s [      0.0 IOPS]

[Write]                            (one disk, without any cache in front)        (two disks as a mirror, with a cache)
Sequential 1MiB (Q=  8, T= 1):   171.966 MB/s   240.123 MB/s   2 GiB
"""
    found = [
        (each.line, way, round((moved.bandwidth_bytes or 0) / 1e6, 3))
        for each in audit_text("post", text, Context())
        for way, moved in each.figures.directions.items()
    ]

    assert found == [
        (2, "read", 180.512), (2, "read", 351.048), (3, "read", 0.614), (6, "write", 171.966), (6, "write", 240.123),
    ]  # fmt: skip


def test_columns_can_have_their_own_direction() -> None:
    text = "[Read]          [Write]\nRandom 4KiB (Q=  1, T= 1):     32.614 MB/s     99.125 MB/s   0.5\n"
    found = [
        (way, round((moved.bandwidth_bytes or 0) / 1e6, 3))
        for each in audit_text("post", text, Context())
        for way, moved in each.figures.directions.items()
    ]

    assert found == [("read", 32.614), ("write", 99.125)]


_ALIGNED = """\
A script that runs fio with the tests of CrystalDiskMark printed:

{header}
SEQ1M_Q8T1     2101MB/s  1804MB/s
RND4K_Q1T1     812kB/s   61.5MB/s
"""


def test_a_table_aligned_by_blanks_with_a_column_for_each_direction_is_read() -> None:
    found = [(way, rate) for way, _, rate in _values(_ALIGNED.format(header="Test           READ      WRITE"))]

    assert found == [("read", 2101e6), ("write", 1804e6), ("read", 812e3), ("write", 61.5e6)]


@pytest.mark.parametrize("header", ["Test           first     second", "Test           disk A    disk B", ""])
def test_a_table_aligned_by_blanks_that_names_no_directions_is_not_read(header: str) -> None:
    assert not audit_text("post", _ALIGNED.format(header=header), Context())


_WITHOUT_CORNER = """\
Executing Default test:
                    Read [MB/s]     Read [IOPS]    Write [MB/s]    Write [IOPS]
     SEQ1M-Q8T1            5073            5073            4179            4179
     RND4K-Q1T1            {rate}           {iops}              21            5376
"""


def test_the_first_cell_of_an_aligned_header_may_be_empty() -> None:
    found = _values(_WITHOUT_CORNER.format(rate="  45", iops="11520"))

    assert [(way, iops) for way, iops, _ in found] == [
        ("read", 5073.0), ("write", 4179.0), ("read", 11_520.0), ("write", 5376.0),
    ]  # fmt: skip
    assert found[0][2] == 5073 * 1024**2


@pytest.mark.parametrize(("rate", "iops", "is_memory"), [("1120", 286_720, True), ("  45", 11_520, False)])
def test_the_tests_of_a_table_use_one_file(rate: str, iops: int, *, is_memory: bool) -> None:
    text = _WITHOUT_CORNER.format(rate=rate, iops=iops)

    doubted = [each.job for each in audit_text("post", text, Context()) if each.verdict == "suspect"]

    tests = ("sequential read Q8 T1", "sequential write Q8 T1", "random read Q1 T1", "random write Q1 T1")
    assert doubted == ([f"CrystalDiskMark: {test}" for test in tests] if is_memory else [])
