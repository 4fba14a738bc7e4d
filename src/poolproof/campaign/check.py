"""What must hold between the parts of a campaign, however it was written."""

from collections.abc import Mapping

from poolproof.campaign.claims import Claim, places
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
    for claim in campaign.expect:
        _check_claim(claim, campaign, spots["expect"])


def _check_claim(claim: Claim, campaign: Campaign, spot: Spot) -> None:
    """A claim speaks of layouts, workloads and devices that the campaign has."""
    known = {
        "layout": [layout.name for layout in campaign.layouts],
        "workload": [workload.name for workload in campaign.workloads],
        "device": [device.name for device in campaign.devices],
    }
    for layout, workload, device in places(claim.that):
        for what, name in (("layout", layout), ("workload", workload), ("device", device)):
            if name is not None and name not in known[what]:
                guess = did_you_mean(name, known[what])
                raise spot.mistake(f"the claim `{claim.text}` names no {what} with `{name}`{guess}", _list(known[what]))


def _list(names: list[str]) -> str:
    return f"there is {listed(names[:_LISTED])}" if names else "there is none"


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
