"""If a layout has a file system, workloads that trim are refused before anything is built."""

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError
from poolproof.layers.trims import check_trims

_CAMPAIGN = """\
devices: {{a: file:96M, b: file:96M}}
layouts: {{one: {layout}}}
workloads: {{w: {{{options}}}}}
"""


@pytest.mark.parametrize(
    "options", ["rw: trim", "rw: randtrim, bs: 4k", "readwrite: trimwrite", "rw: [read, randtrim]"]
)
def test_trims_of_a_file_are_refused(options: str) -> None:
    campaign = parse_campaign(_CAMPAIGN.format(layout="a | ext4", options=options), "c.yaml")
    with pytest.raises(CampaignError, match=r"c.yaml:3.*trims.*\bone\b"):
        check_trims(campaign)


@pytest.mark.parametrize(
    ("layout", "options"),
    [("md raid1 a b", "rw: trim"), ("a | ext4", "rw: randwrite"), ("a | ext4", "rw: trim, ioengine: falloc")],
)
def test_other_workloads_are_not(layout: str, options: str) -> None:
    check_trims(parse_campaign(_CAMPAIGN.format(layout=layout, options=options), "c.yaml"))
