"""Facts from the text around a result: quoted counters, and statements about its disks."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.external_counters import from_disk_use
from poolproof.foreign.audit.iostat import find_disk_rates
from poolproof.foreign.audit.surroundings.stated_disks import find_statements, largest_above
from poolproof.foreign.audit.texts import audit_text
from poolproof.load.outcome import Direction, DiskUtilization, Outcome, PartOutcome

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


def test_iostat_skips_the_report_since_boot_and_stacked_devices() -> None:
    (block,) = find_disk_rates(SYSSTAT_12)
    assert (block.read_bytes_per_s, block.write_bytes_per_s) == (80 * MIB, 0.0)


def test_older_iostat_with_a_decimal_comma() -> None:
    (block,) = find_disk_rates(SYSSTAT_9)
    assert block.write_bytes_per_s == 2 * MIB


def test_a_verbose_report_has_one_block_per_pool_and_y_keeps_the_first_report() -> None:
    assert {block.name: block.read_bytes_per_s for block in find_disk_rates(VERBOSE_POOLS)} == {
        "tank": 200 * MIB,
        "spare": 0.0,
    }


def test_a_single_report_since_boot_is_not_evidence() -> None:
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
        ("on a cloud SSD, whose write spec is 20k IOPS and 400MB/s.", None, 600e6),
        ("My ssd (specs: 2 GB/s) is full.", 3e9, 3e9),
    ],
)
def test_unambiguous_statements_are_used(text: str, read: float | None, write: float) -> None:
    (statement,) = find_statements(text)
    assert (statement.read_bytes_per_s, statement.write_bytes_per_s) == (read, write)


@pytest.mark.parametrize(
    "text",
    [
        "These HDDs provide about 170MB/s max write speeds.",
        "The drives are capable of 3.2 GB/s.",
        "This disk is rated at 250 MB/s.\n\nThe pool is a stripe over four of them.",
        "I wanted max 500 MB/s and got less.",
        "Reads reached 3.2 GB/s on this disk.",
        "The SSDs have a write spec of 400MB/s.",
        "The SSD is below the spec. It writes 400MB/s.",
        "It has three NVMe drives, each capable of 9999999999999999999 GB/s.",
    ],
)
def test_ambiguous_statements_are_ignored(text: str) -> None:
    assert not find_statements(text)


def test_the_largest_statement_above_counts_and_those_below_do_not() -> None:
    statements = find_statements("This disk is rated at 250 MB/s.\n\nThis ssd is rated at 500 MB/s.")
    above = largest_above(statements, 9)
    assert above is not None
    assert above.read_bytes_per_s == 500e6
    assert largest_above(statements, 1) is None


READ = "  read: IOPS=1000, BW=1000MiB/s (1049MB/s)(10.0GiB/10240msec)\n"


def test_a_block_belongs_only_to_the_nearest_result() -> None:
    command = "$ fio --name=a --rw=read --bs=1m --size=10G --filename=/tank/f\n"
    block = "pool alloc free read write read write\n" + "tank 1G 9G 5 5 100M 0\n" * 3
    first, second = audit_text("post", command + READ + block + "\n" + command + READ, Context())
    assert (first.verdict, second.verdict) == ("refuted", "unproven")
    assert "1.00 GiB" not in str(second.known)
    assert first.estimate is not None
    assert first.estimate.high_bytes_per_s == pytest.approx(100 * MIB, rel=0.01)


def test_quoted_counters_that_agree_prove_reads_but_not_writes() -> None:
    command = "$ fio --name=a --rw={rw} --bs=1m --size=10G --filename=/tank/f --end_fsync=1\n"
    write = READ.replace("read", "write")
    rows = "pool alloc free read write read write\n" + "tank 1G 9G 5 5 1000M 1000M\n" * 3
    (read,) = audit_text("post", command.format(rw="read") + READ + rows, Context())
    (wrote,) = audit_text("post", command.format(rw="write") + write + rows, Context())
    assert (read.verdict, wrote.verdict) == ("sound", "unproven")


_COMMAND = "$ fio --name=a --rw=read --bs=1m --size=10G --filename=f\n"
_BLOCK = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat Jul 14 14:34:07 2018\n" + READ
_DISKS = "\nDisk stats (read/write):\n  sda: ios={ios}, merge=0/0, ticks=0/0, in_queue=0, util={util}%\n"


def test_fio_disk_statistics_refute_if_their_upper_bound_contradicts() -> None:
    (refuted,) = audit_text("post", _COMMAND + _BLOCK + _DISKS.format(ios="12/0", util="1.00"), Context())
    (spared,) = audit_text("post", _COMMAND + _BLOCK + _DISKS.format(ios="10240/0", util="1.00"), Context())
    assert refuted.verdict == "refuted"
    assert spared.verdict == "unproven"


@pytest.mark.parametrize(
    ("gib", "sync", "direct", "disk", "verdict"),
    [
        (1, 1, 0, "sda", "unproven"),
        (10, 1, 0, "sda", "refuted"),
        (7, 1, 0, "nvme0n1", "unproven"),
        (20, 1, 0, "nvme0n1", "refuted"),
        (1, 0, 1, "sda", "refuted"),
    ],
)
def test_disk_statistics_miss_what_a_final_sync_writes(
    gib: int, sync: int, direct: int, disk: str, verdict: str
) -> None:
    """fio updates them every 250 ms: in four of six honest runs with end_fsync=1, they showed no write at all."""
    command = f"$ fio --name=a --rw=write --bs=1m --size={gib}G --filename=f --end_fsync={sync} --direct={direct}\n"
    wrote = f"  write: IOPS={gib * 100}, BW={gib * 100}MiB/s ({gib * 104.9:.0f}MB/s)({gib}.0GiB/10240msec)\n"
    disks = _DISKS.format(ios="0/3", util="1.00").replace("sda", disk)
    (audited,) = audit_text("post", command + _BLOCK.replace(READ, wrote) + disks, Context())
    assert audited.verdict == verdict
    if verdict == "unproven":
        assert "without what the final sync wrote" in str(audited.known)


def test_upper_bounds_show_no_amplification() -> None:
    reads = _BLOCK.replace("10.0GiB", "0.5GiB")
    (audited,) = audit_text("post", _COMMAND + reads + _DISKS.format(ios="10240/0", util="1.00"), Context())
    assert not any(finding.rule == "amplification" for finding in audited.findings)


@pytest.mark.parametrize("disks", [1, 2])
def test_disk_statistics_without_any_io_refute_nothing(disks: int) -> None:
    """The counters of some block devices always stay at 0.

    Examples are the paths of an NVMe disk with native multipath, and zvols of OpenZFS 2.0.
    """
    row = _DISKS.format(ios="0/0", util="0.00")
    text = _COMMAND + _BLOCK + row + (row.rpartition("  sda")[2].join(["  nvme0c0n1", ""]) if disks == 2 else "")
    (audited,) = audit_text("post", text, Context())
    assert audited.verdict == "unproven"
    assert not audited.known
    assert any("disk statistics" in gap and " 0" in gap for gap in audited.missing)


@pytest.mark.parametrize(("ios", "util"), [("0/3", "0.01"), ("0/0", "4.00")])
def test_disk_statistics_with_any_io_can_refute(ios: str, util: str) -> None:
    (audited,) = audit_text("post", _COMMAND + _BLOCK + _DISKS.format(ios=ios, util=util), Context())
    assert audited.verdict == "refuted"


def test_a_disk_with_one_unknown_direction_bounds_only_the_other() -> None:
    read = Direction(io_bytes=10 * 1024**3, runtime_ms=10_000)
    disk = DiskUtilization("sda", read_requests=3, write_requests=None, utilisation_percent=1.0)
    found = from_disk_use(Outcome("fio-3.33", (PartOutcome("a", read=read, write=read),), (disk,)))
    assert found is not None
    assert found.words.endswith(": sda read at most 12 MiB")
    account = found.evidence.account
    assert account is not None
    assert (account.leaf_read_bytes, account.leaf_write_bytes) == (12 * 1024**2, 10 * 1024**3)


def test_infinite_quoted_rates_are_ignored() -> None:
    rows = "pool alloc free read write read write\n" + f"tank 1G 9G 5 5 {'9' * 400}M 0\n" * 3
    (audited,) = audit_text("post", _COMMAND + READ + rows, Context())
    assert audited.verdict == "unproven"


_AT_DEPTH = """fio --name={name} --filename=/dev/sdb --direct=1 --rw=randread --bs=4k --ioengine=psync --iodepth={depth}
{name}: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth={depth}
fio-3.33
Starting 1 process
note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1

{name}: (groupid=0, jobs=1): err= 0: pid=1: Sun Nov 22 10:00:00 2026
  read: IOPS=5000, BW=19.5MiB/s (20.5MB/s)(195MiB/10000msec)
    clat (usec): min=100, max=900, avg=198.20, stdev=30.10
"""


def _depth_verdict(name: str = "r", depth: int = 32, before: str = "", after: str = "") -> tuple[str, str]:
    text = f"{before}\n{_AT_DEPTH.format(name=name, depth=depth)}\n{after}\n"
    (found,) = audit_text("post.md", text, Context())
    (effect,) = (finding.effect for finding in found.findings if finding.rule == "iodepth-with-sync-engine")
    return found.verdict, effect


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("4k random reads at QD32:", ""),
        ("", "So this disk does 5000 IOPS with a queue depth of 32."),
        ("Results for iodepth 32, one thread", ""),
        ("RND4K Q32T1", ""),
    ],
)
def test_a_depth_that_the_author_claims_for_a_synchronous_engine_is_suspect(before: str, after: str) -> None:
    assert _depth_verdict(before=before, after=after) == ("suspect", "suspects")


@pytest.mark.parametrize("broken", ["ioen\ngine=psync, iodepth=32", "ioeng\nine=psync, iodepth=32"])
def test_a_broken_header_line_of_fio_claims_no_depth(broken: str) -> None:
    text = _AT_DEPTH.format(name="r", depth=32).replace("ioengine=psync, iodepth=32", broken).replace("(W) ", "(W)\n")
    (found,) = audit_text("post.md", text, Context())

    assert [each.effect for each in found.findings if each.rule == "iodepth-with-sync-engine"] == ["notes"]


@pytest.mark.parametrize("name", ["rand-4k-qd32", "iodepth_32_randread", "RND4KQ32T1"])
def test_so_is_one_that_the_name_of_the_job_claims(name: str) -> None:
    assert _depth_verdict(name) == ("suspect", "suspects")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("At QD1 the old disk did 3000.", ""),
        ("", "psync ignores the queue depth of 32, of course."),
        ("[global]\niodepth=32\nsize=10g\nioengine=psync", ""),
        ("I ran fio with --iodepth=32 on the new disk", ""),
        ("", "The QD32 figure of the vendor is not reached."),
    ],
)
def test_a_job_whose_depth_nobody_claims_is_an_honest_result_of_depth_1(before: str, after: str) -> None:
    assert _depth_verdict(before=before, after=after) == ("unproven", "notes")
    assert _depth_verdict("rand4k-qd8", before=before, after=after) == ("unproven", "notes")


_READS = "r: (g=0): rw=read, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, ioengine={}, iodepth=1\n" + (
    "r: (groupid=0, jobs=1): err= 0: pid=9: Sat Jul 14 14:34:07 2018\n"
    "  read: IOPS=48.0k, BW=6000MiB/s (6291MB/s)(176GiB/30000msec)\n"
)


@pytest.mark.parametrize(
    ("sentence", "command", "is_suspect"),
    [
        ("Single-threaded buffered read IO on this box:", "", True),
        ("The numbers for buffered writes come later. First buffered reads:", "fio r.fio", True),
        ("These are not buffered reads.", "", False),
        ("Compared with buffered reads, O_DIRECT is slower.", "", False),
        ("Buffered and direct reads: both use this file.", "", False),
        ("Buffered reads:", "fio --name=r --rw=read --bs=128k --size=176g --direct=1", False),
        ("Timing buffered disk reads:", "", False),
    ],
)
def test_a_sentence_that_says_buffered_makes_a_fast_result_suspect(
    sentence: str, command: str, is_suspect: bool
) -> None:
    (found,) = audit_text("post", f"{sentence}\n{command}\n{_READS.format('psync')}", Context())
    assert found.verdict == ("suspect" if is_suspect else "unproven"), found.findings
