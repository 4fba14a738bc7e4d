"""The normal output of several fio releases, and fragments of it as people quote them."""

import pytest

from poolproof.load.fio.printed_numbers import amount, number
from poolproof.load.fio.text import read_text
from poolproof.load.outcome import Direction

# The layout of fio 2.x: show_ddir_status in stat.c of fio 2.8; values chosen so that they agree with each other.
FIO_2 = """\
old: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
fio-2.8-1-g87a0
Starting 1 process

old: (groupid=0, jobs=1): err= 0: pid=27264: Sat Jun 18 00:21:14 2016
  read : io=160000KB, bw=8000.0KB/s, iops=2000, runt= 20000msec
    slat (usec): min=4, max=24, avg= 5.26, stdev= 0.49
    clat (msec): min=1, max=10, avg= 7.99, stdev= 0.26
     lat (usec): min=538, max=11023, avg=7995.04, stdev=271.68
    clat percentiles (usec):
     |  1.00th=[ 7904],  5.00th=[ 7968], 99.00th=[ 9536], 99.99th=[10432]
    bw (KB  /s): min= 7048, max= 8360, per=100.00%, avg=8001.26, stdev=50.73
    lat (usec) : 10=0.01%, 750=0.01%
    lat (msec) : 2=0.01%, 4=0.01%, 10=99.70%, 20=0.27%
  cpu          : usr=1.00%, sys=3.02%, ctx=72756, majf=0, minf=47
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=100.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued    : total=r=40000/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
     latency   : target=0, window=0, percentile=100.00%, depth=16

Run status group 0 (all jobs):
   READ: io=160000KB, aggrb=8000KB/s, minb=8000KB/s, maxb=8000KB/s, mint=20000msec, maxt=20000msec

Disk stats (read/write):
  sda: ios=39900/5, merge=0/0, ticks=38687/55432, in_queue=317, util=99.63%
"""


def only_read(text: str) -> Direction:
    (result,) = read_text(text)
    assert result.parts[0].read is not None
    return result.parts[0].read


def test_fio_2_units_are_powers_of_1024() -> None:
    (result,) = read_text(FIO_2)
    (job,) = result.parts
    read = only_read(FIO_2)
    assert (result.version, job.options["iodepth"], job.options["bs"]) == ("fio-2.8-1-g87a0", "16", "4096")
    assert (read.io_bytes, read.bandwidth_bytes, read.iops, read.ios, read.runtime_ms) == (
        160000 * 1024, 8000 * 1024, 2000, 40000, 20000,
    )  # fmt: skip
    assert read.clat is not None and read.clat.mean_ns == pytest.approx(7.99e6)
    assert read.clat.percentiles_ns == {1.0: 7904e3, 5.0: 7968e3, 99.0: 9536e3, 99.99: 10432e3}
    assert read.slat is not None and read.slat.mean_ns == pytest.approx(5260)
    assert read.bandwidth_max_bytes == 8360 * 1024
    assert result.disks[0].read_requests == 39900


def test_a_single_rate_line_is_a_result() -> None:
    read = only_read("    read: IOPS=24.4k, BW=23.9GiB/s (25.6GB/s)(800GiB/33516msec)")
    assert (read.io_bytes, read.iops, read.runtime_ms, read.ios) == (800 << 30, 24400.0, 33516, None)
    assert read.bandwidth_bytes == pytest.approx(25.6e9)


def test_a_single_latency_line_has_no_direction() -> None:
    (result,) = read_text("    clat (usec): min=2, max=548443, avg=45148.97, stdev=80640.79")
    (job,) = result.parts
    assert job.read is None and job.write is None
    assert job.mixed is not None and job.mixed.clat is not None and job.mixed.clat.mean_ns == pytest.approx(45148970)
    assert job.mixed.iops is None


def test_a_cut_off_line_gives_the_values_before_the_cut() -> None:
    read = only_read("  read: IOPS=4174, BW=4175MiB/s (4378M")
    assert (read.iops, read.bandwidth_bytes, read.io_bytes) == (4174, 4175 << 20, None)
    assert only_read("  read: IOPS=4174, BW=41").bandwidth_bytes is None
    assert read_text("  read: IOPS=41") == ()


def test_a_quoted_total_without_a_runtime_is_read() -> None:
    (result,) = read_text("WRITE: bw=374MiB/s (392MB/s), 374MiB/s-374MiB/s (392MB/s-392MB/s), io=21.9GiB (23.6GB),")
    write = result.parts[0].write
    assert write is not None and write.bandwidth_bytes == 392e6 and write.runtime_ms is None


def test_separate_quotations_are_separate_results() -> None:
    first = "read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)"
    text = f"{first}\nand then\nwrite: IOPS=5, BW=20KiB/s (20kB/s)(200KiB/10000msec)"
    assert [(job.read is None, job.write is None) for result in read_text(text) for job in result.parts] == [
        (False, True),
        (True, False),
    ]


def test_two_groups_of_clones_pasted_together_are_two_runs() -> None:
    block = "{}: (groupid=0, jobs=4): err= 0: pid=1: Sat\n  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    assert [result.parts[0].name for result in read_text(block.format("a") + block.format("b"))] == ["a", "b"]


def test_groups_of_one_run_are_one_result() -> None:
    block = "{}: (groupid={}, jobs=4): err= 0: pid=1: Sat\n  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    (result,) = read_text(block.format("a", 0) + block.format("b", 1))
    assert [job.name for job in result.parts] == ["a", "b"]


@pytest.mark.parametrize(("between", "runs"), [("With the new kernel:\n", 2), ("", 1), ("\n", 1), ("  ... 12\n", 1)])
def test_blocks_of_one_job_with_a_sentence_between_them_are_two_runs(between: str, runs: int) -> None:
    block = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n"
    assert len(read_text(f"{block}{between}{block}")) == runs


def test_an_error_and_a_description_belong_to_the_job() -> None:
    text = "j: (groupid=0, jobs=1): err= 5 (file:io_u.c:1787, func=io_u error, error=Input/output error): pid=1: Sat\n"
    (result,) = read_text(text + "  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)\n")
    assert result.parts[0].error == 5


def test_percentiles_of_one_priority_are_ignored() -> None:
    text = """\
  read: IOPS=10, BW=40KiB/s (41kB/s)(400KiB/10000msec)
    clat percentiles (usec):
     |  1.00th=[   24], 99.00th=[   90]
    high prio (10.00%) clat percentiles (usec):
     |  1.00th=[    1], 99.00th=[    2]
"""
    clat = only_read(text).clat
    assert clat is not None and clat.percentiles_ns == {1.0: 24e3, 99.0: 90e3}


def test_numbers_are_parsed_as_fio_prints_them() -> None:
    assert number("1081.4k") == 1081400
    assert amount("3556Mbit", 1000) == 444_500_000
    assert amount("1024.0MB", 1024) == 1 << 30
    assert amount("0", 1000) == 0
    for cut in ("81.0M", "81", "", "GiB", "1..2MiB"):
        with pytest.raises(ValueError, match="not an amount of data"):
            amount(cut, 1000)


@pytest.mark.parametrize(
    ("printed", "runs"), [("21:14:09", 1), ("21:14:59", 1), ("21:15:30", 2), ("20:58:00", 2)], ids=str
)
def test_blocks_of_one_name_belong_together_only_if_they_were_printed_within_a_minute(printed: str, runs: int) -> None:
    block = (
        "w: (groupid=0, jobs=1): err= 0: pid=9: Tue Mar  7 {} 2023\n"
        "  write: IOPS={}, BW={}MiB/s (9MB/s)(1MiB/30000msec)\n"
    )

    found = read_text(block.format("21:14:05", 400, 100) + block.format(printed, 90, 45))

    assert len(found) == runs


@pytest.mark.parametrize(
    ("between", "run_ms", "runs"),
    [
        ("then the same with writes, to /dev/sdx1", 60_002, 2),
        ("then the same with writes, to /dev/sdx1", 60_001, 1),
        ("60001msec", 60_002, 1),
        ("", 60_002, 1),
    ],
)
def test_totals_of_two_commands_are_two_results_if_words_are_between_them(between: str, run_ms: int, runs: int) -> None:
    line = "{}: bw=100MiB/s (105MB/s), 100MiB/s-100MiB/s (105MB/s-105MB/s), io=6000MiB (6291MB), run={}-{}msec\n"

    found = read_text(f"{line.format('READ', 60_001, 60_001)}{between}\n{line.format('WRITE', run_ms, run_ms)}")

    assert [len(each.parts[0].directions) for each in found] == [2 // runs] * runs
