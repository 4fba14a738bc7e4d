"""`file: 16G`: a sparse file behind a loop device with direct I/O."""

from poolproof.campaign.model import Device, LoopFile
from poolproof.devices.loop import attach, block_volume, is_attached
from poolproof.devices.model import DevicePlan, Site
from poolproof.devices.site import clear, require
from poolproof.facts.block import Below
from poolproof.steps import Step

PROGRAMS = ("losetup", "truncate")


def plan(device: Device, source: LoopFile, site: Site, loop: int, below: Below | None) -> DevicePlan:
    """Plan a sparse file on loop device `loop`.

    `below`: the disk that stores the state directory.

    Raises a HostError if commands do not run as root or a program is missing.
    """
    require(site, f"{device.name} (a file on a loop device)", *PROGRAMS)
    file = f"{site.state_dir}/{device.name}.img"
    create = Step(
        title=f"create the image file of {device.name}", argv=("truncate", "-s", str(source.size_bytes), file)
    )
    steps = (clear(device.name, file), create, attach(loop, file, device.name))
    volume = block_volume(f"loop{loop}", device.name, source.size_bytes, below)
    return DevicePlan(steps, volume, is_attached(loop, file))
