"""Cells whose rate changes are listed, and are either not tested or tested at their extremes.

Other cells are not affected.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.claims import Claim, parse_claim
from poolproof.campaign.document import Spot
from poolproof.errors import RunError
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.comparison_object import comparison_object, ranking_object
from poolproof.results.compare.measured import Measured, measured
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.loading import LoadedRun, load_run

from .making import CAMPAIGN, Values, changed, make_run

UNTIL = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, trials: 2..6}"))
VALUES: Values = {
    ("one", "reads"): [1000.0, 1001.0, 1002.0],
    ("pair", "reads"): [2000.0, 2001.0, 2002.0],
    ("union", "reads"): [500.0, 501.0, 500.5],
}
READS = Goal({"reads": 1.0})


def run(
    path: Path,
    unsettled: Mapping[tuple[str, str], str],
    values: Values = VALUES,
    extremes: tuple[float | None, float | None] = (None, None),
) -> LoadedRun:
    return load_run(make_run(path, values, record=UNTIL, unsettled=unsettled, extremes=extremes))


def held(found: LoadedRun, text: str) -> tuple[str, str]:
    (one,) = evaluate((Claim("it is so", "this test", text, parse_claim(text, Spot("test"))),), tuple(found.cells))
    return one.result, one.why


def text_of(print_it: object, found: object) -> str:
    out = io.StringIO()
    print_it(Console(file=out, width=100), found)  # type: ignore[operator]  # one of the two printers
    return out.getvalue()


def test_a_drifting_cell_is_undecided_although_its_trials_agree(tmp_path: Path, wording: Callable[[str], str]) -> None:
    a, b = (
        run(tmp_path / "a", {}),
        run(tmp_path / "b", {("pair", "reads"): "drift"}, {**VALUES, ("one", "reads"): [2e3] * 3}),
    )
    found = compare(Side(a), Side(b), effect=0.02)
    words = {cell.key.layout: cell.decision.word for cell in found.cells}
    assert words == {"one": "faster", "pair": "undecided", "union": "same"}
    wording(text_of(print_comparison, found))
    (pair,) = [cell for cell in comparison_object(found)["cells"] if cell["layout"] == "pair"]
    assert (pair["a"]["settled"], pair["b"]["settled"], pair["b"]["unsteady"]) == (True, False, ["drift"])
    assert pair["p"] is None and pair["speed"]["low"] is None


def test_untested_cells_do_not_affect_the_correction(tmp_path: Path) -> None:
    a = run(tmp_path / "a", {})
    alone = compare(Side(a, "one"), Side(a, "union"), effect=0.02)
    b = run(tmp_path / "b", {("pair", "reads"): "step"})
    beside = compare(Side(b), Side(b), effect=0.02)
    tested = [cell for cell in beside.cells if cell.decision.p is not None]
    assert len(tested) == 2 and len(alone.cells) == 1
    assert all(cell.decision.p_holm == pytest.approx(min(1.0, 2 * (cell.decision.p or 0))) for cell in tested[:1])


def test_a_gate_leaves_unsteady_cells_open_and_fails_if_none_is_steady(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", {}), run(tmp_path / "b", {("pair", "reads"): "drift"})
    gate = compare(Side(a), Side(b), effect=0.02, limit=0.05).gate
    assert gate is not None and gate.passed
    assert [cell.key.layout for cell in gate.open] == ["pair"]
    none = run(tmp_path / "c", dict.fromkeys(VALUES, "drift"))
    with pytest.raises(RunError, match="--fail-if-slower: poolproof cannot test"):
        compare(Side(a), Side(none), effect=0.02, limit=0.05)


def test_an_unsteady_layout_may_have_any_place_and_is_named(tmp_path: Path, wording: Callable[[str], str]) -> None:
    ranking = rank(run(tmp_path / "r", {("pair", "reads"): "bimodal"}), READS, metric=None, effect=0.02)
    assert {each.entry.layout: (each.first, each.last) for each in ranking.ranked} == {
        "one": (1, 2),
        "union": (2, 3),
        "pair": (1, 3),
    }
    assert ranking.ranked[-1].entry.layout == "pair"
    assert ranking.safer == (), "what did not settle has no price"
    assert {each.entry.layout for each in ranking.best} == {"one", "pair"}
    wording(text_of(print_ranking, ranking))
    (pair,) = [each for each in ranking_object(ranking)["layouts"] if each["layout"] == "pair"]
    assert pair["figures"][0]["unsteady"] == ["bimodal"]


def test_layouts_of_which_none_can_be_tested_are_not_called_equal(tmp_path: Path) -> None:
    record = replace(UNTIL, campaign=f"{UNTIL.campaign}goal: reads\n")
    drifts = {(layout, "reads"): "drift" for layout in ("one", "pair", "union")}
    values: Values = {key: [1000.0, 1001.0] for key in drifts}
    made = load_run(make_run(tmp_path / "r", values, record=record, unsettled=drifts))
    printed, page = text_of(print_ranking, rank(made, READS, metric=None, effect=0.02)), answer(made).sentence
    assert "best: unknown, because no layout can be tested" in printed
    assert "the best layout is unknown: no layout can be tested" in page
    assert "not significantly" not in printed + page
    assert "are not tested, so they may have any place: the rate changes (drift)" in " ".join(printed.split())
    compared = text_of(print_comparison, compare(Side(made, "one"), Side(made, "pair"), effect=0.02))
    assert "not tested: reads" in compared and "With 95% confidence" not in compared


@pytest.mark.parametrize(
    ("drifting", "page", "printed"),
    [
        (("pair",), "one is the best of the others: ", "one is the best of the tested layouts"),
        (("pair", "union"), "one is the only layout that can be tested: ", "only one can be tested"),
    ],
)
def test_a_layout_that_cannot_be_tested_is_not_called_slower_or_equal(
    tmp_path: Path, drifting: tuple[str, ...], page: str, printed: str
) -> None:
    record = replace(UNTIL, campaign=f"{UNTIL.campaign}goal: reads\n")
    values: Values = {("one", "reads"): [1000.0, 1001.0], ("pair", "reads"): [9000.0, 9001.0],
                      ("union", "reads"): [500.0, 501.0]}  # fmt: skip
    unsettled = {(layout, "reads"): "bimodal" for layout in drifting}
    made = load_run(make_run(tmp_path / "r", values, record=record, unsettled=unsettled))
    sentence = answer(made).sentence
    assert page in sentence and "best mean" not in sentence and "significantly" not in sentence
    assert printed in text_of(print_ranking, rank(made, READS, metric=None, effect=0.02))


def test_a_mix_shows_no_ratios_of_layouts_that_cannot_be_tested(tmp_path: Path) -> None:
    values: Values = {**VALUES, **{(layout, "stream"): [5e8, 5.01e8] for layout in ("one", "pair", "union")}}
    mix = Goal({"reads": 0.5, "stream": 0.5})
    for unsettled, shown in (({}, 2), ({("one", "reads"): "drift"}, 1), (dict.fromkeys(VALUES, "drift"), 0)):
        path = tmp_path / str(len(unsettled))
        made = load_run(make_run(path, values, record=UNTIL, unsettled=unsettled))
        printed = text_of(print_ranking, rank(made, mix, metric=None, effect=0.02))
        ratios = printed.partition("geometric mean of these ratios")[2]
        assert ratios.count(": reads ") == shown and bool(ratios) is bool(shown)


@pytest.mark.parametrize("reason", ["noise", "few-trials-is-no-name"])
def test_only_a_steady_rate_is_tested(tmp_path: Path, reason: str) -> None:
    ranking = rank(run(tmp_path / "r", {("pair", "reads"): reason}), READS, metric=None, effect=0.02)
    places = {each.entry.layout: (each.first, each.last) for each in ranking.ranked}
    assert places["pair"] == ((1, 1) if reason == "noise" else (1, 3))


def test_an_unsteady_cell_has_no_factor_and_decides_no_claim(tmp_path: Path) -> None:
    found = run(tmp_path / "r", {("pair", "reads"): "drift"})
    for baseline in ("one", "pair"):
        speeds = speeds_to_baseline(found.cells, baseline)
        assert {"one", "pair"}.isdisjoint(key.layout for key in speeds if key.workload == "reads")
    assert held(found, "iops(pair, reads) > 1")[0] == "undecided"
    assert "(drift)" in held(found, "iops(pair, reads) > 1")[1]


@pytest.mark.parametrize(
    ("extremes", "places"),
    [
        ((0.7, 1.3), {"one": (2, 2), "union": (3, 3), "pair": (1, 1)}),
        ((0.4, 1.1), {"one": (1, 2), "union": (3, 3), "pair": (1, 2)}),
        ((0.2, 1.1), {"one": (1, 2), "union": (2, 3), "pair": (1, 3)}),
    ],
)
def test_a_rate_that_changes_is_tested_at_its_extremes(
    tmp_path: Path, extremes: tuple[float, float], places: dict[str, tuple[int, int]], wording: Callable[[str], str]
) -> None:
    """2000 IOPS are compared with 1000 and 500.

    The layout is the best if its rate is never below 1400, and undecided down to 800. If its rate falls to 400, it may
    have any place.
    """
    found = run(tmp_path / "r", {("pair", "reads"): "step"}, extremes=extremes)
    ranking = rank(found, READS, metric=None, effect=0.02)
    assert {each.entry.layout: (each.first, each.last) for each in ranking.ranked} == places
    wording(text_of(print_ranking, ranking))
    (pair,) = [each for each in ranking_object(ranking)["layouts"] if each["layout"] == "pair"]
    figure = pair["figures"][0]
    assert (figure["unsteady"], figure["changing"]) == ([], ["step"])
    assert figure["figure"]["low"] == pytest.approx(2000 * extremes[0], rel=0.02)
    assert figure["figure"]["high"] == pytest.approx(2000 * extremes[1], rel=0.02)


def test_equal_means_are_not_the_same_if_one_rate_changes(tmp_path: Path, wording: Callable[[str], str]) -> None:
    a, b = run(tmp_path / "a", {}), run(tmp_path / "b", {("pair", "reads"): "drift"}, extremes=(0.8, 1.2))
    found = compare(Side(a), Side(b), effect=0.02)
    words = {cell.key.layout: cell.decision.word for cell in found.cells}
    assert words == {"one": "same", "pair": "undecided", "union": "same"}
    wording(text_of(print_comparison, found))


def test_the_extremes_of_a_latency_are_inverted(tmp_path: Path) -> None:
    """2 ms is faster than 10 ms if it is never more than 5 ms. If it is up to 12 ms, the comparison is undecided."""
    values: Values = {("one", "etcd"): [10e6, 10.1e6, 9.9e6], ("pair", "etcd"): [2e6, 2e6, 2.01e6]}
    for highest, first in ((2.5, (1, 1)), (6.0, (1, 2))):
        found = run(tmp_path / str(highest), {("pair", "etcd"): "burst"}, values, extremes=(0.9, highest))
        ranking = rank(found, Goal({"etcd": 1.0}), metric=None, effect=0.02)
        assert {each.entry.layout: (each.first, each.last) for each in ranking.ranked}["pair"] == first


NINE = tuple(f"l{number}" for number in range(9))
MANY = changed(
    UNTIL.campaign[: UNTIL.campaign.index("  one:")]
    + "".join(f"  {name}: a | ext4\n" for name in NINE)
    + UNTIL.campaign[UNTIL.campaign.index("workloads:") :]
)


def test_trials_of_a_changing_rate_show_how_much_trials_differ(tmp_path: Path) -> None:
    """Log devices in the grid: nine layouts with two trials each, of which six have a step.

    Latencies are about 12 ms or 180 ms.
    """
    means = dict(zip(NINE, (11.5, 12.0, 12.5, 13.0, 13.5, 170.0, 180.0, 190.0, 185.0), strict=True))
    values: Values = {(name, "etcd"): [0.96e6 * mean, 1.05e6 * mean] for name, mean in means.items()}
    changes = {(name, "etcd"): "step" if number % 3 else "noise" for number, name in enumerate(NINE)}
    path = make_run(tmp_path / "r", values, record=MANY, unsettled=changes, extremes=(0.7, 1.5))
    found = rank(load_run(path), Goal({"etcd": 1.0}), metric=None, effect=0.02)
    places = {each.entry.layout: (each.first, each.last) for each in found.ranked}
    assert all(places[name][1] <= 5 for name in NINE[:5]), places
    assert all(places[name][0] >= 6 for name in NINE[5:]), places


def test_a_metric_other_than_the_workloads_own_has_no_extremes(tmp_path: Path) -> None:
    found = run(tmp_path / "r", {("pair", "reads"): "step"}, extremes=(0.7, 1.3))
    value = measured(found, CellKey("pair", "reads"), "bandwidth")
    assert isinstance(value, Measured) and (value.unsteady, value.changing) == (("step",), ())


@pytest.mark.parametrize(
    ("text", "extremes", "result"),
    [
        ("iops(pair, reads) > 1300", (0.7, 1.3), "held"),
        ("iops(pair, reads) > 1500", (0.7, 1.3), "undecided"),
        ("iops(pair, reads) / iops(one, reads) > 1.3", (0.7, 1.3), "held"),
        ("iops(one, reads) / iops(pair, reads) < 0.8", (0.7, 1.3), "held"),
        ("iops(one, reads) / iops(pair, reads) < 0.6", (0.7, 1.3), "undecided"),
        ("iops(pair, reads) < 1300", (0.7, 1.3), "failed"),
        ("iops(pair, reads) > 1", (0.0, 1.3), "undecided"),
    ],
)
def test_a_claim_is_evaluated_at_the_extremes_too(
    tmp_path: Path, text: str, extremes: tuple[float, float], result: str
) -> None:
    found = run(tmp_path / "r", {("pair", "reads"): "step"}, extremes=extremes)
    assert held(found, text)[0] == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("sync_p99(pair, etcd) < 4.5ms", "held"),
        ("sync_p99(pair, etcd) < 3.5ms", "undecided"),
        ("sync_p99(pair, etcd) > 4.5ms", "failed"),
        ("sync_p99(one, etcd) / sync_p99(pair, etcd) > 2.3", "held"),
        ("sync_p99(one, etcd) / sync_p99(pair, etcd) > 3", "undecided"),
        ("sync_p99(pair, etcd) / sync_p99(one, etcd) < 0.45", "held"),
    ],
)
def test_a_claim_about_a_latency_that_changes(tmp_path: Path, text: str, result: str) -> None:
    """A latency of 2 ms, with extremes of 1 ms and 4 ms, is compared with 10 ms."""
    values: Values = {("one", "etcd"): [10e6, 10.1e6, 9.9e6], ("pair", "etcd"): [2e6, 2e6, 2e6]}
    found = run(tmp_path / "r", {("pair", "etcd"): "step"}, values, extremes=(0.5, 2.0))
    assert held(found, text)[0] == result


def test_a_claim_uses_the_other_cells_of_its_run(tmp_path: Path) -> None:
    """For two trials that differ by 4%, t is 12.7. Eight such cells are enough even for a cell with a single trial."""
    values: Values = {
        (name, "etcd"): [0.98e6 * mean, 1.02e6 * mean] for name, mean in zip(NINE, [180] * 9, strict=True)
    }
    values = {**values, ("l1", "etcd"): [12e6], ("l2", "etcd"): [12e6, 12.4e6]}
    many = load_run(make_run(tmp_path / "r", values, record=MANY, unsettled={}))
    assert held(many, "sync_p99(l0, etcd) / sync_p99(l2, etcd) > 13")[0] == "held"
    assert held(many, "sync_p99(l0, etcd) / sync_p99(l1, etcd) > 12")[0] == "held"
    assert held(many, "sync_p99(l1, etcd) < 14ms")[0] == "held"
    few = {place: own for place, own in values.items() if place[0] in ("l0", "l1", "l2")}
    alone = load_run(make_run(tmp_path / "f", few, record=MANY, unsettled={}))
    assert held(alone, "sync_p99(l0, etcd) / sync_p99(l2, etcd) > 13")[0] == "undecided"
    result, why = held(alone, "sync_p99(l1, etcd) < 14ms")
    assert result == "undecided" and "single trial" in why and "other cells" not in why


def test_cells_with_very_different_variances_say_nothing_about_a_single_trial(tmp_path: Path) -> None:
    apart = (0.03, 3.0, 0.04, 1.5, 0.035, 2.5, 0.05, 2.0, 0.03)
    values: Values = {(name, "etcd"): [20e6, 20e6 * (1 + share)] for name, share in zip(NINE, apart, strict=True)}
    found = load_run(make_run(tmp_path / "r", {**values, ("l1", "etcd"): [12e6]}, record=MANY, unsettled={}))
    result, why = held(found, "sync_p99(l1, etcd) < 14ms")
    assert result == "undecided" and "cells vary" in why


def test_a_run_with_a_removed_criterion_is_still_read(tmp_path: Path) -> None:
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, steady: fio-slope}"))
    found = load_run(make_run(tmp_path / "r", VALUES, record=record, unsettled={}))
    assert {(cell.layout, cell.workload) for cell in found.cells} == set(VALUES)
    ranking = rank(found, READS, metric=None, effect=0.02)
    assert [each.entry.layout for each in ranking.ranked] == ["pair", "one", "union"]
