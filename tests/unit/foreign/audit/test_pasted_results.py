"""Results that were pasted without their table's form: stacked cells, lists without units, `<br>`, ranges."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_KIB, _MIB = 1024.0, 1024.0**2


def _audited(text: str) -> list[Audited]:
    return list(audit_text("post", text, Context()))


def _found(text: str) -> list[tuple[str, str, float | None, float | None]]:
    return [
        (each.job.partition(": ")[2] or each.job, kind, figures.iops, figures.bandwidth_bytes)
        for each in _audited(text)
        for kind, figures in each.figures.directions.items()
    ]


def _stacked(*rows: str) -> str:
    return "\n\n".join(cell.strip() for row in rows for cell in row.split("|")) + "\n"


_POOLS = _stacked(
    "Pool | Backing | Layout | Size | Path",
    "fast | NVMe | stripe (2 drives) | 1.81 TiB | /fast/t",
    "bulk | HDD | raidz1 (4 drives) | 40.9 TiB | /bulk/t",
)
_TESTS = _stacked(
    "Test | Block Size | Depth | fast (80%) | bulk (12%)",
    "Seq. Read | 1 MiB | 1 | 1900 MiB/s | 230 MiB/s",
    "Rand Read IOPS | 4 KiB | 32 | 22,500 | 13,700",
    "Rand Write IOPS | 4 KiB | 32 | 41,000 | 410",
)


def test_stacked_cells_form_the_rows_of_a_table() -> None:
    found = _found(f"fio results\n\n\n{_TESTS}")

    assert found == [
        ("Seq. Read fast (80%)", "read", None, 1900 * _MIB),
        ("Seq. Read bulk (12%)", "read", None, 230 * _MIB),
        ("Rand Read IOPS fast (80%)", "read", 22_500.0, None),
        ("Rand Read IOPS bulk (12%)", "read", 13_700.0, None),
        ("Rand Write IOPS fast (80%)", "write", 41_000.0, None),
        ("Rand Write IOPS bulk (12%)", "write", 410.0, None),
    ]


def test_the_disks_of_a_column_come_from_a_stacked_list_of_pools() -> None:
    audited = _audited(f"fio results\n\n\n{_POOLS}\n\n{_TESTS}")

    doubted = [each.job for each in audited if each.verdict == "suspect"]
    assert doubted == ["Rand Read IOPS bulk (12%)"]
    assert {each.findings[0].rule for each in audited if each.verdict == "suspect"} == {"named-disk"}


@pytest.mark.parametrize(
    "text",
    [
        _TESTS.replace("13,700\n\n", ""),  # a row without one of its cells
        _stacked("Test | Depth | mirror", "Seq. Read | 1 | 230 MiB/s"),  # one row
        _stacked("Chapter | Pages | Price", "Introduction | 12 | 4", "Reading disks | 80 | 9"),
    ],
)
def test_other_stacked_lines_are_not_a_table(text: str) -> None:
    assert all("Rand Write" not in job for job, *_ in _found(f"fio results\n\n\n{text}"))
    assert not any(job.startswith(("Seq. Read mirror", "Reading")) for job, *_ in _found(f"fio results\n\n\n{text}"))


_LIST = "Write: 412345\nRe-write: 512345\nRead: 2812345\nRandom read: 1812345\n"


def test_iozone_lists_without_units_are_in_kib() -> None:
    assert _found(f"## iozone results\n\n{_LIST}") == [
        ("write", "write", None, 412_345 * _KIB),
        ("rewrite", "write", None, 512_345 * _KIB),
        ("read", "read", None, 2_812_345 * _KIB),
        ("random read", "read", None, 1_812_345 * _KIB),
    ]


def test_iozone_lists_are_judged_by_the_options_of_the_command() -> None:
    cached = _audited(f"iozone -i 0 -i 1 -i 2 -s 4g -r 1m\n{_LIST}")
    direct = _audited(f"iozone -I -e -i 0 -i 1 -i 2 -s 4g -r 1m\n{_LIST}")

    assert [each.findings[0].rule for each in cached if each.verdict == "suspect"] == [
        "write-without-sync",
        "write-without-sync",
        "earlier-job",
        "earlier-job",
    ]
    assert {each.verdict for each in direct} == {"unproven"}
    assert direct[3].figures.directions["read"].iops == pytest.approx(1_812_345 / 1024)


def test_iozone_tables_have_a_column_for_each_layout() -> None:
    text = (
        "iozone -I -r 512k -s 1g\n|  | mirror | raidz1 |\n|---|---|---|\n| write | 210345 | 198765 |\n"
        "| reread | 410345 | 398765 |\n"
    )

    assert [(job, bw) for job, _, _, bw in _found(text)] == [
        ("write mirror", 210_345 * _KIB),
        ("write raidz1", 198_765 * _KIB),
        ("reread mirror", 410_345 * _KIB),
        ("reread raidz1", 398_765 * _KIB),
    ]


@pytest.mark.parametrize(
    "text",
    [
        _LIST,  # no program is named
        f"iozone was slow, so I used fio:\n{_LIST}",
        "iozone results\n\nWrite: 412345\n\nMore tomorrow.\n",  # one line
        "iozone results\n\nWrite: 12\nRead: 14\n",  # numbers of something else
    ],
)
def test_other_lists_of_numbers_are_not_iozone_results(text: str) -> None:
    assert _found(text) == []


def test_a_break_in_a_markdown_cell_separates_values() -> None:
    text = (
        "## fio\n\n| Test | Result |\n|---|---|\n| randread 4k | IOPS=210k<br>BW=820MiB/s |\n"
        "| randwrite 4k | IOPS=44.0k<br/>BW=172MiB/s |\n"
    )

    assert [(iops, bw) for _, _, iops, bw in _found(text)] == [(210_000.0, 820 * _MIB), (44_000.0, 172 * _MIB)]


def test_fio_output_in_a_markdown_cell_keeps_its_lines() -> None:
    text = (
        "| ext4 | read: IOPS=40.0k, BW=156MiB/s (164MB/s)(9.2GiB/60001msec)<br>clat (usec): min=60, max=900, "
        "avg=98.10, stdev=9.10 |\n"
    )

    (found,) = _audited(text)
    assert found.figures.directions["read"].iops == pytest.approx(40_000, rel=0.01)


def test_the_value_of_a_range_is_its_middle() -> None:
    text = (
        "### dd results\n\n| Share | Sequential read | Sequential write |\n|---|---|---|\n"
        "| NFS | 400-500 MB/s | 80–90 MB/s |\n"
    )

    assert [(kind, bw) for _, kind, _, bw in _found(text)] == [("read", 450e6), ("write", 85e6)]


@pytest.mark.parametrize("cell", ["500-400 MB/s", "400 KB-500 MB/s"])
def test_swapped_or_mixed_ends_are_not_a_range(cell: str) -> None:
    text = (
        f"### dd results\n\n| Share | Sequential read | Sequential write |\n|---|---|---|\n| NFS | {cell} | 80 MB/s |\n"
    )

    assert not any(kind == "read" for _, kind, _, _ in _found(text))


@pytest.mark.parametrize("margin", ["", "09:12:03 - MainThread - root - INFO - "])
def test_a_heading_may_say_that_the_lines_below_are_iops(margin: str) -> None:
    text = f"{margin}IOPs after FIO:\n{margin}Read: 312.662272\n{margin}Write: 104.5\n"

    assert _found(text) == [("Read", "read", 312.662272, None), ("Write", "write", 104.5, None)]


@pytest.mark.parametrize("heading", ["Provisioned IOPS:", "The IOPS limit of fio:", "Results:"])
def test_limits_below_a_heading_are_not_results(heading: str) -> None:
    assert _found(f"I ran fio.\n{heading}\nRead: 3000\nWrite: 3000\n") == []


def test_a_unit_that_iops_show_to_be_binary_applies_to_the_whole_row() -> None:
    text = (
        "| | 4K Random Read (IOPS) | 4K Random Read (KB/s) | 4K read (KB/s) | Score |\n|---|---|---|---|---|\n"
        "| card | 2500 | 10000 | 8000 | 91.5 |\n"
    )

    assert _found(text) == [
        ("card 4k random", "read", 2500.0, 10_000 * _KIB),
        ("card 4k", "read", None, 8000 * _KIB),
    ]


def test_reading_and_writing_name_the_directions() -> None:
    text = "dd results\n\n| Device | Reading (MB/s) | Writing (MB/s) |\n|---|---|---|\n| /dev/sdx | 14.5 | 5.5 |\n"

    assert [(kind, bw) for _, kind, _, bw in _found(text)] == [("read", 14.5e6), ("write", 5.5e6)]


def test_diskinfo() -> None:
    text = (
        "Transfer rates:\n\toutside:       102400 kbytes in   0.500000 sec =   204800 kbytes/sec\n\n"
        "Asynchronous random reads:\n\tsectorsize:    1050 ops in    3.300000 sec =      318 IOPS\n"
        "\t4 kbytes:      1040 ops in    3.310000 sec =      314 IOPS\n\n"
        "Synchronous random writes:\n\t 4 kbytes:    150.0 usec/IO =     26.0 Mbytes/s\n"
    )

    assert _found(text) == [
        ("outside tracks", "read", None, pytest.approx(200 * _MIB)),
        ("random read", "read", 318.0, None),
        ("random read", "read", 314.0, 314 * 4096.0),
        ("synchronous random write", "write", pytest.approx(6666.7, rel=1e-4), 26 * _MIB),
    ]
    assert {each.verdict for each in _audited(text)} == {"unproven"}


@pytest.mark.parametrize(
    ("text", "workloads"),
    [
        (
            "fio:\n1 thread, rnd 16k writes: 140 write iops\n2 threads, rnd 16k writes: 150 write iops\n",
            ["rw=randwrite,bs=16k,direct=1"],
        ),
        (
            "fio results\n\n| Test | Read MB/s | Write MB/s |\n|---|---|---|\n| seq 1M | 150 | 140 |\n",
            ["rw=read,bs=1m,direct=1", "rw=write,bs=1m,direct=1"],
        ),
        (
            "fio results\n\n| Test | Read MB/s | Write MB/s |\n|---|---|---|\n| randrw 4k | 1.5 | 1.4 |\n",
            ["rw=randrw,bs=4k,direct=1"],
        ),
    ],
)
def test_the_proof_repeats_what_the_name_of_the_test_says(text: str, workloads: list[str]) -> None:
    first = _audited(text)[0]

    assert first.proof is not None
    assert first.proof.split(" --workload ")[1:] == workloads


def test_a_gist_may_have_empty_cells_at_the_end_of_each_line() -> None:
    text = (
        "sysbench 0.4.12: multi-threaded system evaluation benchmark | |\nNumber of threads: 1 | |\n"
        "Extra file open flags: 16384 | |\n128 files, 16Mb each | |\n2Gb total file size | |\nBlock size 16Kb | |\n"
        "Doing random read test | |\nOperations performed: 240000 Read, 0 Write, 0 Other = 240000 Total | |\n"
        "Read 3.6621Gb Written 0b Total transferred 3.6621Gb (62.5Mb/sec) | |\n4000.00 Requests/sec executed | |\n"
        "total time: 60.0000s |\n"
    )

    (found,) = _audited(text)
    assert found.figures.directions["read"].iops == pytest.approx(4000)
    assert found.verdict == "unproven"  # 16384 is O_DIRECT


def test_the_empty_cells_of_a_table_are_kept() -> None:
    text = "fio\n\n| Test | Read MB/s | Write MB/s |\n|---|---|---|\n| seq | 150 | 140 |\n| rnd | 15 | |\n"

    assert [(kind, bw) for _, kind, _, bw in _found(text)] == [("read", 150e6), ("write", 140e6), ("read", 15e6)]


@pytest.mark.parametrize("spaces", ["", "   "])
def test_a_row_of_bonnie_may_lack_its_machine(spaces: str) -> None:
    text = (
        "Version 1.03 ------Sequential Output------ --Sequential Input- --Random-\n"
        "-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
        "Machine Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP /sec %CP\n"
        f"{spaces}400M 11640 90 25338 13 6716 8 8957 71 26645 13 175.2 2\n"
    )

    assert [(kind, bw) for _, kind, _, bw in _found(text)][:3] == [
        ("write", 25_338 * _KIB),
        ("write", 6716 * _KIB),
        ("read", 26_645 * _KIB),
    ]


@pytest.mark.parametrize(
    ("target", "direction", "verdict"), [("/tank/f", "write", "suspect"), ("/dev/null", "read", "refuted")]
)
def test_dd_may_redirect_its_output(target: str, direction: str, verdict: str) -> None:
    text = f"$ dd if=/dev/zero bs=1M count=900 > {target}\n943718400 bytes (944 MB) copied, 0.4 s, 2.4 GB/s\n"

    (found,) = _audited(text)
    assert (list(found.figures.directions), found.verdict) == ([direction], verdict)
    assert found.command == f"dd if=/dev/zero bs=1M count=900 > {target}"


def _crystal(random_iops: float) -> str:
    rate = random_iops * 4096 / 1e6
    return (
        "CrystalDiskMark 5.1.0 x64 (C) 2007-2016 hiyohiyo\n"
        "  Sequential Read (Q= 32,T= 1) :  5100.000 MB/s\n Sequential Write (Q= 32,T= 1) :  4100.000 MB/s\n"
        f" Random Read 4KiB (Q=  1,T= 1) :   {rate:.3f} MB/s [{random_iops:.1f} IOPS]\n"
        "  Test : 1024 MiB [R: 1.0% (0.1/8.0 GiB)] (x5)  [Interval=5 sec]\n"
    )


def test_all_tests_of_crystaldiskmark_use_the_file_whose_reads_are_too_fast_for_flash() -> None:
    assert [each.verdict for each in _audited(_crystal(160_000.0))] == ["suspect"] * 3
    assert {each.findings[0].rule for each in _audited(_crystal(160_000.0))} == {"memory-latency"}


@pytest.mark.parametrize("text", [_crystal(15_000.0), f"An Optane drive:\n{_crystal(90_000.0)}"])
def test_reads_at_the_speed_of_flash_say_nothing_about_the_other_tests(text: str) -> None:
    assert {each.verdict for each in _audited(text)} == {"unproven"}


def test_writes_are_doubted_only_if_no_flash_reads_the_file_as_fast() -> None:
    verdicts = [each.verdict for each in _audited(_crystal(80_000.0))]  # 12.5 µs

    assert verdicts == ["suspect", "unproven", "suspect"]


@pytest.mark.parametrize("quote", ['"', ""])
@pytest.mark.parametrize("margin", ["", "- "])
def test_reports_of_iozone_for_spreadsheets(quote: str, margin: str) -> None:
    lines = [
        "iozone -R -a -i 0 -i 1 -s 700m",
        "Writer report",
        f"{quote}4{quote} {quote}512{quote}",
        f"{quote}716800{quote} 3900 4600",
        "Re-Reader report",
        f"{quote}4{quote} {quote}512{quote}",
        f"{quote}716800{quote} 20300 2100000",
    ]

    found = _audited("".join(f"{margin}{line}\n" for line in lines))
    figures = [figures for each in found for figures in each.figures.directions.values()]
    assert [(each.bandwidth_bytes, each.iops) for each in figures] == [
        (3900 * _KIB, 975.0),
        (4600 * _KIB, pytest.approx(4600 / 512)),
        (20_300 * _KIB, 5075.0),
        (2_100_000 * _KIB, pytest.approx(2_100_000 / 512)),
    ]
    assert [each.verdict for each in found] == ["suspect", "suspect", "unproven", "suspect"]


def test_a_list_mark_in_front_of_each_line_is_not_part_of_a_table_of_iozone() -> None:
    text = (
        "- Command line used: iozone -e -I -a -s 900M -r 4k\n- Output is in kBytes/sec\n- random random\n"
        "- kB reclen write rewrite read reread read write\n- 921600 4 67409 96834 115601 115873 40838 95547\n"
    )

    assert [(job, bw) for job, _, _, bw in _found(text)][:2] == [("write", 67_409 * _KIB), ("rewrite", 96_834 * _KIB)]
    assert len(_found(text)) == 6


def test_a_key_that_was_pressed_during_hdparm_is_not_part_of_its_output() -> None:
    text = "/dev/sdx:\n Timing cached reads:   ^[[A41000 MB in  2.00 seconds = 20500.00 MB/sec\n"

    assert [bw for _, _, _, bw in _found(text)] == [20_500 * _MIB]
