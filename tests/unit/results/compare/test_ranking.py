"""Ranking layouts: places with ties, goals and mixes, what is left out, and the cost of redundancy."""

import json
import math
import random
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import RunError, UsageError
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.ranked import print_ranking, print_rankings
from poolproof.results.compare.measured import in_groups
from poolproof.results.compare.ranking import Goal, Ranking, find_goal, parse_weights, rank, safety
from poolproof.results.compare.workload_rankings import rank_each
from poolproof.results.runs.loading import load_run
from poolproof.verdicts import Verdict
from tests.golden import Message

from .making import CAMPAIGN, Values, changed, made, make_run

CLEAR: Values = {
    ("one", "reads"): [1000.0, 1010.0, 990.0],
    ("pair", "reads"): [800.0, 805.0, 795.0],
    ("union", "reads"): [500.0, 505.0, 495.0],
    ("one", "etcd"): [9.0e6, 9.1e6, 8.9e6],
    ("pair", "etcd"): [4.0e6, 4.1e6, 3.9e6],
    ("union", "etcd"): [2.0e6, 2.1e6, 1.9e6],
}
READS = Goal({"reads": 1.0})
TRUE = {"union": 1, "pair": 2, "one": 3}


def places(ranking: Ranking) -> dict[str, tuple[int, int]]:
    return {each.entry.layout: (each.first, each.last) for each in ranking.ranked}


def test_the_places_under_all_workloads_are_right_together(tmp_path: Path) -> None:
    """A difference that is significant on its own is not significant as one of three. Clear differences still are."""
    alone = {"one": [100.0, 101.0, 102.0], "pair": [105.0, 106.0, 107.0]}  # p = 0.036
    equal, far = [100.0, 101.0, 102.0], [200.0, 201.0, 202.0]
    values: Values = {(layout, "reads"): alone[layout] for layout in alone}
    values = {
        **values,
        **{(layout, "stream"): equal for layout in alone},
        ("one", "etcd"): far,
        ("pair", "etcd"): equal,
    }
    run = made(tmp_path / "r", values)
    assert places(rank(run, READS, metric=None, effect=0.02)) == {"pair": (1, 1), "one": (2, 2)}
    found = rank_each(run, metric=None, effect=0.02)
    best = {name: len(each.best) for name, each in found.items() if isinstance(each, Ranking)}
    assert best == {"reads": 2, "stream": 2, "etcd": 1}
    out = StringIO()
    print_rankings(Console(file=out, width=200), found)
    assert out.getvalue().count(" 3 workloads are correct") == 1
    page = dict(answer(run).workloads)
    assert page["reads"].startswith("pair leads") and page["etcd"].startswith("pair: ")


def test_without_a_layout_that_has_every_result_the_workloads_are_corrected_together(tmp_path: Path) -> None:
    """`pair` is significantly better under the first workload alone, but not as one of three."""
    rates = [f"w[bs={bs}k]" for bs in (4, 8, 16, 32, 64)]
    head, _, _ = CAMPAIGN.partition("workloads:")
    grid = "w: {rw: randread, bs: [4k, 8k, 16k, 32k, 64k]}"
    campaign = f"{head}workloads: {{{grid}}}\nmeasure: {{time: 5s, trials: 3}}\ngoal: w\n"
    values: Values = {
        (layout, name): [level, level + 1, level + 2]
        for layout, levels in (("one", [100.0] * 5), ("pair", [104.6, *[101.5] * 4]))
        for name, level in zip(rates, levels, strict=True)
    }
    bad: dict[tuple[str, str], Verdict] = {("one", rates[3]): "refuted", ("pair", rates[4]): "refuted"}
    run = load_run(make_run(tmp_path / "r", values, record=changed(campaign), bad=bad))
    assert "Best or tied for best, by number of workloads (of 5): pair in 4, one in 4." in answer(run).rest


def test_clear_differences_give_clear_places(tmp_path: Path) -> None:
    ranking = rank(made(tmp_path / "r", CLEAR), READS, metric=None, effect=0.02)
    assert places(ranking) == {"one": (1, 1), "pair": (2, 2), "union": (3, 3)}
    assert [each.entry.layout for each in ranking.best] == ["one"]


def test_a_narrow_terminal_wraps_the_differences_but_not_the_names(tmp_path: Path) -> None:
    values: Values = {("one", "reads"): [900.0, 1100.0, 1000.0], ("union", "reads"): [90.0, 110.0, 100.0]}
    out = StringIO()
    print_ranking(Console(file=out, width=66), rank(made(tmp_path / "r", values), READS, metric=None, effect=0.02))
    second = next(line for line in out.getvalue().splitlines() if line.startswith("2 "))
    assert "union" in second and "10× slower" in second


def test_less_latency_is_better(tmp_path: Path) -> None:
    ranking = rank(made(tmp_path / "r", CLEAR), Goal({"etcd": 1.0}), metric=None, effect=0.02)
    assert [each.entry.layout for each in ranking.ranked] == ["union", "pair", "one"]
    second = ranking.ranked[1].to_leader
    assert second is not None and second.interval.mean == pytest.approx(0.5, rel=0.02)


def test_ties_that_form_a_chain_are_ties(tmp_path: Path) -> None:
    values: Values = {
        ("one", "reads"): [1000.0, 1030.0, 970.0, 1010.0, 990.0],
        ("pair", "reads"): [960.0, 990.0, 930.0, 970.0, 950.0],
        ("union", "reads"): [920.0, 950.0, 890.0, 930.0, 910.0],
    }
    ranking = rank(made(tmp_path / "r", values), READS, metric=None, effect=0.0)
    assert places(ranking) == {"one": (1, 2), "pair": (1, 3), "union": (2, 3)}
    assert [(pair.better, pair.worse) for pair in ranking.pairs if pair.is_tie] == [("one", "pair"), ("pair", "union")]


def test_layouts_with_one_trial_each_all_tie(tmp_path: Path) -> None:
    values: Values = {("one", "reads"): [1000.0], ("pair", "reads"): [10.0], ("union", "reads"): [1.0]}
    ranking = rank(made(tmp_path / "r", values), READS, metric=None, effect=0.02)
    assert set(places(ranking).values()) == {(1, 3)}


def test_refuted_and_failed_layouts_are_left_out_and_named(tmp_path: Path) -> None:
    run = made(tmp_path / "r", CLEAR, bad={("one", "reads"): "refuted", ("pair", "etcd"): "failed"})
    ranking = rank(run, READS, metric=None, effect=0.02)
    assert places(ranking) == {"pair": (1, 1), "union": (2, 2)}
    assert [(each.layout, each.why) for each in ranking.excluded] == [("one", "refuted (rule-refuted)")]
    mix = rank(run, Goal({"reads": 0.5, "etcd": 0.5}), metric=None, effect=0.02)
    assert [(each.layout, each.why) for each in mix.excluded] == [
        ("one", "reads refuted (rule-refuted)"),
        ("pair", "etcd failed (rule-failed)"),
    ]


def test_equal_reasons_are_grouped_if_nothing_can_be_ranked(tmp_path: Path, message: Message) -> None:
    commits, blocks = (",".join(f"{number}{unit}" for number in range(1, 41)) for unit in ("", "k"))
    layouts = f"layouts: {{x: 'a | ext4 commit={{{commits}}}'}}\nworkloads: {{w: {{rw: read, bs: [{blocks}]}}}}\n"
    campaign = parse_campaign("name: t\ndevices: {a: {file: 2G}}\n" + layouts, "t")
    record = changed(format_campaign(campaign))
    run = load_run(make_run(tmp_path / "r", {}, record=record))
    with pytest.raises(RunError) as raised:
        rank(run, find_goal(run.campaign, None, None), metric=None, effect=0.02)
    assert "37 more: " in message(raised.value) and "37 more not measured" in raised.value.message
    assert len(raised.value.message) < 400


def test_long_lists_of_reasons_are_cut_with_their_count() -> None:
    whys = [(f"l{number}", f"failed (rule-{number % 9})") for number in range(90)]
    lines = list(in_groups(whys))
    assert lines[0] == "l0, l9, l18 and 7 more: failed (rule-0)"
    assert (len(lines), re.findall(r"\d+", lines[-1])) == (7, ["30", "3"])
    assert list(in_groups([("a", "not measured")], between=" ")) == ["a not measured"]


def test_a_mix_weights_ratios_of_any_metrics(tmp_path: Path) -> None:
    ranking = rank(made(tmp_path / "r", CLEAR), Goal({"reads": 0.5, "etcd": 0.5}), metric=None, effect=0.02)
    speeds = {each.entry.layout: math.exp(each.entry.score.mean) for each in ranking.ranked}
    assert speeds["union"] / speeds["one"] == pytest.approx(math.sqrt(0.5 * 4.5), rel=0.01)
    assert ranking.metrics == {"reads": "iops", "etcd": "sync_p99"}


def test_the_mix_of_a_single_layout_has_no_ratios(tmp_path: Path) -> None:
    values = {key: found for key, found in CLEAR.items() if key[0] == "one"}
    goal, out = Goal({"reads": 0.5, "etcd": 0.5}), StringIO()
    print_ranking(Console(file=out, width=80), rank(made(tmp_path / "r", values), goal, metric=None, effect=0.02))
    assert "best: one" in out.getvalue() and "geometric mean" not in out.getvalue()


def test_a_ranking_shows_safety_and_its_cost(tmp_path: Path) -> None:
    ranking = rank(made(tmp_path / "r", CLEAR), READS, metric=None, effect=0.02)
    safety = {each.entry.layout: each.safety for each in ranking.ranked}
    assert {name: (each.redundancy, each.devices, each.write_factor) for name, each in safety.items()} == {
        "one": (0, 1, 1.0),
        "pair": (1, 2, 2.0),
        "union": (0, 2, 1.0),
    }
    room = {name: each.capacity_bytes for name, each in safety.items()}
    assert room["one"] and room["union"] and room["union"] == 2 * room["one"]
    (pair,) = ranking.safer
    assert pair.to_leader is not None and pair.to_leader.interval.mean == pytest.approx(0.8, rel=0.01)


def test_the_size_of_a_real_disk_and_the_disks_of_a_directory_are_unknown() -> None:
    campaign = parse_campaign(
        "name: t\ndevices: {a: {disk: ata-X}}\nlayouts: {d: dir /srv, x: a | ext4}\nworkloads: {r: {rw: read}}\n", "t"
    )
    directory, disk = (safety(layout, campaign) for layout in campaign.layouts)
    assert (directory.redundancy, directory.capacity_bytes) == (None, None)
    assert (disk.redundancy, disk.capacity_bytes) == (0, None)


def test_no_layout_that_counts_is_an_error_with_reasons(tmp_path: Path, message: Message) -> None:
    run = made(tmp_path / "r", {("one", "reads"): [1.0, 2.0]}, bad={("one", "reads"): "refuted"})
    with pytest.raises(RunError, match=r"pair, union: .*; one: .*\(rule-refuted\)") as raised:
        rank(run, READS, metric=None, effect=0.02)
    message(raised.value)


def test_a_metric_that_no_trial_of_the_goal_measured_is_refused(tmp_path: Path, message: Message) -> None:
    run = made(tmp_path / "r", CLEAR)
    with pytest.raises(UsageError, match=r"--metric sync_p99: ") as caught:
        rank(run, READS, metric="sync_p99", effect=0.02)
    message(caught.value)
    assert "bandwidth, iops, p99" in caught.value.hint
    assert places(rank(run, READS, metric="p99", effect=0.02))["one"] == (1, 1)


def test_the_ranges_contain_the_true_places_95_times_in_100(tmp_path: Path) -> None:
    chance, wrong, rounds = random.Random(31), 0, 60
    for number in range(rounds):
        values = {
            (layout, "reads"): [speed * math.exp(chance.gauss(0, 0.02)) for _ in range(3)]
            for layout, speed in (("one", 1000.0), ("pair", 1001.0), ("union", 1002.0))
        }
        found = places(rank(made(tmp_path / str(number), values), READS, metric=None, effect=0.0))
        wrong += any(not found[layout][0] <= place <= found[layout][1] for layout, place in TRUE.items())
    assert wrong <= 7, "5% of 60, and three standard errors"


def goal(text: str, name: str | None = None, weights: str | None = None) -> Goal:
    return find_goal(parse_campaign(text, "t"), name, weights)


def test_the_goal_is_the_given_one_the_campaigns_or_the_only_workload() -> None:
    assert goal(CAMPAIGN, "etcd").only == "etcd"
    assert goal(CAMPAIGN + "goal: stream\n").only == "stream"
    single = CAMPAIGN.replace("  stream: {rw: read, bs: 1m}\n  etcd: etcd\n", "")
    assert goal(single).only == "reads"


def test_a_matrix_as_goal_weights_its_cells_equally() -> None:
    matrix = CAMPAIGN.replace("bs: 4k", "bs: [4k, 16k]")
    assert goal(matrix, "reads").weights == {"reads[bs=4k]": 0.5, "reads[bs=16k]": 0.5}
    assert goal(matrix, weights="reads[bs=4k]=1,etcd=3").weights == {"reads[bs=4k]": 0.25, "etcd": 0.75}


@pytest.mark.parametrize(
    ("name", "weights", "facts"),
    [
        (None, None, "no goal"),
        ("etdc", None, "`etcd`"),
        (None, "etdc=2", "the goal `etdc`"),
        ("etcd", "etcd=2", "--goal.* --weights"),
        (None, "etcd=0", "--weights: .*`etcd=0`"),
        (None, "etcd", "--weights: .*`etcd`"),
        (None, "", "--weights: .*``"),
        (None, "etcd=1,etcd=2", "--weights: `etcd`"),
        (None, "etcd=nan", "--weights: .*`etcd=nan`"),
        (None, "=2", "--weights: .*`=2`"),
    ],
)
def test_a_goal_that_is_not_a_workload_or_has_no_weight_is_refused(
    name: str | None, weights: str | None, facts: str, message: Message
) -> None:
    with pytest.raises(UsageError, match=facts) as caught:
        goal(CAMPAIGN, name, weights)
    message(caught.value)
    assert caught.value.hint


def test_weights_are_shares_of_the_whole() -> None:
    assert parse_weights("etcd=2, media=1.5") == {"etcd": 2.0, "media": 1.5}
    assert goal(CAMPAIGN, weights="etcd=2,reads=1").weights == pytest.approx({"etcd": 2 / 3, "reads": 1 / 3})


def test_a_rate_that_the_job_limits_is_not_ranked(tmp_path: Path) -> None:
    """Two layouts with the same rate_iops reach the same rate, which says nothing about them.

    Their latencies are still ranked.
    """
    path = make_run(tmp_path / "r", CLEAR)
    capped = {"rule": "capped-rate", "effect": "suspects", "message": "…", "fix": "…", "metrics": ["iops", "bandwidth"]}
    lines = [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
    for line in lines:
        if line["workload"] == "reads" and line["layout"] != "one":
            line |= {"verdict": "suspect", "verdicts": {"p99": "sound"}, "findings": [capped]}
    (path / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ranking = rank(load_run(path), READS, metric=None, effect=0.02)
    assert list(places(ranking)) == ["one"]
    assert {each.layout: each.why for each in ranking.excluded} == dict.fromkeys(
        ("pair", "union"), "the job limits the rate (capped-rate)"
    )
    assert set(places(rank(load_run(path), READS, metric="p99", effect=0.02))) == {"one", "pair", "union"}


def test_a_repeat_is_covered_although_the_same_trials_chose_the_leader(tmp_path: Path) -> None:
    """All twelve layouts are equal.

    Without a correction, all repeats are within their intervals in only 6 of 10 runs.
    """
    names, covered, runs, chance = [f"l{at}" for at in range(12)], 0, 30, random.Random(4)
    layouts = "".join(f"  {name}: a | ext4\n" for name in names)
    campaign = f"devices: {{a: {{file: 2G}}}}\nlayouts:\n{layouts}workloads: {{reads: {{rw: randread}}}}\n"
    record = changed(f"{campaign}measure: {{time: 5s, trials: 3}}\n")
    for at in range(runs):
        values: Values = {(name, "reads"): [1000 * chance.lognormvariate(0, 0.03) for _ in range(3)] for name in names}
        found = rank(load_run(make_run(tmp_path / str(at), values, record=record)), READS, metric=None, effect=0.02)
        again = {name: chance.gauss(0, 0.03 / 3**0.5) for name in names}
        ends = [(each.entry.layout, found.repeated(each)) for each in found.ranked[1:]]
        leader = found.ranked[0].entry.layout
        covered += all(
            end is not None and (end.low or 0) <= math.exp(again[name] - again[leader]) <= (end.high or 0)
            for name, end in ends
        )
    assert covered >= 26


def test_the_page_and_rank_print_the_same_prediction_interval(tmp_path: Path) -> None:
    """The page once left out the correction for the choice of the leader, so its interval was narrower."""
    near: Values = {**CLEAR, ("pair", "reads"): [905.0, 930.0, 890.0], ("union", "reads"): [700.0, 735.0, 690.0]}
    run = load_run(make_run(tmp_path / "r", near, record=changed(CAMPAIGN + "goal: reads\n")))
    out = StringIO()
    print_ranking(Console(file=out, width=200), rank(run, READS, metric=None, effect=0.02))
    printed = re.search(r"relative to one: pair (\S+ … \S+);", out.getvalue())
    assert printed is not None
    shown = next(line for line in answer(run).rest if "prediction" in line)
    assert shown.endswith(f": {printed[1]} (pair vs one).")


@pytest.mark.timeout(60)
def test_a_run_with_very_many_layouts_is_an_error_and_does_not_hang(tmp_path: Path, message: Message) -> None:
    names = [f"l{number}" for number in range(700)]
    layouts = "\n".join(f"  {name}: a | ext4" for name in names)
    campaign = CAMPAIGN.replace("  one: a | ext4\n", f"{layouts}\n")
    path = make_run(tmp_path / "r", {("l0", "reads"): [1000.0, 1010.0]}, record=changed(campaign))
    lines = (path / "trials.jsonl").read_text()
    (path / "trials.jsonl").write_text("".join(lines.replace('"l0"', f'"{name}"') for name in names))
    run = load_run(path)
    with pytest.raises(RunError, match=r"700 layouts .*244,650 pairs") as raised:
        rank(run, READS, metric=None, effect=0.02)
    message(raised.value)
    with pytest.raises(RunError, match=r"244,650 pairs"):
        rank_each(run, metric=None, effect=0.02)
