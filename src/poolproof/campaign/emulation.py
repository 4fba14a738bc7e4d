"""Which devices of a campaign are emulated disks. Their results describe a disk model, not a real disk."""

from poolproof.campaign.model import DeviceSource, Disk, Emulated

LAB_PREFIX = "scsi-0LAB_"
"""The start of the by-id name of every disk of a lab. The model and the device's name follow: `hdd-7200_a`."""

_IMAGES = ("file", "qcow2")


def emulated_model(source: DeviceSource) -> str:
    """Return the disk model of an emulated disk, such as `hdd-7200`; empty for any other device.

    A lab's disk is recognized by its by-id name. Its file and qcow2 disks are images, which have no model.
    """
    if isinstance(source, Emulated):
        return source.model
    if not isinstance(source, Disk):
        return ""
    _, found, rest = source.identity.partition(LAB_PREFIX)
    product = rest.partition("_")[0]
    return product if found and product not in _IMAGES else ""
