"""`python -m benchmarks.court`: what it counts in two runs of the same campaign."""

import json
from pathlib import Path

from benchmarks.court import HERE, KINDS, LAB, Pair, judge, pairs_of, rows, rows_by_deviation, rows_by_limit, runs_in
from benchmarks.redecided import redecided

from poolproof.campaign.yaml import read_campaign
from poolproof.layers.adapt import families
from poolproof.layers.resolve import resolve
from poolproof.results.runs.loading import load_run
from tests.unit.results.compare.making import CAMPAIGN, changed, made, make_run
from tests.unit.results.compare.test_earlier_runs import run as across_runs

LAYOUTS, SPREAD = ("one", "pair", "union"), (1.0, 1.02, 0.99)


def values(speed: float = 1.0) -> dict[tuple[str, str], list[float]]:
    rates = {(layout, name): [1000 * each for each in SPREAD] for layout in LAYOUTS for name in ("reads", "stream")}
    return rates | {("union", "reads"): [1000 * speed * each for each in SPREAD]}


def test_equal_runs_have_no_false_word_and_a_planted_difference_is_found(tmp_path: Path) -> None:
    found = judge(Pair("fixed", made(tmp_path / "a", values()), made(tmp_path / "b", values())))
    assert (found.cells, found.tested, found.false, found.excluding, found.found) == (6, 6, (), (), 6)
    assert list(rows([found]))[2] == "| 1 fixed | 6 | 0 (0%) | 0 (0.0%) | 0 (0.0%) | 100% | 100% |"


def test_cells_are_grouped_by_the_deviation_of_their_trials(tmp_path: Path) -> None:
    found = judge(Pair("fixed", made(tmp_path / "a", values()), made(tmp_path / "b", values())))
    assert list(rows_by_deviation([found]))[2:] == ["| 1% to 2% | 6 | 100% |"]


def test_cells_are_grouped_by_how_they_are_tested(tmp_path: Path) -> None:
    """At an extreme of half the speed, and in a cell that is not tested, a difference of 20% is not found."""
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, trials: 2..6}"))
    changing = {("pair", "reads"): "step"}
    a, b, unknown = (
        load_run(make_run(tmp_path / name, values(), record=record, unsettled=cells, extremes=extremes))
        for name, cells, extremes in (("a", {}, (0.9, 1.1)), ("b", changing, (0.5, 1.5)), ("c", changing, (None, None)))
    )
    assert list(rows_by_limit([judge(Pair("until", a, b)), judge(Pair("until", a, unknown))]))[2:] == [
        "| tested with the spread of the trials | 0 | 10 | 0 | 0 |",
        "| tested at the extremes | 0 | 0 | 0 | 1 |",
        "| not tested: the rate changes | 0 | 0 | 0 | 1 |",
    ]


def test_a_false_word_and_an_interval_without_0_are_counted(tmp_path: Path) -> None:
    found = judge(Pair("until", made(tmp_path / "a", values()), made(tmp_path / "b", values(1.5))))
    assert found.false == found.excluding == ("reads on union faster ×1.50",)
    assert list(rows([found]))[-2].startswith("| 1 all | 6 | 1 (100%) | 1 (16.7%) | 1 (16.7%) |")


def test_a_pair_is_judged_with_and_without_earlier_runs(tmp_path: Path) -> None:
    for day, factor in ((1, 1.1), (2, 0.9), (3, 1.08)):
        across_runs(tmp_path, day, factor)
    pair = Pair("fixed", across_runs(tmp_path, 8, 0.95), across_runs(tmp_path, 9, 1.05))
    assert judge(pair).false == () and len(judge(pair, alone=True).false) == 4


def test_every_two_runs_of_a_kind_are_a_pair(tmp_path: Path) -> None:
    runs = [(kind, made(path, values())) for kind, path in runs_in(tmp_path, 7)]
    pairs = list(pairs_of(runs))
    assert [(pair.kind, pair.a.path.name, pair.b.path.name) for pair in pairs if pair.disjoint] == [
        ("fixed", "000-fixed", "002-fixed"),
        ("fixed", "004-fixed", "006-fixed"),
        ("until", "001-until", "003-until"),
    ]
    assert [pair.kind for pair in pairs] == ["fixed"] * 6 + ["until"] * 3
    assert [line.split(" |")[0] for line in rows([judge(pair) for pair in pairs])][2:] == [
        "| 6 fixed",
        "| 3 until",
        "| 9 all",
        "| 3 disjoint",
    ]


def test_kinds_alternate_and_the_campaigns_have_six_layouts_and_four_workloads(tmp_path: Path) -> None:
    assert [kind for kind, _path in runs_in(tmp_path, 4)] == [*KINDS, *KINDS]
    assert [path.name for _kind, path in runs_in(tmp_path, 4, "until")] == ["001-until", "003-until"]
    for path in {*HERE.campaigns.values(), *LAB.campaigns.values()}:
        campaign = read_campaign(path)
        assert (len(campaign.layouts), len(campaign.workloads)) == (6, 4)
    campaign = read_campaign(LAB.campaigns["fixed"])
    names = {device.name for device in campaign.devices}
    nodes = {layout.name: resolve(layout.expression, names) for layout in campaign.layouts}
    assert sorted(map(len, families(nodes, list(nodes)))) == [1, 1, 4]


def test_the_stopping_rule_decides_again_about_recorded_trials(tmp_path: Path) -> None:
    """The cache of a disk takes 900 I/Os in the first 0.25 s. The recorded value includes them."""
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, trials: 2..6, max: 3s}"))
    rates = {("one", "reads"): [1250.0, 1251.0]}
    path = make_run(tmp_path / "r", rates, record=record, unsettled={("one", "reads"): "burst"})
    for number in (1, 2):
        folder = path / "cells" / "one" / "reads" / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        ended = [(at / 4, 900 + 240 * (at - 1) + 3 * (at % 2)) for at in range(1, 13)]
        lines = (json.dumps({"at_s": 1e9 + s, "ran_s": s, "read_ios": ios}) for s, ios in ended)
        (folder / "series.jsonl").write_text("\n".join(lines))
    found = load_run(path)
    again = redecided(found)
    assert [trial.value("iops") for trial in found.trials] == [1250.0, 1251.0]
    for trial in again.trials:
        assert trial.settling is not None and trial.settling.warmup_s == 0.25
        assert trial.value("iops") is not None and abs((trial.value("iops") or 0) / 960 - 1) < 0.02
    assert (found.cells[0].unsteady, again.cells[0].unsteady) == (("burst",), ())
