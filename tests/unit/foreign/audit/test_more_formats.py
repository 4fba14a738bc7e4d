"""Results of ioping, nench.sh, rados bench, iozone, gobonniego, LemonBench, ecs.sh, PiBenchmarks and DiskSpd."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

MIB = 1024**2

IOPING = """\
On mount point (`sudo ioping -c4 /`)
--- / (ext4 /dev/dm-0) ioping statistics ---
4 requests completed in 3.00 s, 2.08 k iops, 8.15 MiB/s
min/avg/max/mdev = 288 us / 479 us / 752 us / 169 us

$ ioping -c 10 -WWW -D /dev/nvme0n1 -s512
512 B >>> /dev/nvme0n1 (block device 894.3 GiB): request=1 time=1.28 ms (warmup)

--- /dev/nvme0n1 (block device 894.3 GiB) ioping statistics ---
9 requests completed in 9.54 ms, 4.50 KiB written, 943 iops, 471.9 KiB/s
generated 10 requests in 9.00 s, 5 KiB, 1 iops, 568 B/s
min/avg/max/mdev = 388.1 us / 1.06 ms / 1.83 ms / 487.4 us
"""
IOPING_IN_RAM = """\
--- . (tmpfs none) ioping statistics ---
10 requests completed in 9.0 s, 3.2 k iops, 3.1 GiB/s
min/avg/max/mdev = 288 us / 310 us / 752 us / 169 us
"""
NENCH = """\
Disks:
vda     25G  HDD

ioping: seek rate
    min/avg/max/mdev = 109.3 us / 319.2 us / 2.69 ms / 62.7 us
ioping: sequential read speed
    generated 4.92 k requests in 5.00 s, 1.20 GiB, 983 iops, 245.8 MiB/s

dd: sequential write speed
    1st run:    458.72 MiB/s
    2nd run:    469.21 MiB/s
    3rd run:    462.53 MiB/s
    average:    463.49 MiB/s

IPv4 speedtests
    Cachefly CDN:         223.21 MiB/s
"""
RADOS = """\
> rados bench -p blkpool0 10 write -t 32 --no-cleanup
Maintaining 32 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects
   10      31       402       371   148.388       180    0.675451    0.819857
Total time run:         11.429895
Total writes made:      403
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     141.034
Stddev Bandwidth:       43.5414
Average IOPS:           35
Average Latency(s):     0.873288
"""
IOZONE = """\
	Iozone: Performance Test of File I/O
	Run began: Tue Jul 27 11:57:14 2021

	Auto Mode
{options}
	File size set to 81920 kB
	Record Size 4 kB
	Command line used: iozone -a {flags}-s 80M -r 4k
	Output is in kBytes/sec
                                                              random    random     bkwd    record    stride
{head}
           81920       4     2251     2288                      {read}     3432
"""
HEAD = (
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite"
    "      read   fwrite frewrite    fread  freread"
)
GOBONNIEGO = """\
2018/02/24 17:20:20 gobonniego starting. version: 1.0.9, runs: 1, seconds: 0, threads: 8, disk space to use (MiB): 512
2018/02/24 17:20:21 Written (MiB): 512
Sequential Write MB/s: 521.62
2018/02/24 17:20:21 Duration (seconds): 0.023219
Sequential Read MB/s: 23121.95
2018/02/24 17:20:37 operations 16927770
IOPS: 1061938
"""
LEMONBENCH = """\
 测试操作\t\t写速度\t\t\t\t\t读速度
 100MB-4K Block\t\t137 MB/s (33.53 IOPS, 0.76s)\t\t188 MB/s (45927 IOPS, 0.56s)
 1GB-1M Block           1.8 GB/s (1737 IOPS, 0.01s))            301 MB/s (286 IOPS, 3.49s)
"""
PIBENCHMARKS = """\
HDParm                    Disk Read                 41.90 MB/s
DD                        Disk Write                19.3 MB/s
FIO                       4k random read            2742 IOPS (10969 KB/s)
IOZone                    4k random write           3432 KB/s
"""
IOZONE_ROWS = IOZONE.format(options="\tO_DIRECT feature enabled", flags="-e -I ", read="7353", head=HEAD)
VALUES = (IOPING, IOPING_IN_RAM, NENCH, RADOS, IOZONE_ROWS, GOBONNIEGO, LEMONBENCH, PIBENCHMARKS)
"""Examples of these formats, which the fuzzer damages."""
Row = tuple[int, str, float | None, float | None]


def _audited(text: str) -> tuple[Audited, ...]:
    return audit_text("post", text, Context())


def _rows(audited: tuple[Audited, ...]) -> list[Row]:
    return [
        (
            each.line,
            direction,
            moved.iops and round(moved.iops, 1),
            moved.bandwidth_bytes and round(moved.bandwidth_bytes),
        )
        for each in audited
        for direction, moved in each.figures.directions.items()
    ]


def _rules(each: Audited) -> set[str]:
    return {finding.rule for finding in each.findings if finding.effect != "notes"}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (IOPING, [(3, "read", 2080.0, round(8.15 * MIB)), (10, "write", 943.0, round(471.9 * 1024))]),
        (
            NENCH,
            [
                (7, "read", 983.0, round(245.8 * MIB)),
                *(
                    (10 + at, "write", None, round(rate * MIB))
                    for at, rate in enumerate((458.72, 469.21, 462.53, 463.49))
                ),
            ],
        ),
        (RADOS, [(4, "write", 35.3, round(141.034 * MIB))]),
        (RADOS.replace("141.034", "1.41e+02"), [(4, "write", 35.3, round(141 * MIB))]),
        (RADOS.replace("(s)", "").replace("writes", "reads"), [(4, "read", 35.3, round(141.034 * MIB))]),
        (
            GOBONNIEGO,
            [(3, "write", None, 521_620_000), (5, "read", None, 23_121_950_000), (7, "read", 1_061_938.0, None)],
        ),
        (
            LEMONBENCH,
            [
                (2, "write", round(137e6 / 4096, 1), 137_000_000),
                (2, "read", 45927.0, 188_000_000),
                (3, "write", 1737.0, 1_800_000_000),
                (3, "read", 286.0, 301_000_000),
            ],
        ),
        (
            "    Children see throughput for  1 rewriters        =  649932.06 KB/sec\n",
            [(1, "write", None, round(649932.06 * 1024))],
        ),
        (
            PIBENCHMARKS,
            [
                (1, "read", None, round(41.9 * MIB)),
                (2, "write", None, 19_300_000),
                (3, "read", 2742.0, 10969 * 1024),
                (4, "write", 858.0, 3432 * 1024),
            ],
        ),
        (
            "FIO results - 4k RandWrite: 964 IOPS (3859 KB/s) - 4k RandRead: 2742 IOPS (10969 KB/s)\n" + PIBENCHMARKS,
            [(1, "write", 964.0, 3859 * 1024), (1, "read", 2742.0, 10969 * 1024)],
        ),
    ],
)
def test_the_values_of_each_format_are_read(text: str, rows: list[Row]) -> None:
    assert _rows(_audited(text)) == rows


def test_a_value_of_iozone_belongs_to_the_head_above_it() -> None:
    found = _audited(IOZONE_ROWS)

    assert [
        (each.job.removeprefix("iozone: "), row[1], row[3]) for each, row in zip(found, _rows(found), strict=True)
    ] == [
        ("write", "write", 2251 * 1024),
        ("rewrite", "write", 2288 * 1024),
        ("random read", "read", 7353 * 1024),
        ("random write", "write", 3432 * 1024),
    ]
    assert {each.verdict for each in found} == {"unproven"}


def test_iozone_without_direct_reads_what_it_has_just_written() -> None:
    text = IOZONE.format(options="", flags="", read="773530", head=HEAD).replace("2251", "9251")

    found = {each.job.removeprefix("iozone: "): _rules(each) for each in _audited(text)}

    assert found["random read"] >= {"earlier-job"}
    assert found["write"] >= {"write-without-sync"}


def test_iozone_adds_the_processes_of_its_throughput_mode() -> None:
    text = "  Children see throughput for  4 random readers \t=  2718630.75 kB/sec\n  Min xfer = 262144.00 kB\n"

    (found,) = _audited(text)

    assert found.figures.directions["read"].bandwidth_bytes == pytest.approx(2718630.75 * 1024)
    assert found.verdict == "unproven"
    assert any("-I" in each for each in found.missing)


def test_small_files_at_the_speed_of_memory_are_suspect() -> None:
    write, read, seeks = _audited(GOBONNIEGO)

    assert write.verdict == "unproven"
    assert _rules(read) == {"small-file"}
    assert _rules(seeks) == {"small-file", "memory-latency"}


def test_ioping_on_tmpfs_measures_memory() -> None:
    (found,) = _audited(IOPING_IN_RAM)

    assert found.verdict == "refuted"
    assert _rules(found) >= {"measures-memory"}


def test_hdparm_with_direct_repeats_the_same_bytes() -> None:
    text = " Timing O_DIRECT cached reads:    78 MB in  2.00 seconds =  39.00 MB/sec\n"

    (found,) = _audited(text)
    (cached,) = _audited(text.replace("O_DIRECT ", ""))

    assert (found.verdict, cached.verdict) == ("suspect", "refuted")


@pytest.mark.parametrize("words", ["hdd:sdb", "vda     25G  HDD", "sdc     25G  HDD"])
def test_a_label_or_a_virtual_disk_names_no_hard_disk(words: str) -> None:
    text = (
        f"{words}\nfio --rw=randread --bs=4k --direct=1 --filename=/dev/sdb --ioengine=libaio --iodepth=32 --name=a\n"
    )
    result = "  read: IOPS=99.5k, BW=389MiB/s (407MB/s)(4096MiB/10542msec)\n"

    (found,) = _audited(text + result)
    (named,) = _audited(text.replace(words, "a WD Red of 7200 rpm") + result)

    assert (found.verdict, named.verdict) == ("unproven", "suspect")


@pytest.mark.parametrize(
    "text",
    [
        " 100MB-0K Block   12.0 MB/s (2940 IOPS, 8.71s)   19.2 MB/s (4681 IOPS, 5.47s)\n",
        "CrystalDiskMark 8.0.4 x64\n[Read]\n  RND    0KiB (Q=  1, T= 1):    61.105 MB/s [  0.0 IOPS] <    66.89 us>\n",
    ],
)
def test_a_damaged_block_size_is_no_error(text: str) -> None:
    assert _audited(text)


KBENCH_P99 = """\
FIO Benchmark Summary
For: test_device
Size: 30G
=========================
IOPS in ops (Read/Write)
                  Random:           12,000 / 8,000

Latency in ns (Read/Write)
                  Random:        300,000 / 420,000

=========================
FIO Benchmark Latency P99 Summary
For: test_device
Size: 30G
=========================
Latency in ns (Read/Write)
                  Random:      700,000 / 1,100,000
"""


def test_p99_latencies_of_kbench_are_no_means() -> None:
    names = [(each.job, each.line) for each in audit_text("post", KBENCH_P99, Context())]
    assert names == [("kbench: random IOPS", 6), ("kbench: random latency", 9)]


ELBENCHO_FOLDER = """\
$ elbencho --hosts a,b --threads 4 --size 1G --block 128K --write --rand --direct --iodepth 16 /mnt/data/
OPERATION RESULT TYPE        FIRST DONE  LAST DONE
========= ================   ==========  =========
WRITE     Elapsed ms       :       1210       7353
          IOPS             :      40401      28517
          Throughput MiB/s :       5050       3564
          Total MiB        :       6115       8192
          Files total      :          1          {files}
"""


@pytest.mark.parametrize(("files", "is_repeated"), [(8, False), (2, True)])
def test_elbencho_writes_as_many_files_as_it_prints(files: int, *, is_repeated: bool) -> None:
    (audited,) = audit_text("post", ELBENCHO_FOLDER.format(files=files), Context())
    assert ("unique-extents" in {finding.rule for finding in audited.findings}) == is_repeated


IOZONE_DIRECT = """\
$ iozone -e -I -a -s 4g -r 64k -i 0 -i 1 -f /mnt/ssd/test
    kB  reclen    write  rewrite    read    reread
4194304      64    29181    29630    30053    30036
"""


def test_the_flush_of_iozone_belongs_to_its_writes() -> None:
    found = {
        each.job: {finding.rule for finding in each.findings} for each in audit_text("p", IOZONE_DIRECT, Context())
    }
    assert set(found) == {"iozone: write", "iozone: rewrite", "iozone: read", "iozone: reread"}
    assert not any("sync-on-reads" in rules for rules in found.values())


DISKSPD = """\
C:\\> .\\diskspd.exe -b8K -d30 -t2 -o4 -r -c20G {options} D:\\test.dat
Total IO
thread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
-------------------------------------------------------------------------------------------------
     0 |      1228800000 |       150000 |      39.06 |    5000.00 |    0.800 |     0.100 | D:\\test.dat (20480MB)
-------------------------------------------------------------------------------------------------
total:        1228800000 |       150000 |      39.06 |    5000.00 |    0.800 |     0.100
{tables}
"""
DISKSPD_SIDES = """\

Read IO
thread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:         860160000 |       105000 |      27.34 |    3500.00 |    0.700 |     0.100

Write IO
thread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
total:         368640000 |        45000 |      11.72 |    1500.00 |    1.033 |     0.100
"""


def test_diskspd_reports_reads_and_writes_apart() -> None:
    (audited,) = audit_text("post", DISKSPD.format(options="-w30 -Sh", tables=DISKSPD_SIDES), Context())
    read, write = audited.figures.directions["read"], audited.figures.directions["write"]
    assert (read.iops, write.iops, audited.verdict) == (3500.0, 1500.0, "unproven")
    assert (
        write.bandwidth_bytes == pytest.approx(11.72 * MIB)
        and write.lat
        and write.lat.mean_ns == pytest.approx(1_033_000)
    )
    assert not {"write-without-sync", "figures-disagree", "work-done"} & {each.rule for each in audited.findings}


def test_writes_of_diskspd_through_the_cache_of_windows_are_suspect() -> None:
    """Without -S, DiskSpd writes through the cache. In this example, the tables below the total are missing."""
    (audited,) = audit_text("post", DISKSPD.format(options="-w100", tables=""), Context())
    assert set(audited.figures.directions) == {"write"} and audited.verdict == "suspect"
    assert "write-without-sync" in {each.rule for each in audited.findings}


# From a post about WSL, 2024-11: andrew0928/columns.chicken-house.net
_BONNIE_200 = """\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
ANDREW-PC       63G  540k  99  728m 100  958m  91 2205k  99  1.1g  58 +++++ +++
Latency             16366us    5650us   12027us    4465us    1806us     478us
"""
_BONNIE_198_CSV = (
    "1.98,2.00a,ANDREW-PC,1,1731168315,63G,,8192,5,540,99,745124,100,980550,91,2205,99,1203968,58,+++++,+++,16,,,,,"
    "+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,16366us,5650us,12027us,4465us,1806us,478us,586us,404us,"
    "3818us,3324us,837us,3156us\n"
)


@pytest.mark.parametrize(
    ("text", "line"), [(_BONNIE_198_CSV, 1), (_BONNIE_200 + _BONNIE_198_CSV, 4)], ids=["alone", "below the table"]
)
def test_the_csv_of_bonnie_198_has_two_more_fields_and_is_more_precise_than_the_table(text: str, line: int) -> None:
    found = audit_text("x", text, Context())
    rates = [values.bandwidth_bytes for each in found for values in each.figures.directions.values()]
    assert rates == [745124 * 1024, 980550 * 1024, 1203968 * 1024]
    assert {each.line for each in found} == {line}


@pytest.mark.parametrize(
    ("sentence", "is_suspect"),
    [
        ("RAM: DDR4 16GB x 4 = 64GB", True), ("The server has 64 GB of RAM.", True), ("2x32GB ECC DDR4 RAM", True),
        ("Xeon E5, 48GB memory, 8 disks", True), ("memory: 64G", True), ("16 GB RAM", False),
        ("the RAID controller has 64 GB of memory", False), ("ZFS needs 64 GB of RAM", False),
        ("1 GB of RAM per TB", False), ("a 64 GB RAM disk", False), ("the host has 64 GB RAM, the VM 16 GB RAM", False),
        ("node a has 64 GB RAM\nnode b has 128 GB RAM", False), ("with 64 GB RAM free", False),
        ("run on a 64G VM with Debian", True), ("run on a 64 GB VM image", False),
    ],
)  # fmt: skip
def test_bonnie_below_twice_the_ram_that_a_sentence_names(sentence: str, is_suspect: bool) -> None:
    for text in (_BONNIE_200, _BONNIE_198_CSV):
        found = {each.job: each for each in audit_text("x", f"{sentence}\n{text}", Context())}
        read, write = found["bonnie++: block input"], found["bonnie++: block output"]
        assert any(each.rule == "size-below-cache" for each in read.findings) == is_suspect
        assert not is_suspect or (read.verdict, write.verdict) == ("suspect", "unproven")


@pytest.mark.parametrize(("size_kib", "verdict"), [(262_144, "suspect"), (26_214_400, "unproven")])
def test_the_size_and_the_rate_of_an_iozone_test_show_whether_it_was_too_short(size_kib: int, verdict: str) -> None:
    text = (
        f"\tMin xfer                                  = {size_kib}.00 kB\n\n"
        "\tChildren see throughput for 1 re-readers        = 2718630.75 kB/sec\n"
        "\tParent sees throughput for 1 re-readers         = 2512159.94 kB/sec\n"
        f"\tMin xfer                                  = {size_kib}.00 kB\n\n"
        "\tChildren see throughput for 1 reverse readers   = 2654787.50 kB/sec\n"
    )
    found = audit_text("post", text, Context())
    assert [each.verdict for each in found] == [verdict] * 2
    assert ["work-done" in {finding.rule for finding in each.findings} for each in found] == [verdict == "suspect"] * 2


_PERFKIT = """\
-------------------------PerfKitBenchmarker Results Summary-------------------------
FIO:
  {direct} filename="fio_test_file" filesize="10*10*1000*$mb_memory" ioengine="libaio"
  sequential_write:write:bandwidth    60009.000000 KB/s     (blocksize="512k" iodepth="64" rw="write" size="$mb_memory")
  sequential_write:write:latency   545081.440000 usec       (blocksize="512k" iodepth="64" max="1184533" rw="write")
  sequential_write:write:iops         117.000000            (blocksize="512k" iodepth="64" rw="write")
  sequential_read:read:bandwidth   130169.000000 KB/s       (blocksize="512k" bw_agg="94.17" rw="re
  sequential_read:read:iops         25
"""


@pytest.mark.parametrize(("direct", "verdict"), [('direct="1"', "unproven"), ('direct="0"', "suspect")])
def test_the_summary_of_perfkit_benchmarker_has_the_values_and_the_options_of_fio_jobs(
    direct: str, verdict: str
) -> None:
    written, read = audit_text("post", _PERFKIT.format(direct=direct), Context())
    values = written.figures.directions["write"]
    assert (written.line, written.last_line, written.verdict) == (4, 6, verdict)
    assert (values.iops, values.bandwidth_bytes, values.lat and values.lat.mean_ns) == (
        117.0,
        60009 * 1024.0,
        545081440.0,
    )
    assert (read.line, read.figures.directions["read"].iops) == (7, None)
    assert read.figures.directions["read"].bandwidth_bytes == 130169 * 1024.0
