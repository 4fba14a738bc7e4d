"""Results of other programs: real examples of each format, with values, verdicts and well-known traps."""

from typing import Any

import pytest

from poolproof.campaign.flags import parse_workload_flag
from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.formats.protocol import all_readers
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.presentation.terminal.audited import audited_lines

MIB = 1024**2

YABS = """\
fio Disk Speed Tests (Mixed R/W 50/50):
---------------------------------
Block Size | 4k            (IOPS) | 64k           (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 210.48 MB/s  (52.6k) | 2.20 GB/s    (34.4k)
Write      | 211.03 MB/s  (52.7k) | 2.21 GB/s    (34.6k)
Total      | 421.51 MB/s (105.3k) | 4.42 GB/s    (69.1k)
           |                      |
Block Size | 512k          (IOPS) | 1m            (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 3.58 GB/s     (6.9k) | 3.67 GB/s     (3.5k)
Write      | 3.77 GB/s     (7.3k) | 3.92 GB/s     (3.8k)
Total      | 7.35 GB/s    (14.3k) | 7.60 GB/s     (7.4k)
"""

KDISKMARK = """\
                      KDiskMark (2.2.1): https://github.com/JonMagon/KDiskMark
                  Flexible I/O Tester (fio-3.25): https://github.com/axboe/fio
-----------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
Sequential 1 MiB (Q= 8, T= 1):     0.000 MB/s [      0.0 IOPS] <     0.00 us>
    Random 4 KiB (Q=32, T=16):   251.904 MB/s [  61500.0 IOPS] <  8300.00 us>
    Random 4 KiB (Q= 1, T= 1):     {rate} MB/s [    {iops} IOPS] <  {us} us>

[Write]
    Random 4 KiB (Q= 1, T= 1):     3.411 MB/s [    852.9 IOPS] <  1168.44 us>

Profile: Default
   Test: 1 GiB (x5) [Interval: 5 sec]
"""

CRYSTAL_3 = """\
CrystalDiskMark 3.0.1 x64 (C) 2007-2010 hiyohiyo
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :   507.021 MB/s
          Sequential Write :   246.190 MB/s
         Random Read 512KB :   403.123 MB/s
    Random Read 4KB (QD=1) :    22.341 MB/s [  5454.3 IOPS]
  Random Write 4KB (QD=32) :   200.123 MB/s [ 48858.2 IOPS]

  Test : 1000 MB [C: 45.6% (54.3/119.1 GB)] (x5)
"""

CRYSTAL_5 = """\
CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo
   Sequential Read (Q= 32,T= 1) :  2323.450 MB/s
   Random Read 4KiB (Q= 32,T= 1) :   500.100 MB/s [122094.7 IOPS]
         Sequential Write (T= 1) :  1223.210 MB/s
  Test : 1024 MiB [C: 54.4% (129.4/237.9 GiB)] (x5)  [Interval=5 sec]
"""

CRYSTAL_8 = """\
CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo
[Read]
  SEQ    1MiB (Q=  8, T= 1):  3417.132 MB/s [   3258.8 IOPS] <  2452.66 us>
  RND    4KiB (Q=  1, T= 1):    61.105 MB/s [  14918.2 IOPS] <    66.89 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):  2995.118 MB/s [   2856.4 IOPS] <  2795.11 us>

Profile: Default
   Test: 1 GiB (x5) [C: 53% (251/476GiB)]
"""

SYSBENCH_04 = """\
sysbench 0.4.12:  multi-threaded system evaluation benchmark
Running the test with following options:
Number of threads: 8
Extra file open flags: 0
128 files, 512Mb each
64Gb total file size
Block size 16Kb
Periodic FSYNC enabled, calling fsync() each 100 requests.
Doing random r/w test
Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (15.625Mb/sec)
 1000.00 Requests/sec executed
    total time:                          10.0000s
"""

SYSBENCH_10 = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Running the test with following options:
Number of threads: 1
Extra file open flags: (none)
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Doing sequential write (creation) test
File operations:
    reads/s:                      0.00
    writes/s:                     2808.51
    fsyncs/s:                     3585.69
Throughput:
    read, MiB/s:                  0.00
    written, MiB/s:               43.88
General statistics:
    total time:                          10.0002s
"""

SYSBENCH_11 = """\
sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)
Running the test with following options:
Number of threads: 1
128 files, 16MiB each
2GiB total file size
Block size 16KiB
Doing random read test
Throughput:
         read:  IOPS=4120.55 64.38 MiB/s (67.51 MB/s)
         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)
         fsync: IOPS=0.00
    total time:                          10.0001s
"""

BONNIE = """\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
nas             16G   617  99 123456  20 67890  12  1345  98 234567  15 432.1  10
Latency             13125us    1012ms    1305ms   11312us     219ms     323ms
"""

BONNIE_WITHOUT_CHARS = """\
Version 2.00        ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
server          31G            498m  71  243m  41            911m  62 +++++ +++
"""

BONNIE_CSV = """\
1.97,1.97,nas,1,1540000000,16G,,617,99,123456,20,67890,12,1345,98,234567,15,432.1,10,16,,,,,1234,56,+++++,+++,,
"""

BONNIE_103_CSV = (
    "nas,16G,45617,99,123456,20,67890,12,51345,98,234567,15,432.1,10,16,1234,56,+++++,+++,2345,67,1,2,3,4,5,6\n"
)

ELBENCHO = """\
$ elbencho -w -r -b 4M -t 2 --direct -s 10g /local/scratch/tmp/file
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :     11.200s     11.559s
            IOPS             :         221         219
            Throughput MiB/s :         885         876
            Total MiB        :       10240       10240
---
READ        Elapsed time     :      4.012s      4.100s
            IOPS             :         640         624
            Throughput MiB/s :        2560        2497
            Total MiB        :       10240       10240
---
"""

HDPARM = """\
/dev/sda:
 Timing cached reads:   24526 MB in  2.00 seconds = 12277.12 MB/sec
 Timing buffered disk reads: 1318 MB in  3.00 seconds = 439.28 MB/sec
"""

PVEPERF = """\
CPU BOGOMIPS:      57596.16
REGEX/SECOND:      2340000
HD SIZE:           93.99 GB (/dev/mapper/pve-root)
BUFFERED READS:    412.53 MB/sec
AVERAGE SEEK TIME: 0.12 ms
FSYNCS/SECOND:     432.10
DNS EXT:           20 ms
"""

KBENCH_OF_TWO = """\
================================
FIO Benchmark Comparsion Summary
For: Local-Path vs Longhorn
Size: 50G
================================
                              Local-Path   vs                 Longhorn    :              Change
IOPS (Read/Write)
        Random:          365,696 / 341,512   vs         23,232 / 9,304    :   -93.65% / -97.28%
"""

DD = "{moved} bytes {note}copied, {seconds} s, {rate}\n"
ZEROS = "# dd if=/dev/zero of=/tank/test bs=1M count=100\n100+0 records in\n100+0 records out\n"
GNU = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.817983 s, 1.3 GB/s\n"

_IOPS, _RATE = "iops", "bandwidth_bytes"

VALUES: dict[str, tuple[str, list[tuple[str, str, float]]]] = {
    "yabs": (
        YABS,
        [("read", _IOPS, 52.6e3), ("write", _RATE, 216.1e6), ("read", _RATE, 2.2528e9), ("write", _IOPS, 3.8e3)],
    ),
    "kdiskmark": (
        KDISKMARK.format(rate="2.328", iops="582.2", us="1713.00"),
        [("read", _IOPS, 61500), ("read", _RATE, 2.328e6 * 1.024), ("write", _IOPS, 852.9)],
    ),
    "crystal 3": (CRYSTAL_3, [("read", _RATE, 507.021e6), ("write", _RATE, 246.19e6), ("write", _IOPS, 48858.2)]),
    "crystal 5": (CRYSTAL_5, [("read", _RATE, 2323.45e6), ("read", _IOPS, 122094.7), ("write", _RATE, 1223.21e6)]),
    "crystal 8": (CRYSTAL_8, [("read", _RATE, 3417.132e6), ("read", _IOPS, 14918.2), ("write", _RATE, 2995.118e6)]),
    "sysbench 0.4": (SYSBENCH_04, [("read", _IOPS, 600), ("write", _IOPS, 400), ("write", _RATE, 6.25 * MIB)]),
    "sysbench 0.5": (SYSBENCH_04.replace(" Read,", " reads,").replace(" Write,", " writes,"), [("read", _IOPS, 600)]),
    "sysbench 1.0": (SYSBENCH_10, [("write", _IOPS, 2808.51), ("write", _RATE, 43.88 * MIB)]),
    "sysbench 1.1": (SYSBENCH_11, [("read", _IOPS, 4120.55), ("read", _RATE, 64.38 * MIB)]),
    "bonnie": (BONNIE, [("write", _RATE, 123456 * 1024), ("read", _RATE, 234567 * 1024), ("read", _IOPS, 432.1)]),
    "bonnie -f": (BONNIE_WITHOUT_CHARS, [("write", _RATE, 498 * MIB), ("read", _RATE, 911 * MIB)]),
    "bonnie csv": (
        BONNIE_CSV,
        [("write", _RATE, 123456 * 1024), ("read", _RATE, 234567 * 1024), ("read", _IOPS, 432.1)],
    ),
    "bonnie 1.03 csv": (BONNIE_103_CSV, [("write", _RATE, 123456 * 1024), ("read", _IOPS, 432.1)]),
    "elbencho": (ELBENCHO, [("write", _RATE, 876 * MIB), ("read", _IOPS, 624)]),
    "hdparm": (HDPARM, [("read", _RATE, 12277.12 * MIB), ("read", _RATE, 439.28 * MIB)]),
    "pveperf": (PVEPERF, [("read", _RATE, 412.53 * MIB), ("write", _IOPS, 432.1)]),
    "pveperf as comments": (
        "# BUFFERED READS: 96.20 MB/sec\n# AVERAGE SEEK TIME: 12.50 ms\n# FSYNCS/SECOND: 61.75\n",
        [("read", _RATE, 96.20 * MIB), ("read", _IOPS, 80), ("write", _IOPS, 61.75)],
    ),
    "kbench of two": (KBENCH_OF_TWO, [("read", _IOPS, 365696), ("write", _IOPS, 9304)]),
    "dd": (GNU, [("mixed", _RATE, 1073741824 / 0.817983)]),
    "dd before 2015": (
        f"{ZEROS}104857600 bytes (105 MB) copied, 0.0211658 s, 5.0 GB/s\n",
        [("write", _RATE, 104857600 / 0.0211658)],
    ),
    "dd in German": (
        "512+0 Datensätze ein\n512+0 Datensätze aus\n536870912 Bytes (537 MB, 512 MiB) kopiert, 1,73096 s, 310 MB/s\n",
        [("mixed", _RATE, 536870912 / 1.73096)],
    ),
    "dd in French": (
        "1073741824 octets (1,1 GB, 1,0 GiB) copiés, 2,5 s, 429 MB/s\n",
        [("mixed", _RATE, 1073741824 / 2.5)],
    ),
    "dd in Russian": (
        "1073741824 байт (1,1 GB, 1,0 GiB) скопирован, 2,5 s, 429 MB/s\n",
        [("mixed", _RATE, 1073741824 / 2.5)],
    ),
    "dd in Japanese": (
        "1073741824 バイト (1.1 GB, 1.0 GiB) コピーされました、 2.5 s、 429 MB/s\n",
        [("mixed", _RATE, 1073741824 / 2.5)],
    ),
    "dd in Chinese": (
        "1073741824字节（1.1 GB，1.0 GiB）已复制，2.5 s，429 MB/s\n",
        [("mixed", _RATE, 1073741824 / 2.5)],
    ),
    "dd in Chinese before 2015": (
        "记录了1024+0 的读入\n记录了1024+0 的写出\n1073741824字节(1.1 GB)已复制，2.5 秒，429 MB/秒\n",
        [("mixed", _RATE, 1073741824 / 2.5)],
    ),
    "dd of busybox": (
        "1073741824 bytes (1.0GB) copied, 5.678000 seconds, 180.3MB/s\n",
        [("mixed", _RATE, 1073741824 / 5.678)],
    ),
    "dd of FreeBSD": (
        "1073741824 bytes transferred in 5.234567 secs (205125270 bytes/sec)\n",
        [("mixed", _RATE, 1073741824 / 5.234567)],
    ),
}


def _audit(text: str, **options: Any) -> tuple[Audited, ...]:
    return audit_text("post", text, read_context(**options))


def _doubts(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings if finding.effect != "notes"}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_each_format(name: str) -> None:
    text, expected = VALUES[name]
    found = [
        (kind, field, getattr(values, field))
        for each in _audit(text)
        for kind, values in each.figures.directions.items()
        for field in (_IOPS, _RATE)
        if getattr(values, field)
    ]
    for kind, field, value in expected:
        assert any((kind, field) == other[:2] and other[2] == pytest.approx(value, rel=0.002) for other in found), (
            kind, field, value, found,
        )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in VALUES if not name.startswith(("dd before", "hdparm"))])
def test_clean_results_are_unproven(name: str) -> None:
    found = _audit(VALUES[name][0])
    assert {each.verdict for each in found} == {"unproven"}, [each.findings for each in found]
    assert all(each.missing for each in found)


def test_every_reader_cites_where_its_format_was_seen() -> None:
    assert all(reader.seen for reader in all_readers())
    assert len({reader.program for reader in all_readers()}) == len(all_readers())


def test_zeros_on_a_compressing_target_are_refuted_for_dd_and_sysbench() -> None:
    zfs_get = "NAME  PROPERTY  VALUE  SOURCE\ntank  compression  lz4  local\n"
    synced = ZEROS.replace("count=100", "count=100 conv=fdatasync")
    for text in (f"{zfs_get}{synced}{VALUES['dd before 2015'][0].splitlines()[-1]}\n", zfs_get + SYSBENCH_10):
        (audited,) = _audit(text)
        assert "zero-buffers" in _doubts(audited), text
        assert any("compression is lz4" in fact for fact in audited.known)


def test_facts_about_a_dataset_do_not_apply_to_another_target() -> None:
    zfs_get = "NAME  PROPERTY  VALUE  SOURCE\ntank  compression  lz4  local\n"
    job = "fio --name=a --filename={} --rw=randread --bs=4k --size=10g --direct=1 --runtime=60 --time_based\n"
    line = "  read: IOPS=250, BW=1000KiB/s (1024kB/s)(58.6MiB/60001msec)\n"
    (device,) = _audit(zfs_get + job.format("/dev/nvme0n1") + line)
    (other,) = _audit(zfs_get + job.format("/mnt/ext4/f") + line)
    (dataset,) = _audit(zfs_get + job.format("/tank/f") + line)
    assert not device.known and not other.known and dataset.known
    assert all(each.verdict == "unproven" for each in (device, other))
    *_, disk = _audit(zfs_get + HDPARM)
    assert (disk.verdict, disk.job) == ("unproven", "hdparm: buffered disk reads")


def test_dd_without_a_sync_is_suspect_and_with_one_is_not() -> None:
    command = "dd if=/dev/urandom of=/mnt/test bs=1M count=1024{}\n1024+0 records in\n1024+0 records out\n"
    (unsynced,) = _audit(command.format("") + GNU)
    (synced,) = _audit(command.format(" conv=fdatasync") + GNU)
    assert "write-without-sync" in _doubts(unsynced) and unsynced.verdict == "suspect"
    assert synced.verdict == "unproven"
    assert "conv=fdatasync" in unsynced.findings[0].fix


def test_fixes_in_options_of_fio_say_so_for_other_programs() -> None:
    audited = _audit(BONNIE, ram="128G")
    fixes = [each.fix for result in audited for each in result.findings if each.rule == "size-below-cache"]
    assert fixes and all(fix.startswith("with fio: use ") for fix in fixes)


def test_a_known_ram_is_not_missing() -> None:
    assert all(any("RAM" in gap for gap in audited.missing) for audited in _audit(BONNIE))
    known = _audit(BONNIE, ram="128G")
    assert not any("RAM" in gap for audited in known for gap in audited.missing)


def test_counters_judge_only_what_dd_reports() -> None:
    rows = "".join(f"tank  1G  9G  0  9  0  {rate}M\n" for rate in (1, 258, 262))
    pool = f"$ zpool iostat tank 10\npool        alloc   free   read  write   read  write\n{rows}"
    command = "dd if=/dev/urandom of=/tank/r bs=1M count=10000 conv=fdatasync\n"
    last = "10485760000 bytes (10 GB, 9.8 GiB) copied, 40.2 s, 261 MB/s\n"
    (audited,) = _audit(f"{command}{last}{pool}")
    assert any("zpool iostat" in fact for fact in audited.known)
    assert not audited.verdicts and "write-latency" not in {each.rule for each in audited.findings}


def test_dd_that_reads_what_dd_just_wrote_is_suspect_unless_caches_were_dropped() -> None:
    wrote = "dd if=/dev/zero of=/mnt/t bs=1M count=1024 conv=fsync\n1024+0 records in\n1024+0 records out\n" + GNU
    read = "dd if=/mnt/t of=/dev/null bs=1M\n1024+0 records in\n1024+0 records out\n" + GNU
    _, audited = _audit(wrote + read)
    assert "earlier-job" in _doubts(audited)
    assert any("dd: iflag=direct" in each.fix for each in audited.findings), "dd has no option direct=1"
    _, audited = _audit(f"{wrote}sync; echo 3 > /proc/sys/vm/drop_caches\n{read}")
    assert "earlier-job" not in _doubts(audited)


@pytest.mark.parametrize(
    "text",
    [
        "Sequential Read : 560 MB/s\nSequential Write : 530 MB/s\n",
        "2024,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n",
        "a,1,200,3000,4000,50000,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21\n",
        "| Random | 10 / 20 |\nRandom: 1,178 / 27,416\n",
    ],
)
def test_data_sheets_and_tables_are_no_results(text: str) -> None:
    assert _audit(text) == ()


def test_mixed_values_of_crystaldiskmark_are_one_result_of_both_directions() -> None:
    mixed = "[Mix] Read 70%/Write 30%\n  SEQ    1MiB (Q=  8, T= 1):  3000.0 MB/s [   2861.0 IOPS] <  2795.11 us>\n"
    found = _audit(CRYSTAL_8 + mixed)
    assert len(found) == len(_audit(CRYSTAL_8)) + 1
    values = found[-1].figures.directions["mixed"]
    assert (values.bandwidth_bytes, values.iops, found[-1].verdict) == (3000.0e6, 2861.0, "unproven")


def test_the_means_of_several_runs_of_kdiskmark_may_exceed_the_depth() -> None:
    text = KDISKMARK.format(rate="2.328", iops="582.2", us="1713.00")
    text = text.replace("[  61500.0 IOPS] <  8300.00 us>", "[  61500.0 IOPS] < 11900.00 us>")
    assert {each.verdict for each in _audit(text)} == {"unproven"}
    assert "littles-law" in _doubts(_audit(CRYSTAL_8.replace("2452.66 us", "3452.66 us"))[0])


def test_buffer_cache_reads_of_an_old_hdparm_are_memory() -> None:
    memory, disk = _audit(
        "/dev/hda:\n Timing buffer-cache reads:   256 MB in  0.80 seconds =320.00 MB/sec\n"
        " Timing buffered disk reads:  90 MB in  3.00 seconds = 30.00 MB/sec\n"
    )
    assert (memory.verdict, disk.verdict) == ("refuted", "unproven")
    assert memory.figures.directions["read"].bandwidth_bytes == 320 * MIB


def test_lines_of_dd_below_one_command_belong_to_it() -> None:
    command = "for i in 1 2 3; do dd if=/mnt/file of=/dev/null bs=1M iflag=direct 2>&1 | tail -n1; done\n"
    assert [list(each.figures.directions) for each in _audit(command + GNU + GNU)] == [["read"], ["read"]]
    *_, other = _audit(f"{command}{GNU}and on the old server:\n{GNU}")
    assert list(other.figures.directions) == ["mixed"]


def test_a_sysbench_without_its_header_has_the_options_of_its_command() -> None:
    moved = "Read 0b  Written 1Gb  Total transferred 1Gb  (100.00Mb/sec)\n...\n"
    command = "# sysbench --test=fileio --file-test-mode={} --file-total-size=4G run\n...\n"
    first, second = _audit(command.format("seqwr") + moved + command.format("rndwr") + moved)
    assert (first.job, second.job) == ("sysbench fileio: sequential write", "sysbench fileio: random write")
    assert first.figures.directions["write"].bandwidth_bytes == 100 * MIB


def test_summaries_of_dbench_may_have_the_name_of_the_storage_before_them() -> None:
    found = _audit("NVMe (local): Random Read/Write IOPS: 210k/180k. BW: 2000MiB/s / 900MiB/s\n")
    assert [values.iops for each in found for values in each.figures.directions.values() if values.iops] == [
        210e3, 180e3,
    ]  # fmt: skip


@pytest.mark.parametrize(("mean_us", "reads_from"), [(11.2, "ram"), (61.2, "disk")])
def test_the_latency_of_dbench_counts_for_its_other_tests_of_the_same_file(mean_us: float, reads_from: str) -> None:
    found = _audit(
        "Random Read/Write IOPS: 201k/18.4k. BW: 5120MiB/s / 204MiB/s\n"
        f"Average Latency (usec) Read/Write: {mean_us}/810.4\n"
        "Sequential Read/Write: 5310MiB/s / 198MiB/s\n"
        "Mixed Random Read/Write IOPS: 51.0k/16.9k\n"
    )
    doubted = [list(each.figures.directions) for each in found if "memory-latency" in _doubts(each)]
    assert doubted == ([["read"]] * 4 if reads_from == "ram" else [])


def test_the_header_of_elbencho_may_follow_a_log_prefix() -> None:
    table = ELBENCHO.split("\n", 1)[1]
    (write, read) = _audit(f"12:00:01 - DEBUG - bench - ssh [a@b] stdout: {table}")
    assert (write.figures.directions["write"].iops, read.figures.directions["read"].iops) == (219, 624)


def test_elbencho_counts_the_files_of_braces_and_of_directories() -> None:
    table = ELBENCHO.split("\n", 1)[1].replace("2497", "40000").replace("       10240\n", "      164000\n")
    few, braces, brackets, folders = (
        _audit(f"$ elbencho -r -b 4M -t 16 --direct -s 1g {files}\n{table}")[1]
        for files in ("/mnt/f", "/mnt/f{1..64}", '"/mnt/f[1-60,70,80-82]"', "-n 2 -N 4 /mnt")
    )
    assert "small-file" in _doubts(few) and not (_doubts(braces) or _doubts(brackets) or _doubts(folders))


@pytest.mark.parametrize("path", ["/dev/shm/x", "/dev/ram0", "/dev/zram1"])
def test_a_path_that_is_in_ram_is_refuted(path: str) -> None:
    (dd,) = _audit(f"dd if=/dev/urandom of={path} bs=1M count=1024 conv=fsync\n{GNU}")
    job = f"fio --name=a --filename={path} --rw=randread --bs=4k --size=1g --direct=1\n"
    (fio,) = _audit(f"{job}  read: IOPS=250, BW=1000KiB/s (1024kB/s)(58.6MiB/60001msec)\n")
    assert [each.verdict for each in (dd, fio)] == ["refuted", "refuted"]
    assert all(each.findings[0].rule == "volatile-target" for each in (dd, fio))


def test_progress_of_dd_is_not_a_result() -> None:
    text = "dd if=/dev/zero of=/x oflag=direct bs=4M count=2560 status=progress\n"
    text += "9739173888 bytes (9.7 GB, 9.1 GiB) copied, 5 s, 1.9 GB/s\n2560+0 records in\n2560+0 records out\n"
    (audited,) = _audit(text + "10737418240 bytes (11 GB, 10 GiB) copied, 5.5149 s, 1.9 GB/s\n")
    assert audited.figures.directions["write"].io_bytes == 10737418240


def test_cached_reads_of_hdparm_are_refuted_and_the_disk_reads_are_not() -> None:
    cached, disk = _audit(HDPARM)
    assert (cached.verdict, disk.verdict) == ("refuted", "unproven")
    assert cached.findings[0].rule == "measures-memory"


def test_kdiskmark_without_a_cache_flush_shows_by_its_latency() -> None:
    found = _audit(KDISKMARK.format(rate="812.410", iops="198342.3", us="4.10"))
    assert [each.verdict for each in found] == ["suspect", "suspect", "unproven"]
    assert all(_doubts(each) & {"memory-latency", "small-file"} for each in found[:2])


def test_bonnie_below_twice_the_ram_is_suspect() -> None:
    free = "              total        used        free\nMem:       16316412     1234567    12345678\n"
    assert any("size-below-cache" in _doubts(each) for each in _audit(free + BONNIE))
    assert not any("size-below-cache" in _doubts(each) for each in _audit(free + BONNIE.replace("16G", "64G")))
    assert any("size-below-cache" in _doubts(each) for each in _audit(BONNIE, ram="16G"))


def test_the_csv_line_below_the_table_of_bonnie_is_the_same_result() -> None:
    assert len(_audit(BONNIE + "\n" + BONNIE_CSV)) == len(_audit(BONNIE))
    assert len(_audit(BONNIE + "\n" + BONNIE_CSV.replace("123456", "223456"))) == 2 * len(_audit(BONNIE))


def test_random_writes_of_a_named_hard_disk_are_suspect_but_never_refuted() -> None:
    summary = "FIO Benchmark Summary\nSize: 30G\nIOPS (Read/Write)\n        Random:           178 / 27,416\n"
    (audited,) = _audit(f"WD Red Plus 12TB, 7200 RPM\n\n{summary}")
    assert (audited.verdict, audited.findings[0].rule) == ("suspect", "named-disk")
    (audited,) = _audit(f"Samsung SSD 990 PRO\n\n{summary}")
    assert audited.verdict == "unproven"


def test_quoted_iostat_judges_dd_too() -> None:
    command = "dd if=/mnt/big of=/dev/null bs=1M\n"
    block = "Device  tps  MB_read/s  MB_wrtn/s  MB_read  MB_wrtn\nsda  50.00  {:.2f}  0.00  51  0\n"
    text = f"{command}10737418240 bytes (11 GB, 10 GiB) copied, 10.0 s, 1.1 GB/s\n$ iostat -my 1\n"
    assert _audit(text + block.format(1000.0))[0].verdict == "sound"
    assert _audit(text + block.format(12.0))[0].verdict == "refuted"


def test_a_json_object_has_the_command_and_no_fio_words() -> None:
    (audited,) = _audit(VALUES["dd before 2015"][0])
    assert audited.command == "dd if=/dev/zero of=/tank/test bs=1M count=100"
    assert audited.command_line == 1 and audited.job == "dd"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("crystal 8", "rw=read,bs=1m,size=1g,ioengine=libaio,iodepth=8,direct=1"),
        ("sysbench 1.1", "rw=randread,bs=16k,size=2g"),
        ("yabs", "rw=randrw,bs=4k,iodepth=64,numjobs=2,direct=1,ioengine=libaio,rwmixread=50"),
        ("elbencho", "rw=write,bs=4m,size=5g,numjobs=2,direct=1"),
    ],
)
def test_a_clean_result_ends_with_the_command_that_would_prove_it(name: str, command: str) -> None:
    first = _audit(VALUES[name][0])[0]
    assert first.proof == f"poolproof run --layout 'dir /path/on/the/disk' --workload {command}"
    assert list(audited_lines(first, 120))[-1] == f"  to prove it: {first.proof}"
    assert parse_workload_flag(command)


def test_the_proof_of_a_fio_job_uses_its_folder_and_options() -> None:
    text = "fio --name=a --rw=randread --bs=4k --size=10g --direct=1 --directory=/mnt/x --runtime=60 --time_based\n"
    (audited,) = _audit(f"{text}  read: IOPS=250, BW=1000KiB/s (1024kB/s)(58.6MiB/60001msec)\n")
    assert audited.proof == "poolproof run --layout 'dir /mnt/x' --workload rw=randread,bs=4k,size=10g,direct=1"
    (suspect,) = _audit(f"{text.replace('direct=1', 'direct=0')}  read: IOPS=250k, BW=977MiB/s (1024MB/s)\n", ram="64G")
    assert suspect.verdict == "suspect"
    assert suspect.proof == "poolproof run --layout 'dir /mnt/x' --workload rw=randread,bs=4k,size=10g,direct=0"


def test_a_text_without_results_has_none() -> None:
    assert audit_text("x", "I ran dd and bonnie++ and it was 500 MB/s\n", Context()) == ()


SHORT_SYSBENCH = """\
Number of threads: 8
128 files, 512MiB each
64GiB total file size
Block size 16KiB
Doing random r/w test

File operations:
    reads/s:                      8000.00
    writes/s:                     5000.00
    fsyncs/s:                     17000.00

General statistics:
    total time:                          {seconds}s
"""


@pytest.mark.parametrize(("seconds", "effect"), [("0.7301", "suspects"), ("10.0002", "")])
def test_a_run_of_sysbench_that_its_requests_ended_is_suspect(seconds: str, effect: str) -> None:
    (audited,) = audit_text("post", SHORT_SYSBENCH.format(seconds=seconds), Context())
    assert {finding.rule: finding.effect for finding in audited.findings}.get("work-done", "") == effect


DD_INTO = """\
{said}
$ dd if=/dev/zero of={path} bs={block} count=10k conv=fdatasync
10240+0 records in
10240+0 records out
104857600 bytes (105 MB, 100 MiB) copied, 0.7 s, 149 MB/s
"""


@pytest.mark.parametrize(
    ("said", "path", "block", "is_memory"),
    [
        ("", "/mnt/ramdisk/test.img", "10k", True),
        ("", "/srv/tmpfs/a", "10k", True),
        ("", "/Volumes/memoryfs/a", "10k", True),
        ("", "/srv/mem-disk/a", "10k", True),
        ("", "/srv/members/a", "10k", False),
        ("I wrote it to a ram disk", "/srv/a", "10k", True),
        ("", "/mnt/ramdiskless/a", "10k", False),
        ("", "/srv/a", "10k", False),
        ("", "/mnt/ramdisk/test.img", "10M", False),
    ],
)
def test_the_path_or_a_sentence_names_a_ram_disk(said: str, path: str, block: str, *, is_memory: bool) -> None:
    """Each I/O of 10 KiB took 69 µs, which is typical of memory. An I/O of 10 MiB took 70 ms, which is not."""
    (audited,) = audit_text("post", DD_INTO.format(said=said, path=path, block=block), Context())
    assert ("named-memory" in {finding.rule for finding in audited.findings}) == is_memory


@pytest.mark.parametrize(("value", "is_known"), [("5,955,466", True), ("5,95", False), ("5,955,4", False)])
def test_a_value_of_kbench_whose_last_digits_were_cut_off_is_left_out(value: str, *, is_known: bool) -> None:
    text = (
        f"Latency in ns (Read/Write)\n        Random:         160,387 / 65,962\n    Sequential:      113,135 / {value}"
    )
    rows = [each.figures.directions for each in audit_text("x", text, Context())]
    means = [found["write"].lat.mean_ns for found in rows if found["write"].lat is not None]
    assert means == ([65962.0, 5955466.0] if is_known else [65962.0])
