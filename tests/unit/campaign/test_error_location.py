"""Mistakes that only become apparent on a host are reported with their line, like parse errors.

Other errors are not.
"""

import pytest

from poolproof.campaign.error_location import located_at, located_in
from poolproof.campaign.flags import campaign_from_flags
from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, HostError, PoolproofError

CAMPAIGN = """
devices:
  a: {file: 1G}
layouts:
  one: a | ext4
workloads:
  reads:
    rw: randread
    bs: [4k, 16k]
  mixed:
    jobs:
      log: {rw: write}
      data:
        rw: randread
        iodepth: 0
  etcd: etcd
"""


def campaign() -> Campaign:
    return parse_campaign(CAMPAIGN, "c.yaml")


def said(name: str, about: str) -> str:
    workload = next(each for each in campaign().workloads if each.name.startswith(name))
    with pytest.raises(CampaignError) as caught, located_in(workload):
        raise CampaignError("no", "yes").concerning(about)
    assert caught.value.hint == "yes"
    return caught.value.message


@pytest.mark.parametrize(
    ("workload", "option", "line"),
    [
        ("reads", "bs", 9),
        ("reads", "rw", 8),
        ("reads", "direct", 7),
        ("reads", "", 7),
        ("mixed", "iodepth", 15),
        ("mixed", "rw", 12),
        ("etcd", "fdatasync", 16),
    ],
)
def test_the_line_of_the_option_or_else_of_the_workload(workload: str, option: str, line: int) -> None:
    assert said(workload, option) == f"c.yaml:{line}: no"


def test_command_line_options_serve_as_the_location() -> None:
    (workload,) = campaign_from_flags(["dir /srv"], [], ["rw=read,bs=4k"]).workloads
    with pytest.raises(CampaignError, match=r"^--workload rw=read,bs=4k: no$"), located_in(workload):
        raise CampaignError("no")


def test_devices_know_their_location() -> None:
    assert [device.origin for device in campaign().devices] == ["c.yaml:3"]
    assert campaign_from_flags(["a"], ["a=file:1G"], ["etcd"]).devices[0].origin == "--device a=file:1G"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CampaignError("no"), "c.yaml:3: no"),
        (CampaignError("c.yaml:3: no"), "c.yaml:3: no"),
        (HostError("no fio here"), "no fio here"),
        (HostError("too small").concerning("one"), "c.yaml:3: too small"),
    ],
)
def test_only_mistakes_are_placed_and_only_once(error: PoolproofError, message: str) -> None:
    with pytest.raises(type(error)) as caught, located_at("c.yaml:3"):
        raise error
    assert caught.value.message == message
