"""Find out what else the host did while the load was running, by comparing readings from before and after."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolproof.evidence.counter_sources import Values, read_sources
from poolproof.evidence.host_use import HostReading, read_host
from poolproof.evidence.model import DeviceLimit, OtherWork, Throttling, ZfsUse
from poolproof.evidence.other_work import OthersReading, others_between, read_others
from poolproof.evidence.target_facts import ZfsFacts
from poolproof.evidence.zfs import ZfsCounters, read_zfs, use_between
from poolproof.facts.conditions import Conditions, read_conditions
from poolproof.layers.open_layout import pool_host
from poolproof.measure.model import TrialContext


@dataclass(frozen=True)
class Surroundings:
    """What else the main host did while the load was running, and its condition."""

    others: OtherWork
    throttling: Throttling
    conditions: Mapping[str, str]


@dataclass(frozen=True)
class HostBefore:
    """The state of the main host just before the load is started. `others_at_s`: the time when `others` was read."""

    sources: Mapping[str, Values]
    conditions: Conditions
    others: OthersReading
    others_at_s: float
    zfs: ZfsCounters | None
    host: HostReading

    @classmethod
    def read(cls, context: TrialContext, stats: Sequence[str]) -> "HostBefore":
        """Read the current state of the host.

        `stats`: the sysfs `stat` files of the block devices in use.

        Raises a CommandError if the host does not respond, and HostUnreachable if the connection was lost.
        """
        host = context.host
        sources, conditions = read_sources(host), read_conditions(host, stats)
        others, others_at_s = read_others(host, _mark(context)), time.monotonic()
        return cls(sources, conditions, others, others_at_s, _read_zfs(context), read_host(host))

    def surroundings(self, context: TrialContext, stats: Sequence[str]) -> Surroundings:
        """Return the changes since this reading, excluding delays of the load generator's own threads.

        Raises a CommandError if the host does not respond.
        """
        others = read_others(context.host, _mark(context))
        since = others_between(self.others, others, time.monotonic() - self.others_at_s)
        conditions = read_conditions(context.host, stats)
        return Surroundings(since, throttling_between(self.conditions, conditions), conditions.texts)

    def zfs_use(self, context: TrialContext) -> ZfsUse | None:
        """Return how much ZFS's counters have increased since this reading, or None if the layout has no pool."""
        return use_between(self.zfs, _read_zfs(context))


def throttling_between(start: Conditions, end: Conditions) -> Throttling:
    """Return the limits that applied in either sample, and the increase of the throttling counters between the samples.

    Limits of devices that the samples do not name are left out, because the layout does not use these devices. If the
    samples name no devices, those of the layout are unknown, and all limits are returned with device numbers.
    """
    names = {number: device for device, number in (*start.numbers.items(), *end.numbers.items())}
    return Throttling(
        devices=tuple(
            DeviceLimit(names.get(each.number, each.number), each.kind, each.most)
            for each in dict.fromkeys((*start.io_limits, *end.io_limits))
            if not names or each.number in names
        ),
        processors=end.cpu.processors if end.cpu.processors is not None else start.cpu.processors,
        cpu_periods=max(0, end.cpu.periods - start.cpu.periods),
        cpu_s=max(0.0, end.cpu.seconds - start.cpu.seconds),
        heat_events=max(0, end.heat_events - start.heat_events),
    )


def _mark(context: TrialContext) -> str:
    """Return the name of the run's own directory, which identifies the run's processes by their command lines."""
    return context.layout.scratch.rpartition("/")[2]


def _read_zfs(context: TrialContext) -> ZfsCounters | None:
    facts = context.layout.target.zfs or ZfsFacts()
    return read_zfs(pool_host(context.layout.tree, context.host), facts.pools, facts.objsets)
