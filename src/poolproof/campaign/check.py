"""What must hold between the parts of a campaign, however it was written."""

from collections.abc import Mapping

from poolproof.campaign.document import Spot
from poolproof.campaign.layout import check_devices_once
from poolproof.campaign.model import Campaign
from poolproof.campaign.nearest import did_you_mean, listed

MOST_CELLS = 100_000
_LISTED = 8


def check_whole(campaign: Campaign, spots: Mapping[str, Spot]) -> None:
    """Check a campaign as a whole; `spots` says where each of its parts stands.

    Raises:
        CampaignError: no cells at all, a device twice in one layout, a baseline or a goal that names nothing.
    """
    _check_cells(campaign, spots)
    devices = {device.name for device in campaign.devices}
    for layout in campaign.layouts:
        check_devices_once(layout, devices)
    layouts = [layout.name for layout in campaign.layouts]
    if campaign.baseline is not None and campaign.baseline not in layouts:
        raise _names_nothing(campaign.baseline, "baseline", "layout", layouts, spots["baseline"])
    families = [workload.family for workload in campaign.workloads]
    workloads = list(dict.fromkeys([*families, *(workload.name for workload in campaign.workloads)]))
    if campaign.goal is not None and campaign.goal not in workloads:
        raise _names_nothing(campaign.goal, "goal", "workload", workloads, spots["goal"])


def _check_cells(campaign: Campaign, spots: Mapping[str, Spot]) -> None:
    if not campaign.layouts:
        raise spots["layouts"].mistake("no cells: the campaign has no layouts", "add layouts: {one: 'btrfs raid1 a b'}")
    if not campaign.workloads:
        raise spots["workloads"].mistake("no cells: the campaign has no workloads", "add workloads: {etcd: etcd}")
    cells = len(campaign.layouts) * len(campaign.workloads)
    if cells > MOST_CELLS:
        raise spots["layouts"].mistake(f"the campaign has {cells} cells, more than {MOST_CELLS}", "split it in several")


def _names_nothing(name: str, key: str, what: str, known: list[str], spot: Spot) -> Exception:
    shown = listed(known) if len(known) <= _LISTED else f"{', '.join(known[:_LISTED])} …"
    guess = did_you_mean(name, known)
    return spot.mistake(f"{key} `{name[:60]}` names no {what}{guess}", f"write {key}: {known[0]}; there is {shown}")
