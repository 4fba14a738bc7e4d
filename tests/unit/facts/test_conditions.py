"""The limits of control groups (v1 and v2), processor settings, links and temperatures, as the script prints them."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from poolproof.evidence.model import DeviceLimit
from poolproof.facts.conditions import SCRIPT, Conditions, IoLimit, parse_conditions, read_conditions
from poolproof.hosts.local import LocalHost
from poolproof.measure.surroundings import throttling_between

_V2 = """\
/sys/fs/cgroup/bench.slice/io.max:259:0 rbps=max wbps=52428800 riops=100 wiops=max
/sys/fs/cgroup/bench.slice/cpu.max:20000 100000
/sys/fs/cgroup/bench.slice/cpu.stat:usage_usec 4000000
/sys/fs/cgroup/bench.slice/cpu.stat:nr_periods 90
/sys/fs/cgroup/bench.slice/cpu.stat:nr_throttled 13
/sys/fs/cgroup/bench.slice/cpu.stat:throttled_usec 596068
/sys/fs/cgroup/cpu.max:max 100000
"""
_V1 = """\
/sys/fs/cgroup/blkio/job/blkio.throttle.read_iops_device:254:0 100
/sys/fs/cgroup/blkio/job/blkio.throttle.write_bps_device:254:0 1048576
/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us:50000
/sys/fs/cgroup/cpu/job/cpu.cfs_period_us:100000
/sys/fs/cgroup/cpu/job/cpu.stat:nr_periods 20
/sys/fs/cgroup/cpu/job/cpu.stat:nr_throttled 7
/sys/fs/cgroup/cpu/job/cpu.stat:throttled_time 250000000
/sys/fs/cgroup/cpu/cpu.cfs_quota_us:-1
/sys/fs/cgroup/cpu/cpu.cfs_period_us:100000
"""
_REST = """\
/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:powersave
/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor:powersave
/sys/devices/system/cpu/intel_pstate/no_turbo:1
/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count:4
/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count:1
idle:0 POLL
idle:0 C1
idle:1 C6
allowed:0 0-1,4
number:nvme0n1 259:0
queue:nvme0n1 read_ahead_kb=128, nr_requests=1023, write_cache=write back
scheduler:nvme0n1 none
link:nvme0n1 8.0 GT/s PCIe ×2, at most 16.0 GT/s PCIe ×4
heat:nvme0n1 71850
"""


def test_limits_of_version_2() -> None:
    found = parse_conditions(_V2)
    assert found.io_limits == (IoLimit("259:0", "wbps", 52428800), IoLimit("259:0", "riops", 100))
    assert (found.cpu.processors, found.cpu.periods, found.cpu.seconds) == (0.2, 13, 0.596068)


def test_the_name_of_a_control_group_may_contain_a_colon() -> None:
    found = parse_conditions(_V2.replace("bench.slice", "dbus-:1.2-org.example.service"))
    assert (found.io_limits, found.cpu) == (parse_conditions(_V2).io_limits, parse_conditions(_V2).cpu)


def test_limits_of_version_1() -> None:
    found = parse_conditions(_V1)
    assert found.io_limits == (IoLimit("254:0", "riops", 100), IoLimit("254:0", "wbps", 1048576))
    assert (found.cpu.processors, found.cpu.periods, found.cpu.seconds) == (0.5, 7, 0.25)


@pytest.mark.parametrize(
    ("printed", "texts"),
    [
        ("", {"cgroup io.max": "none", "cgroup cpu.max": "none"}),
        (
            _V2 + _REST,
            {
                "cgroup io.max": "nvme0n1 wbps=52428800, nvme0n1 riops=100",
                "cgroup cpu.max": "0.2 processors",
                "cpu governor": "powersave",
                "cpu no_turbo": "1",
                "cpu idle states": "POLL, C1",
                "processors allowed": "0-1,4",
                "queue of nvme0n1": "read_ahead_kb=128, nr_requests=1023, write_cache=write back",
                "scheduler of nvme0n1": "none",
                "link of nvme0n1": "8.0 GT/s PCIe ×2, at most 16.0 GT/s PCIe ×4",
                "temperature of nvme0n1": "72 °C",
            },
        ),
    ],
    ids=["nothing", "a laptop"],
)
def test_what_is_recorded(printed: str, texts: Mapping[str, str]) -> None:
    assert parse_conditions(printed).texts == texts


def test_only_the_growth_of_the_counters_belongs_to_a_trial() -> None:
    start, end = parse_conditions(_V2 + _REST), parse_conditions(_V2.replace("13", "20").replace("596068", "696068"))
    found = throttling_between(start, end)
    assert found.devices == (DeviceLimit("nvme0n1", "wbps", 52428800), DeviceLimit("nvme0n1", "riops", 100))
    assert (found.processors, found.cpu_periods, round(found.cpu_s, 6)) == (0.2, 7, 0.1)
    assert found.heat_events == 0, "a counter that was reset"
    assert throttling_between(Conditions(), start).heat_events == 5


def test_a_limit_of_a_device_that_the_layout_does_not_use_does_not_slow_it_down() -> None:
    start = parse_conditions(_V1 + "number:loop7 7:7")
    assert throttling_between(start, start).devices == ()
    unknown = parse_conditions(_V1)
    assert [limit.device for limit in throttling_between(unknown, unknown).devices] == ["254:0", "254:0"]


def test_this_machine_answers() -> None:
    assert set(read_conditions(LocalHost()).texts) >= {"cgroup io.max", "cgroup cpu.max"}


def test_the_processors_that_a_cpuset_or_taskset_allows_are_read() -> None:
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mine)})
        assert read_conditions(LocalHost()).texts["processors allowed"] == str(min(mine))
    finally:
        os.sched_setaffinity(0, mine)


def test_the_queue_settings_of_a_disk_of_this_machine_are_read() -> None:
    disk = next(each for each in Path("/sys/class/block").iterdir() if (each / "queue" / "read_ahead_kb").exists())
    texts = read_conditions(LocalHost(), [f"{disk}/stat"]).texts
    kilobytes = (disk / "queue" / "read_ahead_kb").read_text().strip()
    assert texts[f"queue of {disk.name}"].startswith(f"read_ahead_kb={kilobytes}, max_sectors_kb=")


def test_the_script_can_be_started_in_a_locale_without_utf_8() -> None:
    assert SCRIPT.isascii()
