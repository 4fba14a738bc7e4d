"""Campaigns changed by command-line options, and errors for mistakes in these options."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.flags import Flags, Overrides, campaign_of
from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, UsageError

CAMPAIGN = """\
layouts: {one: dir /srv, two: dir /data}
workloads: {grid: {rw: [read, randread], bs: 4k, size: 8m}, etcd: etcd}
measure: {until: 3%, min: 3s, max: 60s, trials: 2..6}
goal: etcd
budget: 2h
"""
NOTHING = Overrides(None, None, None)
NO_FLAGS = Flags(None, None, None, None)


def asked(tmp_path: Path, **changes: str) -> Campaign:
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN, encoding="utf-8")
    return campaign_of(path, NO_FLAGS, replace(NOTHING, **changes))[0]  # type: ignore[arg-type]


def test_a_flag_takes_the_place_of_what_the_file_says(tmp_path: Path) -> None:
    campaign = asked(tmp_path, until="5%", budget="30m", goal="grid", steady="snia")
    assert campaign.measure.until is not None
    assert (campaign.measure.until.tolerance, campaign.measure.until.steady) == (0.05, "snia")
    assert (campaign.budget_s, campaign.goal) == (1800, "grid")


def test_what_no_flag_names_stays(tmp_path: Path) -> None:
    campaign = asked(tmp_path, trials="2..4")
    assert (campaign.budget_s, campaign.goal, campaign.measure.most_trials) == (7200, "etcd", 4)


def test_a_fixed_time_ends_the_budget_of_the_file_and_the_run_can_be_read_again(tmp_path: Path) -> None:
    campaign = asked(tmp_path, time="5s")
    assert campaign.budget_s is None and campaign.measure.until is None
    assert parse_campaign(format_campaign(campaign), "run.json") == campaign


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"budget": "soon"}, "--budget: ", "write --budget 2h"),
        ({"budget": "1h", "time": "3s"}, "--budget: `budget` needs `until`", "until: 3%"),
        ({"goal": "etdc"}, "--goal: goal `etdc` ", "grid, etcd"),
        ({"until": "0%"}, "--until: ", "write --until 3%"),
        ({"until": "-3%"}, "--until: ", "write --until 3%"),
        ({"until": "3"}, "--until: ", "write --until 3%"),
        ({"until": "90%"}, "--until: ", "write --until 3%"),
        ({"confidence": "100%"}, "--confidence: ", "95%"),
        ({"max": "1s"}, "--max: `max` (1 s) is less than `min` (3 s)", "write --max 180s"),
        ({"min": "200s"}, "--min: `max` (60 s) is less than `min` (200 s)", "write --max 200s"),
        ({"min": "0"}, "--min: ", "write --min 10s"),
        ({"steady": "sina"}, "--steady: ", "write --steady snia"),
        ({"trials": "6..2"}, "--trials: `6..2`: ", "write --trials 2..6"),
        ({"time": "3s", "until": "3%"}, "--time: `time` and `until` ", "remove one"),
    ],
)
def test_an_error_names_the_option(tmp_path: Path, changes: dict[str, str], message: str, hint: str) -> None:
    names = {"min": "least", "max": "most"}
    with pytest.raises(CampaignError) as caught:
        asked(tmp_path, **{names.get(key, key): value for key, value in changes.items()})
    assert caught.value.message.startswith(message)
    assert hint in caught.value.hint


def test_a_budget_needs_a_goal_if_there_are_several_workloads() -> None:
    flags = Flags(["dir /srv"], None, ["rw=read,bs=4k,size=8m", "rw=write,bs=4k,size=8m"], None)
    with pytest.raises(CampaignError, match=r"--budget: `budget` .*goal"):
        campaign_of(None, flags, replace(NOTHING, until="3%", budget="1h"))
    campaign, _text = campaign_of(None, flags, replace(NOTHING, until="3%", budget="1h", goal="read-4k-size8m"))
    assert campaign.goal == "read-4k-size8m"


def test_a_baseline_that_is_no_layout_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN, encoding="utf-8")
    with pytest.raises(UsageError, match="--baseline three"):
        campaign_of(path, Flags(None, None, None, "three"), NOTHING)
