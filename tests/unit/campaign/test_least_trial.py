"""How long a trial lasts at least on layers that delay writes."""

from poolproof.campaign.least_trial import least_trials_s
from poolproof.campaign.yaml import parse_campaign


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
    assert {name: least[name, "w"] for name in ("plain", "pair", "quick", "union")} == {
        "plain": 0.0,
        "pair": 90.0,
        "quick": 15.0,
        "union": 90.0,
    }
    assert (least["pair", "r"], least["plain", "held"]) == (0.0, 105.0)


def test_trials_of_a_fixed_time_have_no_least_time() -> None:
    fixed = "layouts: {one: dir /a}\nworkloads: {w: {rw: write, size: 1m}}\nmeasure: {time: 5s}"
    assert not least_trials_s(parse_campaign(fixed, "t"))
