"""Rejects trims of regular files. fio itself would reject them only after the layout has been built and filled."""

from poolproof.campaign.error_location import located_in
from poolproof.campaign.model import Campaign, JobSpec
from poolproof.errors import CampaignError
from poolproof.layers.arguments import is_block
from poolproof.layers.resolve import resolve

_PUNCHES = ("falloc",)  # this engine trims a file by punching holes in it


def check_trims(campaign: Campaign) -> None:
    """Raise a CampaignError if a workload trims and some layout ends in a file system."""
    trimming = [workload for workload in campaign.workloads if any(map(_trims, workload.jobs))]
    if not trimming:
        return
    names = {device.name for device in campaign.devices}
    for layout in campaign.layouts:
        if not is_block(resolve(layout.expression, names)):
            with located_in(trimming[0]):
                raise CampaignError(
                    f"workload {trimming[0].name} trims, but fio can trim only block devices, and layout {layout.name} "
                    "has a file system",
                    "use a layout without a file system, such as: md raid1 a b",
                ).concerning("rw")


def _trims(job: JobSpec) -> bool:
    """True if the job trims with an engine that needs a block device for this: any engine except falloc.

    Source: do_io_u_trim in fio's ioengines.c and os_trim in os/os-linux.h (BLKDISCARD).
    """
    options = dict(job.options)
    return "trim" in options.get("rw", options.get("readwrite", "")) and options.get("ioengine") not in _PUNCHES
