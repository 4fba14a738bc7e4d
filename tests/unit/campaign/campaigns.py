"""Short campaigns for the tests. One part is given, and the others are as small as possible."""

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
    """The devices are on line 2, the layouts on line 4, the workloads on line 6, and the rest on line 7."""
    return f"devices:\n  {devices}\nlayouts:\n  {layouts}\nworkloads:\n  {workloads}\n{rest}\n"


def workloads(one: str) -> tuple[Workload, ...]:
    return campaign(workloads=one).workloads
