"""The use of a host's memory and processors during a trial, computed from real contents of /proc."""

from collections.abc import Sequence

import pytest

from poolproof.evidence.host_use import host_use, read_host
from poolproof.evidence.model import CpuUse, HostUse
from poolproof.hosts.base import Tick
from poolproof.hosts.local import LocalHost

_MEMORY = """MemTotal:       24689764 kB
MemFree:        17551732 kB
Cached:          {cached} kB
SwapCached:            0 kB
Dirty:             {dirty} kB
Writeback:         {writeback} kB
WritebackTmp:          8 kB
"""
_STAT = """cpu  300 0 200 1000 100 0 0 50 0 0
cpu0 {cpu0}
cpu1 {cpu1}
intr 8172 0 0 13
ctxt 130
"""


class Texts(LocalHost):
    """This machine, with other contents in /proc."""

    def __init__(self, memory: tuple[int, int, int], cpus: tuple[str, str]) -> None:
        cached, dirty, writeback = memory
        self._texts = (
            _MEMORY.format(cached=cached, dirty=dirty, writeback=writeback),
            _STAT.format(cpu0=cpus[0], cpu1=cpus[1]),
        )

    def read_files(self, paths: Sequence[str]) -> Tick:
        assert list(paths) == ["/proc/meminfo", "/proc/stat"]
        return Tick(0.0, self._texts)


def test_memory_at_each_moment_and_shares_of_the_time_between() -> None:
    start = read_host(Texts((1000, 10, 0), ("100 0 100 500 50 0 0 0 0 0", "200 0 100 500 50 0 0 50 0 0")))
    end = read_host(Texts((3000, 400, 100), ("130 10 110 540 60 0 0 0 0 0", "200 0 100 500 49 0 0 150 0 0")))
    drained = read_host(Texts((3000, 0, 4), ("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0")))
    assert host_use(start, end, drained) == HostUse(
        cached_start_bytes=1000 << 10,
        cached_end_bytes=3000 << 10,
        dirty_start_bytes=10 << 10,
        dirty_end_bytes=500 << 10,
        dirty_drained_bytes=4 << 10,
        cpus=(CpuUse("cpu0", busy=0.5, iowait=0.1, steal=0.0), CpuUse("cpu1", busy=0.0, iowait=0.0, steal=1.0)),
    )


def test_a_processor_without_a_tick_was_idle() -> None:
    now = read_host(Texts((1, 1, 1), ("1 0 1 5 0 0 0 0", "1 0 1 5")))
    assert [cpu.busy for cpu in host_use(now, now, now).cpus] == [0.0, 0.0]


def test_this_host_reports_everything() -> None:
    now = read_host(LocalHost())
    found = host_use(now, now, now)
    assert found.cached_end_bytes > 0
    assert [cpu.name for cpu in found.cpus][:1] == ["cpu0"]
    assert all(cpu.busy == pytest.approx(0.0) for cpu in found.cpus)
