"""A campaign as it is seen from inside a lab: its devices are disks there, by name, and they are the lab's own."""

from dataclasses import replace

from poolproof.campaign.device_source import format_source
from poolproof.campaign.model import Campaign, Device, Disk
from poolproof.errors import CampaignError
from poolproof.lab.standing import LabRecord


def seen_from(lab: LabRecord, campaign: Campaign) -> Campaign:
    """The campaign with each device that the lab has as one of its disks; the others stay as they are.

    Raises:
        CampaignError: the lab's disk of that name is another one.
    """
    return replace(campaign, devices=tuple(_seen(lab, device) for device in campaign.devices))


def own_disks(lab: LabRecord) -> frozenset[str]:
    """The identities of the lab's disks, which may be overwritten since nothing else is on them."""
    return frozenset(lab.disks.values())


def _seen(lab: LabRecord, device: Device) -> Device:
    if isinstance(device.source, Disk) or device.name not in lab.disks:
        return device
    asked = format_source(device.source)
    if asked != lab.sources[device.name]:
        raise CampaignError(
            f"device {device.name} is {asked}; the lab {lab.name} has it as {lab.sources[device.name]}",
            "start another lab, or run the campaign with --lab, which starts its own",
        )
    return replace(device, source=Disk(lab.disks[device.name]))
