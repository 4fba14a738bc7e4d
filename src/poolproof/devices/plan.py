"""Plan the steps that set up the devices of a campaign; a pure function."""

from collections.abc import Sequence
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

    `loops` has a free loop number for each device, `nbds` has free numbers of the kernel's nbd devices. `below` is the
    disk of the state directory. `disks` is a recent result of `facts.block.block_devices`. `permitted` has the
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
        CampaignError: an unknown model or disk, or a disk named by its kernel name.
        GuardError: a disk is in use, not empty, or not permitted.
        HostError: root or a program is missing, or the path of a socket would be too long.
    """
    nbds, left = iter(facts.nbds), site.ram_free_bytes // 2
    plans: list[DevicePlan] = []
    for index, (device, loop) in enumerate(zip(devices, facts.loops[: len(devices)], strict=True)):
        with located_at(device.origin):
            match device.source:
                case LoopFile() as source:
                    plan = file.plan(device, source, site, loop, facts.below)
                case Qcow2() as source:
                    plan = qcow2.plan(device, source, site, loop, facts.below, next(nbds, None))
                case Emulated() as source:
                    in_ram = source.size_bytes <= left
                    left -= source.size_bytes if in_ram else 0
                    plan = emulate.plan(device, source, site, loop, in_ram, seed + index)
                case Disk() as source:
                    plan = disk.plan(device, source, site, facts.disks, facts.permitted)
        plans.append(plan)
    return tuple(plans)


def programs_of(source: DeviceSource) -> tuple[str, ...]:
    """Return the programs that such a device may need."""
    kinds = {LoopFile: file, Qcow2: qcow2, Emulated: emulate, Disk: disk}
    programs: tuple[str, ...] = kinds[type(source)].PROGRAMS
    return programs


def versions_of(source: DeviceSource) -> tuple[ProgramVersion, ...]:
    """Return the versions to record of the programs that serve such a device."""
    return tuple(VERSIONS[program] for program in programs_of(source) if program in VERSIONS)
