"""Rare forms in public texts: tiotest, repeated direct reads, wrapped lists, signals, Windows prompts and zram."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

MIB = 1024**2

TIOTEST = """\
$ tiotest -t8 -f 200 -d /striped_zpool/
Tiotest results for 8 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write        1600 MBs |    3.2 s | 502.596 MB/s |  37.4 %  | 1290.1 % |
| Random Write   31 MBs |    0.3 s | 120.682 MB/s |   0.0 %  | 903.7 % |
| Read         1600 MBs |    0.3 s | {rate} MB/s | 222.4 %  | 5104.2 % |
| Random Read    31 MBs |   18.7 s |   1.655 MB/s |   0.0 %  | 5787.9 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.003 ms |        0.515 ms |  0.00000 |   0.00000 |
"""


def _rules(each: Audited, *effects: str) -> set[str]:
    return {finding.rule for finding in each.findings if finding.effect in (effects or ("suspects", "refutes"))}


def test_each_row_of_tiotest_is_a_result() -> None:
    found = audit_text("post", TIOTEST.format(rate="4682.758"), Context())

    assert [(each.line, each.job) for each in found] == [
        (6, "tiotest: write"),
        (7, "tiotest: random write"),
        (8, "tiotest: read"),
        (9, "tiotest: random read"),
    ]
    rates = [moved.bandwidth_bytes for each in found for moved in each.figures.directions.values()]
    assert rates == [pytest.approx(rate * MIB) for rate in (502.596, 120.682, 4682.758, 1.655)]
    assert found[3].figures.directions["read"].iops == pytest.approx(1.655 * MIB / 4096)
    assert found[0].command_line == 1
    assert found[0].proof is not None and "size=200m,numjobs=8" in found[0].proof


@pytest.mark.parametrize(("rate", "is_memory"), [("4682.758", True), ("182.758", False)])
def test_tiotest_reads_what_it_has_just_written(rate: str, *, is_memory: bool) -> None:
    found = audit_text("post", TIOTEST.format(rate=rate), Context())

    assert ("earlier-job" in _rules(found[2])) == is_memory
    assert [each.verdict for each in (found[0], found[1], found[3])] == ["unproven"] * 3


def test_hdparm_with_direct_repeats_two_mebibytes() -> None:
    text = (
        " Timing O_DIRECT cached reads:   6324 MB in  2.00 seconds = 3163.52 MB/sec\n"
        " Timing O_DIRECT disk reads: 9538 MB in  3.00 seconds = 3178.72 MB/sec\n"
    )

    cached, disk = audit_text("post", text, Context())

    assert (cached.verdict, disk.verdict) == ("suspect", "unproven")
    assert _rules(cached) == {"disk-buffer"}


IOPING = """\
--- /var/lib/mysql (ext4 /dev/dm-0 193.8 GiB) ioping statistics ---
19 requests completed in 6.40 ms, 76 KiB read, 2.97 k iops, 11.6 MiB/s
min/avg/max/mdev = 244.1 us / 336.7 us / 432.6 us / 48.6 us
"""


def test_a_rounded_block_of_ioping_is_no_odd_block() -> None:
    (found,) = audit_text("post", IOPING, Context())

    assert "recordsize-mismatch" not in _rules(found, "notes", "suspects")
    assert found.proof is not None and "bs=4k" in found.proof


def test_options_of_ioping_may_follow_the_target() -> None:
    text = (
        "$ ioping -c10 /dev/nvme0n1 -D -WWW -s512\n--- /dev/nvme0n1 (block device 894.3 GiB) ioping statistics ---\n"
        "9 requests completed in 9.54 ms, 4.50 KiB written, 943 iops, 471.9 KiB/s\n"
    )

    (found,) = audit_text("post", text, Context())

    assert found.proof is not None and "bs=512,direct=1" in found.proof


WRAPPED = """\
>    write: IOPS=1884, BW=236MiB/s (247MB/s)(138GiB/600319msec); 0 zone resets
>       clat (msec): min=9, max=4941, avg=1602.56, stdev=339.05
>      iops        : min=  322, max= 3996, avg=1843.17, stdev=10.39,
> samples=57259
>     lat (msec)   : 500=0.06%, 750=0.14%, 1000=0.93%, 2000=90.41%,
>   >=2000=8.42%
>     fsync/fdatasync/sync_file_range:
>       sync (nsec): min=10, max=57940, avg=104.23, stdev=498.86
>     IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=0.1%, 32=0.1%,
>   >=64=199.5%
>        issued rwts: total=0,1131018,0,1127994 short=0,0,0,0 dropped=0,0,0,0
"""


def test_lists_wrapped_by_a_mail_program_do_not_split_a_result() -> None:
    (found,) = audit_text("mail", WRAPPED, Context())

    assert found.figures.directions["write"].iops == pytest.approx(1884, rel=0.01)


SIGNAL = """\
fio --filename=test4K --rw=write --ioengine=posixaio --direct=1 --bs=4K --size=4G --iodepth=4 --name=myjob
^Cbs: 1 (f=1): [W(1)][37.2%][r=0KiB/s,w=396KiB/s][r=0,w=99 IOPS][eta 25m:16s]
{line}

myjob: (groupid=0, jobs=1): err= 0: pid=21508: Fri Oct  6 05:45:29 2017
  write: IOPS=434, BW=1738KiB/s (1779kB/s)(1523MiB/897271msec)
"""


@pytest.mark.parametrize(("line", "verdict"), [("fio: terminating on signal 2", "unproven"), ("", "suspect")])
def test_a_run_that_the_user_stopped_has_valid_rates(line: str, verdict: str) -> None:
    (found,) = audit_text("post", SIGNAL.format(line=line), Context())

    assert found.verdict == verdict
    assert "work-done" in _rules(found, "notes", "suspects")


def test_a_command_after_a_windows_prompt_is_read() -> None:
    text = (
        "D:\\>c:\\fio\\fio\\fio --name=a --ioengine=windowsaio --rw=randread --bs=4k --size=4g --direct=1\n"
        "a: (groupid=0, jobs=1): err= 0: pid=2072: Sat Oct 30 02:40:25 2021\n"
        "  read: IOPS=2811, BW=11.0MiB/s (11.5MB/s)(659MiB/60015msec)\n"
    )

    (found,) = audit_text("post", text, Context())

    assert found.command_line == 1
    assert found.proof is None or "windowsaio" not in found.proof


@pytest.mark.parametrize(("disk", "verdict"), [("zram0", "refuted"), ("sda", "unproven")])
def test_disk_statistics_may_name_memory(disk: str, verdict: str) -> None:
    text = (
        "fio results for the resulting code are:\nRun status group 0 (all jobs):\n"
        "  WRITE: io=3200.0MB, aggrb=13095KB/s, minb=3273KB/s, maxb=3284KB/s, mint=249447msec, maxt=250214msec\n\n"
        f"Disk stats (read/write):\n  {disk}: ios=0/819200, merge=0/0, ticks=1692/4624, in_queue=6337, util=85.33%\n"
    )

    (found,) = audit_text("mail", text, Context())

    assert found.verdict == verdict


def test_two_totals_of_a_client_are_two_runs() -> None:
    text = (
        "All clients: (groupid=0, jobs=4): err= 0: pid=0: Wed Aug 12 15:40:00 2020\n"
        "   read: IOPS=3025, BW=23.6Mi (24.8M)(2837MiB/120012msec)\n\n"
        "All clients: (groupid=0, jobs=4): err= 0: pid=0: Wed Aug 12 15:42:05 2020\n"
        "  write: IOPS=3025, BW=23.6Mi (24.8M)(2837MiB/120022msec)\n"
    )

    assert [(each.line, [*each.figures.directions]) for each in audit_text("post", text, Context())] == [
        (1, ["read"]),
        (4, ["write"]),
    ]


@pytest.mark.parametrize(
    ("text", "kib"),
    [
        (">>> \tChildren see throughput for 12 rewriters \t=3D 4837741.94 =\nkB/sec\n", 4837741.94),
        ("10.0.0.11:      Children see throughput for  1 initial writers  =  302980.50 kB/sec\n", 302980.5),
    ],
)
def test_iozone_in_a_mail_and_behind_a_host(text: str, kib: float) -> None:
    (found,) = audit_text("post", text, Context())

    assert found.figures.directions["write"].bandwidth_bytes == pytest.approx(kib * 1024)


@pytest.mark.parametrize(("target", "verdict"), [("/dev/disk2", "unproven"), ("/tmp/image", "suspect")])
def test_dd_waits_for_a_device_that_it_closes(target: str, verdict: str) -> None:
    text = (
        f"$ sudo dd bs=1m if=Raspian.img of={target}\n974+1 records in\n974+1 records out\n"
        "1021592274 bytes transferred in 48.0752682 secs (21249856 bytes/sec)\n"
    )

    (found,) = audit_text("post", text, Context())

    assert found.verdict == verdict


@pytest.mark.parametrize("count", ["9" * 5000, "0", "²"])
def test_a_count_of_dd_that_is_no_number_of_blocks(count: str) -> None:
    text = (
        f"$ dd if=/dev/zero of=testfile bs=$((1024*1024)) count={count}\n10+0 records in\n10+0 records out\n"
        "10485760 bytes transferred in 0.028418 seconds (368981986 bytes/sec)\n"
    )

    (found,) = audit_text("post", text, Context())

    assert found.figures.directions["write"].io_bytes == 10485760


@pytest.mark.parametrize(("block", "expected"), [("65536", 65536), ("1048576", MIB), ("0", 4096), ("9" * 5000, 4096)])
def test_the_block_of_tiotest_may_be_large(block: str, expected: int) -> None:
    text = TIOTEST.format(rate="4682.758").replace("tiotest ", f"tiotest -b {block} ", 1)

    found = audit_text("post", text, Context())

    assert found[3].figures.directions["read"].iops == pytest.approx(1.655 * MIB / expected)


def test_the_block_of_dd_follows_from_its_count() -> None:
    text = (
        "$ dd if=/dev/zero of=testfile bs=$((1024*1024)) count=10 oflag=dsync\n10+0 records in\n10+0 records out\n"
        "10485760 bytes transferred in 0.028418 seconds (368981986 bytes/sec)\n"
    )

    (found,) = audit_text("post", text, Context())

    assert found.proof is not None and "bs=1m" in found.proof


def test_windows_paths_keep_their_backslashes() -> None:
    text = "C:\\>fio --name=a --rw=read --bs=4k --size=1g --filename=C\\:\\a:D\\:\\b\n"
    text += "  read: IOPS=100k, BW=391MiB/s (410MB/s)(11.4GiB/30001msec)\n"
    (found,) = audit_text("x", text, Context())
    assert found.command is not None and "'--filename=C\\:\\a:D\\:\\b'" in found.command


_BONNIE = "Version 1.97      {groups}\n                  {names}\nMachine      Size {units}\n"


@pytest.mark.parametrize(
    ("groups", "names", "units", "cells", "found"),
    [
        (
            "--Sequential Output-- --Sequential Input- --Random-",
            "--Block-- -Rewrite- --Block-- --Seeks--",
            "K/sec K/sec K/sec  /sec",
            "300000 250000 5000000 9000",
            {"write": 300_000 * 1024, "read": 5_000_000 * 1024},
        ),
        (
            "--Sequential Input- --Random-",
            "--Block-- --Seeks--",
            "K/sec %CP  /sec %CP",
            "5000000 99 +++++ +++",
            {"read": 5_000_000 * 1024},
        ),
        (
            "",
            "--Block-- --Block--",
            "K/sec K/sec",
            "300000 5000000",
            {"write": 300_000 * 1024, "read": 5_000_000 * 1024},
        ),
        ("", "--Block--", "K/sec", "5000000", {}),
        ("--Sequential Input-", "--Block-- --Seeks--", "K/sec  /sec", "5000000", {}),
    ],
    ids=["without %CP", "only input", "two blocks", "ambiguous", "too few values"],
)
def test_bonnie_tables_with_columns_removed_by_hand(
    groups: str, names: str, units: str, cells: str, found: dict[str, float]
) -> None:
    text = _BONNIE.format(groups=groups, names=names, units=units) + f"store          2G {cells}\n"
    audited = [each for each in audit_text("post", text, Context()) if "block" in each.job]
    rates = {name: moved.bandwidth_bytes for each in audited for name, moved in each.figures.directions.items()}
    assert rates == found


def test_bonnie_tables_without_machine_and_size_can_have_several_rows_with_words() -> None:
    found = audit_text(
        "post",
        "      ------Sequential Output------ --Sequential Input- --Random-\n"
        "                --Block-- -Rewrite-  --Block-- --Seeks--\n"
        "                K/sec %CP K/sec %CP  K/sec %CP  /sec %CP\n"
        " six disks:     81020  20 40111   9  Raid6   151222  15 310.4   0\n"
        "\n"
        "                70311  18 33802   8  Raid5   120877  13 288.0   1\n"
        " average of two:  75665  19\n"
        " not a row      70311  18 33802   8  Raid5   120877  13 288.0   1\n",
        Context(),
    )

    assert [
        (each.line, (moved.bandwidth_bytes or 0) / 1024, moved.iops)
        for each in found
        for moved in each.figures.directions.values()
    ] == [
        (4, 81020, None),
        (4, 40111, None),
        (4, 151222, None),
        (4, 0, 310.4),
        (6, 70311, None),
        (6, 33802, None),
        (6, 120877, None),
        (6, 0, 288.0),
    ]


def test_dd_in_the_rows_of_a_table_has_its_command() -> None:
    found = audit_text(
        "post",
        "| Test | Command | Duration | Rate |\n|---|---|---|---|\n"
        "| Write 2GB | dd if=/dev/zero of=a bs=1MB count=2000 oflag=direct | 12.5 s | 160 MB/s |\n"
        "| Read 2GB | dd if=a of=/dev/null bs=1MB iflag=direct | 3.2 seconds | 625 MB/s |\n"
        "| Copy | cp -r dd.old dd.new | 1.5 s | 900 MB/s |\n",
        Context(),
    )

    assert [
        (each.line, way, moved.bandwidth_bytes) for each in found for way, moved in each.figures.directions.items()
    ] == [(3, "write", 160e6), (4, "read", 625e6)]
    assert found[1].command == "dd if=a of=/dev/null bs=1MB iflag=direct"


def test_a_line_of_dd_without_its_number_of_bytes() -> None:
    found = audit_text("post", "(13 GB, 12 GiB) copied, 6.5 s, 2.0 GB/s\n", Context())

    assert [moved.bandwidth_bytes for each in found for moved in each.figures.directions.values()] == [2e9]
