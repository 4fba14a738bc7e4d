"""The short form of a campaign: what it runs, and errors for mistakes in it."""

import pytest

from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign, quick_of
from poolproof.errors import CampaignError

from .campaigns import campaign

GRID = "grid: {rw: [read, randread, write], bs: [4k, 16k], size: 1g}\n  etcd: etcd"
MEASURE = "measure: {time: 60s, trials: 5, seed: 7}\n"


def quick(rest: str, workloads: str = GRID) -> list[str]:
    small = quick_of(campaign(workloads=workloads, rest=f"{MEASURE}{rest}"))
    return [workload.name for workload in small.workloads]


def mistake(rest: str) -> str:
    with pytest.raises(CampaignError) as caught:
        campaign(workloads=GRID, rest=f"{MEASURE}{rest}")
    return f"{caught.value.message}\n{caught.value.hint}"


def test_workloads_that_are_not_named_are_not_run() -> None:
    assert quick("quick: {workloads: {grid: {rw: [read, write], bs: 4k}}}") == ["grid[rw=read]", "grid[rw=write]"]
    assert quick("quick: {workloads: {etcd: {}}}") == ["etcd"]
    assert len(quick("quick: {measure: {time: 2s}}")) == 7, "without `workloads` all are left"


def test_options_stand_in_place_of_the_workloads_own_in_all_sections() -> None:
    one = "both: {jobs: {a: {rw: read, size: 1g}, b: {rw: write, bs: 1m}}}"
    small = quick_of(campaign(workloads=one, rest="quick: {workloads: {both: {size: 8m}}}"))
    (both,) = small.workloads
    assert [dict(job.options) for job in both.jobs] == [
        {"size": "8m", "rw": "read"},
        {"size": "8m", "rw": "write", "bs": "1m"},
    ]


def test_measure_changes_only_what_is_said() -> None:
    whole = campaign(workloads=GRID, rest=f"{MEASURE}quick: {{measure: {{time: 2s, trials: 1}}}}")
    measure = quick_of(whole).measure
    assert (measure.time_s, measure.trials, measure.seed) == (2.0, 1, 7)
    assert (whole.measure.time_s, whole.measure.trials) == (60.0, 5)


def test_claims_on_cells_that_are_gone_are_left_out() -> None:
    claims = (
        "expect:\n"
        '  - {claim: a, source: b, that: "iops(one, etcd) > 1"}\n'
        '  - {claim: c, source: d, that: "iops(one, grid[rw=read,bs=4k]) > 1"}\n'
    )
    whole = campaign(workloads=GRID, rest=f"{MEASURE}quick: {{workloads: {{etcd: {{}}}}}}\n{claims}")
    assert [claim.claim for claim in whole.expect] == ["a", "c"]
    assert [claim.claim for claim in quick_of(whole).expect] == ["a"]


def test_the_small_form_is_written_down_and_read_again() -> None:
    whole = campaign(workloads=GRID, rest=f"{MEASURE}quick: {{workloads: {{grid: {{bs: [4k, 8k]}}, etcd: {{}}}}}}")
    assert parse_campaign(format_campaign(whole), "again.yaml") == whole
    small = quick_of(whole)
    again = parse_campaign(format_campaign(small), "small.yaml")
    assert [each.name for each in again.workloads] == [each.name for each in small.workloads]
    assert again.quick is None


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("quick: {workload: {etcd: {}}}", "did you mean `workloads`"),
        ("quick: {workloads: {gird: {}}}", "did you mean `grid`"),
        ("quick: {workloads: {grid: {cold: false}}}", "`quick` of workload `grid`"),
        ("quick: {workloads: {grid: [4k]}}", "write grid: {}"),
        ("quick: {measure: {trials: 0}}", "whole number"),
        ("goal: etcd\nquick: {workloads: {grid: {}}}", "goal `etcd`"),
    ],
)
def test_a_mistake_is_named(rest: str, said: str) -> None:
    assert said in mistake(rest)
