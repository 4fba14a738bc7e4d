"""The language of claims: every form can be parsed, every mistake is located, and nothing else is accepted."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.claims import CellValue, ComparisonClaim, IsVerdict, Operation, Quantity, parse_claim
from poolproof.campaign.document import Spot
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError

SPOT = Spot("x.yaml", 7)
CAMPAIGN = """
devices: {rust: {file: 1G}, ssd: {file: 1G}}
layouts: {mirror: btrfs raid1 rust ssd}
workloads: {reads: {rw: randread, bs: 16k}}
expect:
  - claim: half of the reads come from each disk
    source: a blog of 2018
    that: read_share(mirror, reads, ssd) = 50% ± 10%
"""


def test_a_share_with_a_tolerance() -> None:
    assert parse_claim("read_share(mirror, reads, ssd) = 50% ± 10%", SPOT) == ComparisonClaim(
        CellValue("read_share", "mirror", "reads", "ssd"), "=", Quantity(0.5, True), Quantity(0.1, True)
    )


def test_a_ratio_of_two_figures() -> None:
    assert parse_claim('bandwidth("pool[a=b]", w) / bandwidth(raw, w) >= 1.5x', SPOT) == ComparisonClaim(
        Operation("divide", CellValue("bandwidth", "pool[a=b]", "w"), CellValue("bandwidth", "raw", "w")),
        ">=",
        Quantity(1.5),
    )


def test_a_verdict() -> None:
    assert parse_claim("verdict(fresh, read) is refuted", SPOT) == IsVerdict("fresh", "read", "refuted")


@pytest.mark.parametrize(
    ("text", "value"),
    [("50%", 0.5), ("10ms", 0.01), ("100MB/s", 1e8), ("1MiB/s", 2**20), ("2k", 2000.0), ("3.2", 3.2), ("4x", 4.0)],
)
def test_quantities_carry_their_unit(text: str, value: float) -> None:
    claim = parse_claim(f"iops(a, b) < {text}", SPOT)
    assert isinstance(claim, ComparisonClaim) and isinstance(claim.right, Quantity)
    assert claim.right.value == pytest.approx(value)


MISTAKES = [
    ("ios(a, b) = 3", "`iops`"),
    ("iops(a) = 3", "iops(layout, workload)"),
    ("read_share(a, b) = 3", "read_share(layout, workload, device)"),
    ("verdict(a, b) is bad", "`bad`"),
    ("iops(a, b)", "cannot be parsed"),
    ("__import__('os') = 1", "cannot be parsed"),
    ("iops(a, b) = 3 parsecs", "cannot be parsed"),
    ("iops(a, b) > ٣", "cannot be parsed"),
]


@pytest.mark.parametrize(("text", "fact"), MISTAKES)
def test_a_mistake_is_pointed_at(text: str, fact: str) -> None:
    with pytest.raises(CampaignError) as caught:
        parse_claim(text, SPOT)
    assert fact in caught.value.message
    assert "x.yaml:7" in caught.value.message and "^" in caught.value.message


def test_the_messages_about_mistakes_in_claims(wording: Callable[[str], str]) -> None:
    for text, _ in MISTAKES:
        with pytest.raises(CampaignError) as caught:
            parse_claim(text, SPOT)
        wording(str(caught.value))


@given(st.text(max_size=60))
def test_no_text_makes_anything_but_a_claim_or_an_error(text: str) -> None:
    try:
        parse_claim(text, SPOT)
    except CampaignError as error:
        assert error.message


def test_a_campaign_with_claims_is_saved_and_reads_back() -> None:
    campaign = parse_campaign(CAMPAIGN, "x.yaml")
    assert campaign.expect[0].source == "a blog of 2018"
    assert parse_campaign(format_campaign(campaign), "x.yaml").expect == campaign.expect


def test_a_claim_over_a_layout_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(CampaignError, match=r"x\.yaml:5: .*`miror`.*`mirror`"):
        parse_campaign(CAMPAIGN.replace("(mirror,", "(miror,"), "x.yaml")
