"""The slowdown of a load by control groups and heat, according to two samples of the host's conditions."""

from poolproof.evidence.model import DeviceLimit, Throttling
from poolproof.facts.conditions import Conditions


def throttling_between(start: Conditions, end: Conditions) -> Throttling:
    """Return the limits that applied in either sample, and the increase of the throttling counters between the samples.

    A device without a name in either sample is identified by its device number.
    """
    names = {number: device for device, number in (*start.numbers.items(), *end.numbers.items())}
    return Throttling(
        devices=tuple(
            DeviceLimit(names.get(each.number, each.number), each.kind, each.most)
            for each in dict.fromkeys((*start.io_limits, *end.io_limits))
        ),
        processors=end.cpu.processors if end.cpu.processors is not None else start.cpu.processors,
        cpu_periods=max(0, end.cpu.periods - start.cpu.periods),
        cpu_s=max(0.0, end.cpu.seconds - start.cpu.seconds),
        heat_events=max(0, end.heat_events - start.heat_events),
    )
