"""Plans the steps that set up a campaign's devices, without running them."""

from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Device, DeviceSource, Disk, Emulated, LoopFile, Qcow2
from poolproof.devices import disk, emulate, file, qcow2
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.site import VERSIONS
from poolproof.facts.block import Below, BlockFacts
from poolproof.facts.machine import ProgramVersion

DAEMONS = (*emulate.DAEMONS, *qcow2.DAEMONS)
"""The programs that devices start. An `UndoDaemon` stops them."""


@dataclass(frozen=True)
class DeviceFacts:
    """Facts about the host that are needed to plan the devices.

    `loops`: one free loop device number for each device.
    `nbds`: the numbers of free nbd devices.
    `below`: the disk that stores the state directory.
    `disks`: recent output of `facts.block.block_devices`.
    `permitted`: the identities of the disks that poolproof may overwrite.
    """

    loops: tuple[int, ...]
    nbds: tuple[int, ...] = ()
    below: Below | None = None
    disks: tuple[BlockFacts, ...] = ()
    permitted: frozenset[str] = frozenset()


def check_sources(devices: Sequence[Device]) -> None:
    """Raise a CampaignError if a device cannot be planned on any host: a disk's identity or a model is wrong."""
    for device in devices:
        with located_at(device.origin):
            if isinstance(device.source, Disk):
                disk.check_identity(device.name, device.source.identity)
            elif isinstance(device.source, Emulated):
                emulate.model_named(device.source.model)


def plan_devices(devices: Sequence[Device], site: Site, facts: DeviceFacts, seed: int = 1) -> tuple[DevicePlan, ...]:
    """Plan all devices, and return the plans in the same order.

    Emulated disks may use half of the free RAM. A disk's data is kept in RAM if enough of that half is left.

    Raises:
        CampaignError: a model or disk is unknown, or an identity matches several disks or cannot be a whole disk's.
        GuardError: a disk is in use, not empty or not named in `--wipe`.
        HostError: commands do not run as root, a program is missing, or a socket path would be too long.
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
    """Return the programs that a device of this kind may need."""
    kinds = {LoopFile: file, Qcow2: qcow2, Emulated: emulate, Disk: disk}
    programs: tuple[str, ...] = kinds[type(source)].PROGRAMS
    return programs


def versions_of(source: DeviceSource) -> tuple[ProgramVersion, ...]:
    """Return the commands that print the versions of the programs that a device of this kind may need."""
    return tuple(VERSIONS[program] for program in programs_of(source) if program in VERSIONS)
