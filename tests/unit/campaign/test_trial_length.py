"""A campaign warns in advance if its trials are too short for the percentile by which a workload is compared."""

from pathlib import Path

import pytest

from poolproof.campaign.flags import Flags, Overrides, campaign_of
from poolproof.campaign.trial_length import few_events_ahead
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign, read_campaign
from tests.golden import Message

DEMO = Path(__file__).parents[3] / "src" / "poolproof" / "campaign" / "demo.yaml"


def ahead(rest: str, workload: str = "etcd: etcd") -> tuple[str, ...]:
    head = f"layouts: {{one: dir /a, two: dir /b}}\nworkloads: {{{workload}, r: {{rw: randread, size: 1m}}}}\n"
    return few_events_ahead(parse_campaign(head + rest, "t"))


def test_a_fixed_time_that_only_fast_layouts_can_use_is_named_with_what_would_do(message: Message) -> None:
    (note,) = ahead("measure: {time: 2s}")
    message(note)
    assert note.startswith("etcd: the p99 of fsync ")
    assert all(fact in note for fact in ("1,000 syncs", "2.0 s", "500 syncs/s"))
    assert "`time: 20s`" in note
    assert not ahead("measure: {time: 20s}")


@pytest.mark.parametrize(
    ("workload", "needed"),
    [
        ("etcd: {preset: etcd, metric: iops}", None),
        ("etcd: {rw: randread, metric: p99, size: 1m}", "1,000 I/Os"),
        ("etcd: {rw: randread, metric: p999, size: 1m}", "10,000 I/Os"),
        ("etcd: {rw: randread, metric: p99, size: 1m, runtime: 60s}", None),
        ("etcd: {rw: randread, size: 1m}", None),
    ],
)
def test_it_depends_on_the_metric(workload: str, needed: str | None) -> None:
    notes = ahead("measure: {time: 2s}", workload)
    assert [needed in note for note in notes] == [True] * bool(needed) if needed else not notes


def test_until_is_limited_by_its_maximum_and_by_the_budget(message: Message) -> None:
    assert not ahead("measure: {until: 5%}")
    assert "`max: 20s`" in ahead("measure: {until: 5%, min: 1s, max: 5s}")[0]
    (note,) = ahead("measure: {until: 5%, trials: 2..6}\ngoal: etcd\nbudget: 60s")
    assert "15.0 s" in message(note)
    assert "`budget: 160s`" in note
    assert not ahead("measure: {until: 5%, trials: 2..6}\ngoal: r\nbudget: 60s")


GOAL = """\
layouts: {one: dir /a, two: dir /b}
workloads: {etcd: etcd, r: {rw: randread, size: 1m}, p: {rw: randread, size: 1m, metric: p999}}
"""


@pytest.mark.parametrize(
    ("rest", "time_s", "notes"),
    [
        ("goal: etcd", 20.0, "p"),
        ("goal: etcd\nmeasure: {trials: 5}", 20.0, "p"),
        ("goal: etcd\nmeasure: {time: 10s}", 10.0, "etcd p"),
        ("goal: r", 10.0, "etcd p"),
        ("", 10.0, "etcd p"),
        ("goal: p", 10.0, "etcd p"),
    ],
)
def test_trials_of_the_default_length_are_long_enough_for_the_goal(rest: str, time_s: float, notes: str) -> None:
    """If the goal's percentile needs more than a minute, or if the campaign sets `time`, there is only a note."""
    found = parse_campaign(GOAL + rest, "t")
    assert found.measure.time_s == time_s
    assert [note.partition(":")[0] for note in few_events_ahead(found)] == notes.split()
    again = parse_campaign(format_campaign(found), "t")
    assert (again, again.measure.is_default_time) == (found, False)


@pytest.mark.parametrize(
    ("goal", "overrides", "time_s"),
    [
        ("", Overrides(None, None, None, goal="etcd"), 20.0),
        ("", Overrides("3s", None, None, goal="etcd"), 3.0),
        ("goal: etcd", Overrides(None, None, None, goal="r"), 10.0),
        ("goal: etcd", Overrides(None, "5", None), 20.0),
    ],
)
def test_flags_change_the_goal_and_the_length(tmp_path: Path, goal: str, overrides: Overrides, time_s: float) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(GOAL + goal, encoding="utf-8")
    assert campaign_of(path, Flags(None, None, None, None), overrides)[0].measure.time_s == time_s


def test_the_demo_measures_enough_events_for_its_question() -> None:
    assert few_events_ahead(read_campaign(DEMO)) == ()
