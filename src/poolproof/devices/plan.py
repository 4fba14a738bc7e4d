"""Plan the steps that set up the devices of a campaign: a pure function of the devices, the site and host facts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Device, DeviceSource, Disk, Emulated, LoopFile, Qcow2
from poolproof.devices import disk, emulate, file, qcow2
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.site import VERSIONS
from poolproof.facts.block import Below, BlockFacts
from poolproof.facts.machine import ProgramVersion


@dataclass(frozen=True)
class DeviceFacts:
    """The facts about the host that planning needs.

    `loops` are free loop numbers, one for each device; `nbds` are free numbers of the kernel's nbd devices. `below` is
    the disk of the state directory. `disks` is a recent result of `facts.block.block_devices`; `permitted` are the
    identities of disks that the user allows to overwrite.
    """

    loops: tuple[int, ...]
    nbds: tuple[int, ...] = ()
    below: Below | None = None
    disks: tuple[BlockFacts, ...] = ()
    permitted: frozenset[str] = frozenset()


def plan_devices(devices: Sequence[Device], site: Site, facts: DeviceFacts, seed: int = 1) -> tuple[DevicePlan, ...]:
    """Return a plan for each device, in order.

    Emulated disks keep their data in RAM as long as they take at most half of the free RAM together.

    Raises:
        CampaignError, GuardError, HostError: as `plan_device`.
        ValueError: fewer loop numbers than devices.
    """
    nbds = iter(facts.nbds)
    places = _in_ram(devices, site)
    return tuple(
        _plan(device, site, facts, loop, nbds, in_ram, seed + index)
        for index, (device, loop, in_ram) in enumerate(
            zip(devices, facts.loops[: len(devices)], places, strict=True),
        )
    )


def plan_device(device: Device, site: Site, facts: DeviceFacts, seed: int = 1) -> DevicePlan:
    """Return the plan of one device.

    Raises:
        CampaignError: no such model, no such disk, or a disk named by its kernel name.
        GuardError: the disk is in use, not empty, or not permitted.
        HostError: root or a program is missing, or the path of a socket would be too long.
    """
    return plan_devices((device,), site, facts, seed)[0]


def programs_of(source: DeviceSource) -> tuple[str, ...]:
    """Return the programs that such a device may need."""
    match source:
        case LoopFile():
            return file.PROGRAMS
        case Qcow2():
            return qcow2.PROGRAMS
        case Emulated():
            return emulate.PROGRAMS
        case Disk():
            return disk.PROGRAMS


def versions_of(source: DeviceSource) -> tuple[ProgramVersion, ...]:
    """Return the versions to record of the programs that serve such a device."""
    return tuple(VERSIONS[program] for program in programs_of(source) if program in VERSIONS)


def _plan(
    device: Device, site: Site, facts: DeviceFacts, loop: int, nbds: Iterator[int], in_ram: bool, seed: int
) -> DevicePlan:
    with located_at(device.origin):
        return _plan_of_kind(device, site, facts, loop, nbds, in_ram, seed)


def _plan_of_kind(
    device: Device, site: Site, facts: DeviceFacts, loop: int, nbds: Iterator[int], in_ram: bool, seed: int
) -> DevicePlan:
    source = device.source
    match source:
        case LoopFile():
            return file.plan(device, source, site, loop, facts.below)
        case Qcow2():
            return qcow2.plan(device, source, site, loop, facts.below, next(nbds, None))
        case Emulated():
            return emulate.plan(device, source, site, loop, in_ram, seed)
        case Disk():
            return disk.plan(device, source, site, facts.disks, facts.permitted)


def _in_ram(devices: Sequence[Device], site: Site) -> Iterator[bool]:
    left = site.ram_free_bytes // 2
    for device in devices:
        size = device.source.size_bytes if isinstance(device.source, Emulated) else 0
        fits = size <= left
        left -= size if fits else 0
        yield fits
