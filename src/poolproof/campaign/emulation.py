"""Determine which devices of a campaign are emulated disks.

Results from emulated disks describe a disk model rather than a real disk.
"""

from collections.abc import Mapping, Sequence

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.layout import devices_of
from poolproof.campaign.model import Campaign, DeviceSource, Disk, Emulated

LAB_PREFIX = "scsi-0LAB_"
"""The prefix of every lab disk's by-id name. It is followed by the model and the device's name (`hdd-7200_a`)."""

SLOWED = frozenset({"sata-ssd", "nvme"})
"""The emulated models that have ten times the latency of the real disks."""

_IMAGES = ("file", "qcow2")


def emulated_model(source: DeviceSource) -> str:
    """Return an emulated disk's model, such as `hdd-7200`, or an empty string for any other device.

    Lab disks are recognized by their by-id names. The lab's file and qcow2 disks are images, which have no model.
    """
    if isinstance(source, Emulated):
        return source.model
    if not isinstance(source, Disk):
        return ""
    _, found, rest = source.identity.partition(LAB_PREFIX)
    product = rest.partition("_")[0]
    return product if found and product not in _IMAGES else ""


def emulated_models(campaign: Campaign) -> Mapping[str, tuple[str, ...]]:
    """Return the models of the emulated disks in each layout, keyed by layout name.

    Bare disks that `calibrate` measures are included as layouts.
    """
    models = {device.name: emulated_model(device.source) for device in campaign.devices}
    used = {layout.name: devices_of(layout, models) for layout in campaign.layouts}
    used |= {
        layout.name: frozenset({device})
        for layout in calibration_of(campaign).layouts
        if (device := calibrated_device(layout.name)) is not None
    }
    return {name: tuple(sorted({models[each] for each in own} - {""})) for name, own in used.items()}


def emulation_note(models: Sequence[str]) -> str:
    """Return a note that results on these disk models do not describe real disks, or an empty string without models."""
    if not models:
        return ""
    text = f"emulated disks ({', '.join(models)}): the result describes the disk model, not a real disk"
    slowed = sorted(SLOWED.intersection(models))
    verb = "has" if len(slowed) == 1 else "have"
    return f"{text}; {' and '.join(slowed)} {verb} ten times the latency of a real disk" if slowed else text
