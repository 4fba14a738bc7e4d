"""From the kernel's counters to the byte accounting: real `stat` lines, and arithmetic that can be checked by hand."""

import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.devices.model import Leaf
from poolproof.evidence.account import Idle, Window, byte_account, leaf_uses
from poolproof.evidence.counters import (
    CounterReading,
    Counters,
    Sampler,
    between,
    counter_files,
    difference,
    parse_counters,
    read_now,
    reading_at,
)
from poolproof.evidence.model import Account, Expected
from poolproof.facts.block import Below
from poolproof.hosts.base import Hosts
from poolproof.hosts.local import LocalHost

# /sys/class/block/vda/stat of a virtio disk, Linux 6.18
LINUX_6_18 = (
    "   18330      134  1482258     6207    27177    39349  9188176    64391        0    22416    77716"
    "     2040        0 41243072     1141    10433     5975\n"
)
LINUX_4_15 = "  446216   784926  9550688  4382310   424847   312726   122902  65535    0  640516  4444236\n"


def test_fields_of_a_current_kernel() -> None:
    counters = parse_counters(LINUX_6_18)
    assert counters is not None
    assert (counters.read_ios, counters.read_bytes, counters.read_ms) == (18330, 1482258 * 512, 6207)
    assert (counters.write_ios, counters.write_bytes, counters.busy_ms) == (27177, 9188176 * 512, 22416)
    assert counters.flush_ios == 10433


def test_an_old_kernel_counts_no_flushes_and_a_removed_device_nothing() -> None:
    old = parse_counters(LINUX_4_15)
    assert old is not None and old.flush_ios is None and old.write_ios == 424847
    assert difference(old, old).flush_ios is None
    assert (old.read_merges, old.write_merges) == (784926, 312726)
    assert parse_counters("") is None


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.floats(0, 1))
def test_an_interpolated_counter_is_between_both(first: int, more: int, share: float) -> None:
    earlier, later = Counters(read_bytes=first), Counters(read_bytes=first + more)
    assert first <= between(earlier, later, share).read_bytes <= first + more
    assert difference(later, earlier).read_bytes == more


def test_milliseconds_are_printed_as_32_bits() -> None:
    """Times start again at 0 after 49 days (part_stat_show in block/genhd.c), and also if a device is replaced."""
    earlier, later = (
        Counters(read_ios=10, read_ms=2**32 - 1000, busy_ms=5),
        Counters(read_ios=20, read_ms=500, busy_ms=9),
    )
    assert difference(later, earlier).read_ms == 1500
    assert between(earlier, later, 0.5).read_ms == 2**32 - 250
    assert difference(Counters(read_ms=3), Counters(read_ms=1000)).read_ms == -997


def test_the_start_of_fio_is_not_idle_time_of_a_disk() -> None:
    files = counter_files([leaf("a")])
    start, end = (CounterReading(at_s, (Counters(busy_ms=ms),), files) for at_s, ms in ((0.0, 0), (2.5, 2000)))
    assert leaf_uses([leaf("a")], Window(start, end, end), 2.0)[0].utilisation == 1.0
    assert leaf_uses([leaf("a")], Window(start, end, end))[0].utilisation == 0.8


_FLUSHES = [
    *((name, 5) for name in ("sda", "nvme0n1", "loop0")),
    *((name, None) for name in ("sda1", "nvme0n1p2", "md127", "dm-0", "zd0")),
]


@pytest.mark.parametrize(("kernel_name", "flushes"), _FLUSHES)
def test_only_whole_disks_count_flushes_whatever_the_campaign_calls_them(kernel_name: str, flushes: int | None) -> None:
    """In the campaign, the device is called hdd1, which looks like a partition of hdd."""
    disk = Leaf("hdd1", f"/dev/{kernel_name}", f"/sys/class/block/{kernel_name}/stat")
    files = counter_files([disk])
    start, end = (CounterReading(at_s, (Counters(flush_ios=done),), files) for at_s, done in ((0.0, 1), (2.0, 6)))
    (use,) = leaf_uses([disk], Window(start, end, end))
    assert use.flush_ios == flushes
    assert (use.drain_flush_s is None) == (flushes is None)


def test_a_step_of_the_clock_changes_no_interval(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host, wall_s = LocalHost(), time.time
    (tmp_path / "stat").write_text(LINUX_6_18)
    first = host.read_files([str(tmp_path / "stat")]).at_s
    monkeypatch.setattr(time, "time", lambda: wall_s() + 3600)
    second = host.read_files([str(tmp_path / "stat")]).at_s
    with host.stream([str(tmp_path / "stat")], 0.01) as ticks:
        third = next(ticks).at_s
    assert first <= second <= third < first + 60


def leaf(name: str, below: str | None = None) -> Leaf:
    return Leaf(name, f"/dev/{name}", f"/sys/{name}/stat", Below(below, f"/sys/{below}/stat") if below else None)


def test_each_counter_file_is_read_once_with_the_disks_below_after_the_leaves() -> None:
    leaves = [leaf("a", "vda"), leaf("b", "vda"), leaf("c")]
    assert tuple(file.path for file in counter_files(leaves)) == (
        "/sys/a/stat",
        "/sys/b/stat",
        "/sys/c/stat",
        "/sys/vda/stat",
    )


def test_the_window_counts_what_the_leaves_did_and_the_drain_only_more_writes() -> None:
    leaves = [leaf("a", "vda"), leaf("b", "vda")]

    def reading(at_s: float, a: Counters, b: Counters, disk: Counters) -> CounterReading:
        return CounterReading(at_s, (a, b, disk), counter_files(leaves))

    window = Window(
        start=reading(100.0, Counters(read_bytes=10), Counters(), Counters(read_bytes=5)),
        end=reading(
            102.0,
            Counters(read_bytes=1010, read_ios=10, read_ms=500, busy_ms=500, write_bytes=100),
            Counters(write_bytes=200, write_ios=2, write_ms=10, busy_ms=2500),
            Counters(read_bytes=905),
        ),
        drained=reading(
            103.5,
            Counters(read_bytes=1010, write_bytes=400),
            Counters(write_bytes=600, write_ios=7),
            Counters(write_bytes=900),
        ),
    )
    a, b = leaf_uses(leaves, window)
    assert (a.read_bytes, a.write_bytes, a.drained_write_bytes) == (1000, 100, 400)
    assert a.utilisation == 0.25
    assert a.latency_s == pytest.approx(0.05)
    assert (a.below_device, a.below_read_bytes, a.below_drained_write_bytes) == ("vda", 900, 900)
    assert (b.write_ios, b.drained_write_ios) == (2, 7)
    assert b.utilisation == 1.0, "busy milliseconds can exceed the window by a tick"
    account = byte_account((2000, 500), (a, b), Expected(2.0), window, Idle())
    assert (account.leaf_read_bytes, account.leaf_write_bytes, account.leaf_drained_write_bytes) == (1000, 300, 1000)
    assert account.read_ratio == 0.5
    assert account.write_ratio == 1.0
    assert (account.window_s, account.drain_s) == (2.0, 1.5)


def test_idle_pauses_add_up_without_the_disks_below() -> None:
    quiet = CounterReading(10.0, (Counters(), Counters()))
    busy = CounterReading(12.0, (Counters(read_bytes=400, write_bytes=100), Counters(read_bytes=10**9)))
    idle = Idle().plus(quiet, busy, leaf_count=1).plus(busy, CounterReading(14.0, busy.counters), leaf_count=1)
    assert (idle.seconds, idle.read_bytes, idle.write_bytes) == (4.0, 400, 100)


def test_the_counters_at_a_moment_are_interpolated() -> None:
    readings = [CounterReading(float(second), (Counters(read_bytes=second * 100),)) for second in range(5)]
    assert reading_at(readings, 2.5).counters[0].read_bytes == 250
    assert reading_at(readings, -1.0) is readings[0]
    assert reading_at(readings, 99.0) is readings[-1]


def test_counters_are_read_on_the_host_that_has_the_leaves(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("1 0 8 0 2 0 16 0 0 0 0\n")
    other = Leaf("b", "/dev/b", str(stat), host="nas2")
    hosts = Hosts(LocalHost(), {"nas2": LocalHost()})
    assert read_now(hosts, [other]).files[0].host == "nas2"
    with Sampler(hosts, [other], interval_s=0.01) as sampler:
        while not sampler.readings:
            time.sleep(0.01)
    assert {reading.files[0].host for reading in sampler.readings} == {"nas2"}
    assert read_now(hosts, [replace(other, host="")]).files[0].host == ""


def test_counters_of_several_hosts_are_read_in_the_order_of_the_leaves(tmp_path: Path) -> None:
    leaves = []
    for number, host in enumerate(("nas2", "", "nas2"), start=1):
        stat = tmp_path / f"stat{number}"
        stat.write_text(f"{number} 0 8 0 2 0 16 0 0 0 0\n")
        leaves.append(Leaf(f"leaf{number}", "/dev/b", str(stat), host=host))
    hosts = Hosts(LocalHost(), {"nas2": LocalHost()})
    assert [counters.read_ios for counters in read_now(hosts, leaves).counters] == [1, 2, 3]
    with Sampler(hosts, leaves, interval_s=0.01) as sampler:
        while len(sampler.readings) < 2:
            time.sleep(0.01)
    assert {tuple(each.read_ios for each in reading.counters) for reading in sampler.readings} == {(1, 2, 3)}


@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, math.nan])
def test_a_write_amplification_of_a_damaged_file_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="write_factor"):
        Account(0, 1, 0, 1, 1, factor, 1.0, 0.0)
