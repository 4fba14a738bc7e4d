"""The shortest trials on layers that delay writes, and budgets that are too small for them."""

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError
from poolproof.layers.least_trial import check_budget, least_trials_s
from tests.golden import Message
from tests.unit.campaign.campaigns import text


def test_writes_last_three_write_back_periods() -> None:
    adaptive = parse_campaign(
        """\
devices: {a: {file: 2G}, b: {file: 2G}}
layouts: {plain: a | ext4, pair: btrfs raid1 a b, quick: a | btrfs commit=5, union: mergerfs (a | btrfs) (b | ext4)}
workloads:
  r: {rw: read, bs: 1m, size: 64m}
  w: {rw: randwrite, bs: 4k, size: 64m}
  held: {rw: write, bs: 1m, size: 64m, direct: 0}
measure: {until: 3%}
""",
        "t",
    )
    least = least_trials_s(adaptive)
    assert {name: least[CellKey(name, "w")] for name in ("plain", "pair", "quick", "union")} == {
        "plain": 0.0,
        "pair": 90.0,
        "quick": 15.0,
        "union": 90.0,
    }
    assert (least[CellKey("pair", "r")], least[CellKey("plain", "held")]) == (0.0, 105.0)


def test_trials_of_a_fixed_time_have_no_least_time() -> None:
    fixed = "layouts: {one: dir /a}\nworkloads: {w: {rw: write, size: 1m}}\nmeasure: {time: 5s}"
    assert not least_trials_s(parse_campaign(fixed, "t"))


def mistake(asked: str) -> CampaignError:
    with pytest.raises(CampaignError) as caught:
        check_budget(parse_campaign(asked, "c.yaml"))
    assert caught.value.message.startswith("c.yaml:")
    return caught.value


def test_an_error_for_a_small_budget_says_what_would_be_enough(message: Message) -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\ngoal: w\nbudget: 20s"
    error = mistake(text(layouts="one: dir /a\n  two: dir /b", workloads="w: {rw: read, bs: [4k, 16k]}", rest=rest))
    message(error)
    assert all(fact in error.message for fact in ("20.0 s", "8 trials of 3 s", "24.0 s"))
    assert error.hint.startswith("write budget: 48s")


@pytest.mark.parametrize(
    ("layout", "workload", "said", "hint"),
    [
        ("btrfs a", "{rw: write, bs: 4k}", "the loads alone need 3 min for 2 trials of 90 s", "360s"),
        ("btrfs commit=5 a", "{rw: write, bs: 4k}", "the loads alone need 30.0 s for 2 trials of 15 s", "60s"),
        ("btrfs a", "{rw: [read, write], bs: 4k}", "the loads alone need 3 min 6 s for 4 trials of 3 to 90 s;", "372s"),
        ("btrfs a", "{rw: readwrite, bs: 4k}", "the loads alone need 3 min for 2 trials of 90 s", "360s"),
        ("zfs a", "{rw: write, bs: 4k, runtime: 60}", "the loads alone need 2 min for 2 trials of 60 s", "240s"),
        ("zfs a", "{rw: write, bs: 4k, runtime: 2m, ramp_time: 5s}", "for 2 trials of 125 s", "500s"),
        ("a | ext4", "{rw: read, bs: 4k, ramp_time: 30}", "for 2 trials of 33 s", "132s"),
    ],
)
def test_the_smallest_budget_includes_write_back_and_the_times_of_workloads(
    layout: str, workload: str, said: str, hint: str
) -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 20s"
    error = mistake(text(devices="a: {file: 2G}", layouts=f"one: {layout}", workloads=f"w: {workload}", rest=rest))
    assert said in error.message
    assert error.hint.startswith(f"write budget: {hint}")


@pytest.mark.parametrize(
    ("layout", "workload"),
    [
        ("zfs a", "{rw: write, bs: 4k}"),
        ("a | ext4", "{rw: write, bs: 4k, direct: 0}"),
        ("btrfs a", "{rw: read, bs: 4k}"),
        ("btrfs a", "{rw: write, bs: 4k, time_based: 0, runtime: 60}"),
    ],
)
def test_a_budget_is_not_refused_for_uncertain_times(layout: str, workload: str) -> None:
    """ZFS and the page cache write data back earlier if there are many writes, or if the host is configured so."""
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 7s"
    asked = text(devices="a: {file: 2G}", layouts=f"one: {layout}", workloads=f"w: {workload}", rest=rest)
    check_budget(parse_campaign(asked, "c.yaml"))


def test_the_suggested_budget_includes_the_usual_write_back() -> None:
    rest = "measure: {until: 3%, min: 3s, trials: 2..6}\nbudget: 5s"
    error = mistake(text(devices="a: {file: 2G}", layouts="one: zfs a", workloads="w: {rw: write, bs: 4k}", rest=rest))
    assert all(fact in error.message for fact in ("2 trials of 3 s", "6.0 s"))
    assert error.hint.startswith("write budget: 60s")
    zvol, buffered = "one: zfs a | zvol 1G | ext4", "w: {rw: write, bs: 4k, direct: 0}"
    error = mistake(text(devices="a: {file: 2G}", layouts=zvol, workloads=buffered, rest=rest))
    assert error.hint.startswith("write budget: 420s"), "2 trials of 3 periods of the page cache, doubled"
    error = mistake(text(devices="a: {file: 2G}", layouts="one: zfs a", workloads=buffered, rest=rest))
    assert error.hint.startswith("write budget: 60s"), "a dataset has no page cache"
