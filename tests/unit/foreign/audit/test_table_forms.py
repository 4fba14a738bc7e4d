"""Other programs' tables in the forms in which people post them: wrapped, joined, in Markdown, or without a header."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

KIB, MIB = 1024, 1024**2

# https://github.com/teddysun/across/issues/86; older copies write `I/O speed` and `Average I/O speed`
BENCH_SH = """\
----------------------------------------------------------------------
 I/O Speed(1st run)    : 142 MB/s
 I/O Speed(2nd run)    : 1.2 GB/s
 I/O speed(3rd run)   : \x1b[0;33m81.5 MB/s\x1b[0m
 Average I/O speed     : 484.2 MB/s
----------------------------------------------------------------------
"""

# https://776000.xyz/post/23110: the table without its newlines
YABS_IN_ONE_LINE = (
    "fio Disk Speed Tests (Mixed R/W 50/50):---------------------------------Block Size | 4k            (IOPS) | 64k"
    "           (IOPS)  ------   | ---            ----  | ----           ---- Read       | 93.28 MB/s   (23.3k) | 978"
    ".10 MB/s  (15.2k)Write      | 93.79 MB/s   (23.4k) | 983.20 MB/s  (15.3k)Total      | 187.07 MB/s  (46.7k) | 1."
    "96 GB/s    (30.6k)\n"
)

# https://github.com/bretmlw/sbc-benchmarks: Markdown, with rows of their own for random I/O
YABS_WITH_RANDOM_ROWS = """\
| Block Size | 4k (IOPS)      | 16m (IOPS)     |
|------------|----------------|----------------|
| Read       | 34.31 MB/s (8577) | 90.06 MB/s (5) |
| Write      | 8.10 MB/s (2025)  | 77.58 MB/s (4) |
| Randread   | 11.20 MB/s (2800) | 89.91 MB/s (5) |
| Randwrite  | 6.61 MB/s (1652)  | 75.69 MB/s (4) |
"""

# https://lkml.org/lkml/2003/1/23/14: a mail program wrapped the head, the rows and the line of values
BONNIE_WRAPPED = """\
Version  1.03       ------Sequential Output------ --Sequential Input-
--Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block--
--Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP
/sec %CP
tester1        512M 11564  96 28951  24  8687   7 11030  88 25949   6
143.8   0
                    ------Sequential Create------ --------Random
Create--------
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
/sec %CP
                 16   489  99 +++++ +++ +++++ +++   509  98 +++++ +++
1695  97
tester1,512M,11564,96,28951,24,8687,7,11030,88,25949,6,143.8,0,16,489,99
,+++++,+++,+++++,+++,509,98,+++++,+++,1695,97
"""

# https://lore.kernel.org/linux-amlogic (patches for the VIM3): no name of a machine
BONNIE_WITHOUT_MACHINE = """\
     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP
  8G 83865  99 212837  96 94487  23 92808  97 315501 21 +++++ +++
"""

# https://lkml.org/lkml/2004/8/9: several rows below one head
BONNIE_ROWS = """\
> Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
> box-000         4G  6018  99 54560  36 20694  16  5789  97 33729  14 240.6   1
> box-000         4G  6055  99 54836  39 20899  16  5752  97 34827  17 230.8   2
"""

# the names of the rows consist of several words
BONNIE_ROWS_OF_WORDS = """\
> Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
> driver linked in  9216M 30211 70  51234  19 15678   4 40123 81  43210   6 711.5   2
> as a module 9216M 41211 93 151234  58 45678  12 49123 95 193210  28 733.5   2
"""

# ext4 mailing list, 2006: the further rows have only the values
BONNIE_ROWS_OF_VALUES = """\
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
2.6.16.19       16G 59223  91 264155  45 111459  36 57313  99 317944  63  1478   7
                     58814  92 276803  47 110418  36 57105  99 317534  65  1525   5
"""
# a post about a NAS with LZ4 compression: a %CP of four digits
BONNIE_FOUR_DIGITS_OF_CPU = """\
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
nas02.local 261368M   139  99 775132  99 589190  99   383  99 1638929  99 12930 2046
"""

# the documentation of bcache: fio 2's output in lower-case letters
FIO_2_IN_LOWER_CASE = """\
benchmark: (groupid=0, jobs=1): err= 0: pid=18127: wed aug  7 12:00:00 2013
  read : io=15282mb, bw=260808kb/s, iops=65201 , runt= 60001msec
    bw (kb/s)  : min=25608, max=298432, per=100.00%, avg=261695.20, stdev=26219.67
"""

# https://github.com/axboe/fio/issues/1027: fio 1.59 and less than 1 KiB or a few KiB
FIO_1_WITH_SPACES = """\
one-block: (groupid=0, jobs=1): err= 0: pid=211
  write: io=8192 B, bw=9102 B/s, iops=2 , runt=   900msec
"""

# https://github.com/longhorn/kbench README of 2021
KBENCH_SINGLE_ROWS = """\
FIO Benchmark Comparsion Summary
For: Local-Path vs Longhorn
SIZE: 30G
================================
                                                  Local-Path   vs                                Longhorn    :
IOPS
       Random Rread:        149,606 (sys/usr cpu: 87% / 10%)   vs           11,882 (sys/usr cpu: 6% / 1%)    : -92.06%
   Sequential Write:        195,487 (sys/usr cpu: 86% / 12%)   vs           11,642 (sys/usr cpu: 6% / 2%)    : -94.04%
"""

# https://github.com/virtio-win/kvm-guest-drivers-windows/issues/42: CrystalDiskMark 5 in a Markdown table
DISKMARK_5_TABLE = """\
with the old driver, crystaldiskmark shows:

| Test | Read MB/s | Write MB/s |
| --- | --- | --- |
| Seq Q32T1 | 700.1 | 120.5 |
| 4K Q32T1 | 58.11 | 9.500 |
| Seq | 320.0 | 112.0 |
| 4K | 5.700 | 11.90 |
"""

# a summary of kbench in a shell script, as comments with empty lines between them
KBENCH_COMMENTED = """\
# =========================
# FIO Benchmark Summary
# For: test_device
# Size: 30G
# =========================
# IOPS (Read/Write)
#         Random:             76,000 / 600

# Bandwidth in KiB/sec (Read/Write)
#         Random:       1,590,000 / 78,000
"""

# a Korean workbook: no name, no values of the options, and Markdown's bold letters
KUBESTR_IN_BOLD = """\
FIO test results:
FIO version - fio-3.30
Global options - ioengine=libaio verify= direct=1 gtod_reduce=

JobName:
  blocksize= filesize= iodepth= rw=
**read**:
  IOPS=20300.531250 BW(KiB/s)=81202
"""

FORMS: dict[str, tuple[str, list[tuple[str, str, float]]]] = {
    "bench.sh": (BENCH_SH, [("write", "bandwidth_bytes", rate) for rate in (142e6, 1.2e9, 81.5e6, 484.2e6)]),
    "CrystalDiskMark 5 in a table": (
        DISKMARK_5_TABLE,
        [
            ("read", "bandwidth_bytes", 700.1e6), ("write", "bandwidth_bytes", 120.5e6),
            ("read", "bandwidth_bytes", 58.11e6), ("write", "bandwidth_bytes", 9.5e6),
            ("read", "bandwidth_bytes", 320.0e6), ("write", "bandwidth_bytes", 112.0e6),
            ("read", "bandwidth_bytes", 5.7e6), ("write", "bandwidth_bytes", 11.9e6),
        ],
    ),
    "kbench in comments": (
        KBENCH_COMMENTED,
        [("read", "iops", 76_000), ("write", "iops", 600), ("read", "bandwidth_bytes", 1_590_000 * KIB)],
    ),
    "kbench without its summary": (
        "2025-10-15T16:16:41.526907567+08:00 IOPS (Read/Write)\n"
        "2025-10-15T16:16:41.526910587+08:00         Random:            617 / 104,155\n",
        [("read", "iops", 617), ("write", "iops", 104_155)],
    ),
    "kubestr in bold letters": (
        KUBESTR_IN_BOLD,
        [("read", "iops", 20300.53125), ("read", "bandwidth_bytes", 81202 * KIB)],
    ),
    "yabs in one line": (
        YABS_IN_ONE_LINE,
        [("read", "iops", 23.3e3), ("write", "iops", 15.3e3), ("read", "bandwidth_bytes", 978.1e6 * 1.024)],
    ),
    "yabs with rows for random I/O": (
        YABS_WITH_RANDOM_ROWS,
        [("read", "iops", 8577), ("write", "iops", 1652), ("read", "iops", 2800), ("write", "iops", 4)],
    ),
    "bonnie wrapped": (
        BONNIE_WRAPPED,
        [
            ("write", "bandwidth_bytes", 28951 * KIB), ("write", "bandwidth_bytes", 8687 * KIB),
            ("read", "bandwidth_bytes", 25949 * KIB), ("read", "iops", 143.8),
        ],
    ),
    "bonnie without a machine": (
        BONNIE_WITHOUT_MACHINE,
        [("write", "bandwidth_bytes", 212837 * KIB), ("read", "bandwidth_bytes", 315501 * KIB)],
    ),
    "bonnie with several rows": (BONNIE_ROWS, [("write", "bandwidth_bytes", 54836 * KIB), ("read", "iops", 230.8)]),
    "bonnie with rows of words": (
        BONNIE_ROWS_OF_WORDS,
        [("write", "bandwidth_bytes", 51234 * KIB), ("read", "bandwidth_bytes", 193210 * KIB), ("read", "iops", 733.5)],
    ),
    "bonnie with rows of values": (
        BONNIE_ROWS_OF_VALUES,
        [("write", "bandwidth_bytes", 276803 * KIB), ("read", "bandwidth_bytes", 317534 * KIB), ("read", "iops", 1525)],
    ),
    "bonnie with four digits of %CP": (
        BONNIE_FOUR_DIGITS_OF_CPU,
        [
            ("write", "bandwidth_bytes", 775132 * KIB),
            ("read", "bandwidth_bytes", 1638929 * KIB),
            ("read", "iops", 12930),
        ],
    ),
    "fio 2 in lower-case letters": (
        FIO_2_IN_LOWER_CASE,
        [("read", "iops", 65201), ("read", "bandwidth_bytes", 260808 * KIB)],
    ),
    "fio 1 with a space before the B": (FIO_1_WITH_SPACES, [("write", "iops", 2), ("write", "bandwidth_bytes", 9102)]),
    "kbench of 2021": (
        KBENCH_SINGLE_ROWS,
        [("read", "iops", 149606), ("read", "iops", 11882), ("write", "iops", 11642)],
    ),
    # https://github.com/longhorn/longhorn/issues/218 and https://github.com/openzfs/zfs/issues/4592
    "dd in code marks": (
        "`1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.5 s, 239 MB/s`\n",
        [("mixed", "bandwidth_bytes", 1073741824 / 4.5)],
    ),
    "dd with emphasis": (
        "2119680 bytes (2.1 MB) copied, 4.5 s, **# 471 kB/s**\n",
        [("mixed", "bandwidth_bytes", 2119680 / 4.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_value_of_a_form_is_read(name: str) -> None:
    text, wanted = FORMS[name]
    found = [
        (direction, metric, value)
        for audited in audit_text("post", text, Context())
        for direction, values in audited.figures.directions.items()
        for metric in ("iops", "bandwidth_bytes")
        if (value := getattr(values, metric))
    ]
    for direction, metric, value in wanted:
        assert any((direction, metric) == each[:2] and each[2] == pytest.approx(value, rel=1e-3) for each in found), (
            value
        )


def test_the_rows_for_created_files_are_no_results() -> None:
    audited = audit_text("post", BONNIE_WRAPPED, Context())
    assert [each.job.rpartition(": ")[2] for each in audited] == ["block output", "rewrite", "block input", "seeks"]


def test_zeros_of_bench_sh_on_a_compressing_file_system_are_suspect() -> None:
    text = BENCH_SH + "$ zfs get compression tank\ntank  compression  lz4  local\n"
    assert {each.verdict for each in audit_text("post", text, Context())} == {"suspect"}
    assert {each.verdict for each in audit_text("post", BENCH_SH, Context())} == {"unproven"}


# https://github.com/kangeek/fio-bench-disks-ceph README
PAIRS = """\
|           | IOPS&BW                 | clat(usec) |
| --------- | ----------------------- | ---------- |
| 4k随机写  | IOPS=1600, BW=6401KiB/s | 597.20     |
| 64k read  | IOPS=2.7k, BW=172MiB/s  | 341.96     |
"""
NAMED_ROWS = """\
| test        | bs | IOPS   | BW (MB/s) |
| ----------- | -- | ------ | --------- |
| randwrite   | 4k | 10,240 | 41.9      |
| random read | 4k | 23.5k  | 91.8      |
| both        | 4k | 100    | 0.41      |
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (PAIRS, [("write", 1600.0, 6401 * KIB), ("read", 2700.0, 172 * MIB)]),
        (NAMED_ROWS, [("write", 10_240.0, 41.9e6), ("read", 23_500.0, 91.8 * MIB), ("mixed", 100.0, 0.41e6)]),
        ("randread 4k: IOPS=52.1k, BW=203MiB/s\n", [("read", 52_100.0, 203 * MIB)]),
        ("| rw | IOPS | BW(MiB/s) |\n|---|---|---|\n| seq read | 65 | 262.5 |\n", [("read", 65.0, 262.5 * MIB)]),
    ],
)
def test_a_table_names_the_direction_in_its_rows(text: str, rows: list[tuple[str, float, float]]) -> None:
    found = [
        (direction, moved.iops, moved.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for direction, moved in each.figures.directions.items()
    ]

    assert [(direction, iops) for direction, iops, _ in found] == [(direction, iops) for direction, iops, _ in rows]
    assert [rate for *_, rate in found] == pytest.approx([rate for *_, rate in rows], rel=0.03)


def test_a_table_has_a_column_for_each_direction() -> None:
    head = "| Test | Read | Write |\n|------|------|-------|\n"
    rows = "| 1M seq | 3.2 GB/s | 2.9 GB/s |\n| 4k rand | 52.1k IOPS | 48,000 IOPS |\n"

    found = audit_text("post", head + rows, Context())

    (row,) = found
    assert {name: moved.iops for name, moved in row.figures.directions.items()} == {"read": 52_100, "write": 48_000}


@pytest.mark.parametrize("shared", ["", "Global options - ioengine= verify= direct= gtod_reduce=\n"])
def test_the_jobs_of_kubestr_are_unknown_without_the_global_options(shared: str) -> None:
    job = "JobName: w\n  blocksize=4K filesize=100M iodepth=64 rw=randwrite\nwrite:\n  IOPS=157118 BW(KiB/s)=628489\n"
    text = f"{shared}{job}"
    (audited,) = audit_text("post", text, Context())
    assert (audited.verdict, [each.rule for each in audited.findings]) == ("unproven", [])
    assert "global options" in " ".join(audited.missing)


def test_a_table_of_iometer_names_its_tests_and_both_its_units() -> None:
    table = """\
| build | Access Specification Name | IOps | MiBps (Binary) | MBps (Decimal) |
| ----- | ------------------------- | ---- | -------------- | -------------- |
| old | 4k rand 7:3 | 120400.25 | 470.313 | 493.159 |
"""
    (found,) = audit_text("post", table, Context())

    assert list(found.figures.directions) == ["mixed"]
    assert found.figures.directions["mixed"].iops == 120400.25
    assert found.figures.directions["mixed"].bandwidth_bytes == pytest.approx(493.159e6)
    assert not audit_text("post", table.replace("Access Specification Name", "Specification"), Context())


_BOTH_IN_EACH_CELL = """\
| `dm_crypt`                        | Sequential            | Random                |
| --------------------------------: | :-------------------: | :-------------------: |
| IOPS (Read/Write)                 | 332,107 / 226,378     | 332,758 / 61,755      |
| Bandwidth in KiB/sec (Read/Write) | 4,866,733 / 1,878,130 | 4,838,664 / 1,947,787 |
| Latency in ns (Read/Write)        | 169,440 / 270,217     | 169,967 / 271,265     |
"""


@pytest.mark.parametrize("mark", ["", "+"])
def test_a_row_of_a_table_may_have_the_values_of_reads_and_of_writes_in_each_cell(mark: str) -> None:
    text = "".join(f"{mark}{line}\n" for line in _BOTH_IN_EACH_CELL.splitlines())
    found = [
        (each.line, direction, values.iops, values.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for direction, values in each.figures.directions.items()
    ]
    assert found == [
        (3, "read", 332107.0, 4866733 * KIB),
        (3, "read", 332758.0, 4838664 * KIB),
        (3, "write", 226378.0, 1878130 * KIB),
        (3, "write", 61755.0, 1947787 * KIB),
    ]


def test_the_rows_of_another_table_above_a_blank_line_that_a_diff_adds_are_apart() -> None:
    above = "| ---: | :---: | :---: |\n| IOPS (Read/Write) | 240,125 / 235,990 | 239,201 / 236,695 |\n\n"
    text = "".join(f"+{line}\n" for line in (above + _BOTH_IN_EACH_CELL).splitlines())
    assert [each.line for each in audit_text("post", text, Context())] == [6, 6, 6, 6]


@pytest.mark.parametrize("cell", ["332,107", "332,107 / n/a", "1 / 2 / 3"])
def test_a_row_of_both_directions_is_not_split_if_a_cell_has_no_pair(cell: str) -> None:
    found = audit_text("post", _BOTH_IN_EACH_CELL.replace("332,107 / 226,378", cell), Context())
    assert [each.line for each in found] == [4, 4, 4, 4]


def _rates(text: str) -> list[tuple[int, str, float | None, float | None]]:
    return [
        (each.line, direction, values.iops, values.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for direction, values in each.figures.directions.items()
    ]


def test_the_label_of_a_row_may_continue_with_its_target_and_digits_may_be_grouped_by_spaces() -> None:
    table = (
        "| Measure | default | tuned | change |\n|---|---|---|---|\n"
        "| random write IOPS · a | 3 833 | 11 800 | **3.1×** |\n"
        "| random write IOPS · b | 751 | 1 500 | **2.0×** |\n| random write IOPS · limit | 9 000 | 9 000 | 1 |\n"
    )
    assert _rates(table) == [
        (3, "write", 3833.0, None),
        (3, "write", 11800.0, None),
        (4, "write", 751.0, None),
        (4, "write", 1500.0, None),
    ]


@pytest.mark.parametrize("mark", ["\t", " | "])
def test_the_header_of_another_table_ends_a_table_without_a_blank_line(mark: str) -> None:
    rows = (("IOPS", "read", "write"), ("4k", "1000", "2000"), ("MB/s", "read", "write"), ("4k", "41", "82"))
    assert _rates("".join(f"{mark.join(row)}\n" for row in rows)) == [
        (2, "read", 1000.0, None),
        (2, "write", 2000.0, None),
        (4, "read", None, 41e6),
        (4, "write", None, 82e6),
    ]
