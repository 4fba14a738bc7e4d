"""The host's page cache, dirty memory and processor use during a trial.

Documentation/filesystems/proc.rst describes the files. /proc/meminfo is in kB. For each processor, /proc/stat contains
the clock ticks spent in the states user, nice, system, idle, iowait, irq, softirq and steal. The time that virtual
machines ran is part of user.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.evidence.model import CpuUse, HostUse
from poolproof.facts.machine import memory_bytes
from poolproof.hosts.base import Host
from poolproof.hosts.numbers import whole_numbers

_PATHS = ("/proc/meminfo", "/proc/stat")
_IDLE, _IOWAIT, _STEAL, _FIELDS = 3, 4, 7, 8


@dataclass(frozen=True)
class HostReading:
    """A sample of the host's memory use in bytes and of the clock ticks of each processor.

    `dirty_bytes`: dirty pages, including those that are being written back.
    """

    cached_bytes: int
    dirty_bytes: int
    ticks: Mapping[str, tuple[int, ...]]


def read_host(host: Host) -> HostReading:
    """Read the host's page cache, dirty memory and processor counters.

    Raises HostUnreachable if the connection was lost.
    """
    memory, stat = host.read_files(_PATHS).texts
    return HostReading(
        memory_bytes(memory, "Cached"), memory_bytes(memory, "Dirty") + memory_bytes(memory, "Writeback"), _ticks(stat)
    )


def host_use(start: HostReading, end: HostReading, drained: HostReading) -> HostUse:
    """Return the memory and processor use, given samples from before the load, after it, and after the final flush."""
    return HostUse(
        cached_start_bytes=start.cached_bytes,
        cached_end_bytes=end.cached_bytes,
        dirty_start_bytes=start.dirty_bytes,
        dirty_end_bytes=end.dirty_bytes,
        dirty_drained_bytes=drained.dirty_bytes,
        cpus=tuple(_cpu_use(name, start.ticks[name], end.ticks[name]) for name in end.ticks if name in start.ticks),
    )


def _cpu_use(name: str, earlier: tuple[int, ...], later: tuple[int, ...]) -> CpuUse:
    """Return the fraction of the time that a processor spent in each state.

    If a counter decreased, as iowait can (see proc.rst), it is treated as unchanged.
    """
    spent = [max(0, b - a) for a, b in zip(earlier, later, strict=True)]
    total = sum(spent) or 1
    busy = total - spent[_IDLE] - spent[_IOWAIT] - spent[_STEAL] if sum(spent) else 0
    return CpuUse(name, busy / total, spent[_IOWAIT] / total, spent[_STEAL] / total)


def _ticks(stat: str) -> dict[str, tuple[int, ...]]:
    """Return the clock ticks of each processor, keyed by the processor's name.

    Fields that old kernels (before Linux 2.6.33) do not report are 0.
    """
    found = re.findall(r"^(cpu\d+) (.*)", stat, re.MULTILINE)
    return {name: (*whole_numbers(fields, "/proc/stat"), *[0] * _FIELDS)[:_FIELDS] for name, fields in found}
