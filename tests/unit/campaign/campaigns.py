"""Short campaigns for tests. A test specifies one part, and the other parts are as short as possible."""

from poolproof.campaign.model import Campaign, Workload
from poolproof.campaign.yaml import parse_campaign


def campaign(
    *,
    layouts: str = "one: zfs a",
    workloads: str = "etcd: etcd",
    devices: str = "a: file:1G",
    rest: str = "",
) -> Campaign:
    return parse_campaign(text(layouts=layouts, workloads=workloads, devices=devices, rest=rest), "c.yaml")


def text(
    *, layouts: str = "one: zfs a", workloads: str = "etcd: etcd", devices: str = "a: file:1G", rest: str = ""
) -> str:
    """Return a campaign with devices on line 2, layouts on line 4, workloads on line 6, and the rest on line 7."""
    return f"devices:\n  {devices}\nlayouts:\n  {layouts}\nworkloads:\n  {workloads}\n{rest}\n"


def workloads(one: str) -> tuple[Workload, ...]:
    return campaign(workloads=one).workloads
