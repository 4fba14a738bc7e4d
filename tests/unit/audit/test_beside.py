"""What stands beside a result: quoted counters, and what the text says of its disks."""

import pytest

from poolproof.audit.iostat import find_disk_rates
from poolproof.audit.prose import Ceiling, find_statements, largest_above
from poolproof.audit.texts import Setting, audit_text

MIB = 1024.0**2

SYSSTAT_12 = """
$ iostat -xm 1
Device         r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wMB/s   wrqm/s  %wrqm w_await wareq-sz %util
sda           1.00      0.10     0.00   0.00    0.10     4.00    2.00      0.20     0.00   0.00    0.10     4.00  1.00

Device         r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wMB/s   wrqm/s  %wrqm w_await wareq-sz %util
sda         100.00     50.00     0.00   0.00    0.10     4.00    2.00      0.00     0.00   0.00    0.10     4.00 99.00
sdb         100.00     30.00     0.00   0.00    0.10     4.00    2.00      0.00     0.00   0.00    0.10     4.00 99.00
md0         200.00     80.00     0.00   0.00    0.10     4.00    2.00      0.00     0.00   0.00    0.10     4.00 99.00
"""
SYSSTAT_9 = """
Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               1.00        10,00        20,00        100        200

Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda              90.00         0,00      2048,00          0       2048
"""
VERBOSE_POOLS = """
# zpool iostat -v -y 1
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank         100G   900G    100      0   200M      0
  mirror     100G   900G    100      0   200M      0
    sda         -      -     50      0   100M      0
    sdb         -      -     50      0   100M      0
spare          1G   900G      0      0      0      0
"""


def test_reports_of_iostat_without_the_one_since_boot_and_without_stacked_devices() -> None:
    (block,) = find_disk_rates(SYSSTAT_12)
    assert (block.read_bytes_per_s, block.write_bytes_per_s) == (80 * MIB, 0.0)


def test_older_iostat_with_a_decimal_comma() -> None:
    (block,) = find_disk_rates(SYSSTAT_9)
    assert block.write_bytes_per_s == 2 * MIB


def test_pools_of_a_verbose_report_are_told_apart_and_minus_y_keeps_the_first() -> None:
    assert {block.name: block.read_bytes_per_s for block in find_disk_rates(VERBOSE_POOLS)} == {
        "tank": 200 * MIB,
        "spare": 0.0,
    }


def test_a_single_report_is_the_mean_since_boot_and_no_evidence() -> None:
    assert not find_disk_rates(SYSSTAT_12.split("\n\n")[0])


def test_idle_reports_do_not_lower_the_mean() -> None:
    rows = "".join(f"tank  1G  9G  5  5  {rate}  0\n" for rate in ("7M", "100M", "90M", "1K", "0"))
    (block,) = find_disk_rates(f"pool        alloc   free   read  write   read  write\n{rows}")
    assert block.read_bytes_per_s == 95 * MIB


@pytest.mark.parametrize(
    ("text", "read", "write"),
    [
        ("It has three NVMe drives, each capable of 3.2 GB/s.", 9.6e9, 9.6e9),
        ("four SATA SSDs that each can do about 500MB/s write", None, 2e9),
        ("This disk is rated at 250 MB/s.", 250e6, 250e6),
        ("the same nvme drive, where max writes are around 900MB/s", None, 900e6),
    ],
)
def test_statements_that_leave_no_doubt(text: str, read: float | None, write: float) -> None:
    (statement,) = find_statements(text)
    assert statement.ceiling == Ceiling(read, write)


@pytest.mark.parametrize(
    "text",
    [
        "These HDDs provide about 170MB/s max write speeds.",
        "The drives are capable of 3.2 GB/s.",
        "This disk is rated at 250 MB/s.\n\nThe pool is a stripe over four of them.",
        "I wanted max 500 MB/s and got less.",
        "Reads reached 3.2 GB/s on this disk.",
    ],
)
def test_statements_that_leave_doubt_are_not_taken(text: str) -> None:
    assert not find_statements(text)


def test_the_largest_statement_above_counts_and_none_below() -> None:
    statements = find_statements("This disk is rated at 250 MB/s.\n\nThis ssd is rated at 500 MB/s.")
    above = largest_above(statements, 9)
    assert above is not None
    assert above.ceiling.read_bytes_per_s == 500e6
    assert largest_above(statements, 1) is None


READ = "  read: IOPS=1000, BW=1000MiB/s (1049MB/s)(10.0GiB/10240msec)\n"


def test_a_block_beside_one_of_two_results_belongs_to_that_one_only() -> None:
    command = "$ fio --name=a --rw=read --bs=1m --size=10G --filename=/tank/f\n"
    block = "pool alloc free read write read write\n" + "tank 1G 9G 5 5 100M 0\n" * 3
    first, second = audit_text("post", command + READ + block + "\n" + command + READ, Setting())
    assert (first.verdict, second.verdict) == ("refuted", "unproven")
    assert "1.00 GiB" not in str(second.known)
    assert first.estimate is not None
    assert first.estimate.high_bytes_per_s == pytest.approx(100 * MIB, rel=0.01)


def test_quoted_counters_that_agree_prove_reads_but_not_writes() -> None:
    command = "$ fio --name=a --rw={rw} --bs=1m --size=10G --filename=/tank/f --end_fsync=1\n"
    write = READ.replace("read", "write")
    rows = "pool alloc free read write read write\n" + "tank 1G 9G 5 5 1000M 1000M\n" * 3
    (read,) = audit_text("post", command.format(rw="read") + READ + rows, Setting())
    (wrote,) = audit_text("post", command.format(rw="write") + write + rows, Setting())
    assert (read.verdict, wrote.verdict) == ("sound", "unproven")


def test_fio_s_own_disk_statistics_refute_where_even_their_bound_contradicts() -> None:
    command = "$ fio --name=a --rw=read --bs=1m --size=10G --filename=f\n"
    block = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat Jul 14 14:34:07 2018\n" + READ
    disks = "\nDisk stats (read/write):\n  sda: ios={ios}/0, merge=0/0, ticks=0/0, in_queue=0, util=1.00%\n"
    (refuted,) = audit_text("post", command + block + disks.format(ios=12), Setting())
    (spared,) = audit_text("post", command + block + disks.format(ios=10_240), Setting())
    assert refuted.verdict == "refuted"
    assert spared.verdict == "unproven"
