"""What a layout gives beside speed: how many disks may fail, how much data fits, how much is written for a byte."""

from dataclasses import dataclass

from poolproof.campaign.model import Campaign, Disk, Layout
from poolproof.layers.tree import capacity_bytes, devices, directories, redundancy, resolve, write_factor


@dataclass(frozen=True)
class Safety:
    """`redundancy`: how many of the `devices` may fail, whichever they are, without a byte lost.

    None where it can't be known from the campaign: what lies below an existing directory, the size of a real disk.
    """

    redundancy: int | None
    devices: int
    capacity_bytes: int | None
    write_factor: float


def safety(layout: Layout, campaign: Campaign) -> Safety:
    """What the layout's own layers say of it.

    Raises:
        CampaignError: this poolproof can't read the layout.
    """
    sizes = {
        device.name: device.source.size_bytes for device in campaign.devices if not isinstance(device.source, Disk)
    }
    node = resolve(layout.expression, {device.name for device in campaign.devices})
    known = not directories(node) and sizes.keys() >= set(devices(node))
    return Safety(
        redundancy=redundancy(node),
        devices=len(devices(node)),
        capacity_bytes=capacity_bytes(node, sizes) if known else None,
        write_factor=write_factor(node),
    )
