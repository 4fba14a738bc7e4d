"""A cell's history: a change is marked if, and only if, `compare` reports it for the same two runs."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.history import CellHistory, NamedRun, differences_before, in_order, series_of
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.runs.loading import load_run
from poolproof.statistics.comparison import LEAST_EFFECT
from tests.unit.results.compare import making
from tests.unit.results.compare.making import CAMPAIGN, make_run
from tests.unit.results.compare.test_earlier_runs import run as across_runs

from .making import make_history


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[NamedRun, ...]:
    root = make_history(tmp_path_factory.mktemp("runs"))
    return in_order(NamedRun(path.name, load_run(path)) for path in sorted(root.iterdir(), reverse=True))


def _words(series: CellHistory) -> list[str | None]:
    return [point.change.decision.word if point.change else None for point in series.points]


def _by_cell(runs: Sequence[NamedRun]) -> dict[tuple[str, str], CellHistory]:
    return {(each.layout, each.workload): each for each in series_of(runs)}


def test_each_cell_is_compared_with_its_latest_result_that_counts(runs: Sequence[NamedRun]) -> None:
    cells = _by_cell(runs)
    assert _words(cells["one", "reads"]) == [None, "same", "slower", "same"]
    assert _words(cells["one", "stream"]) == [None, "same", "same", "faster"]
    assert _words(cells["pair", "reads"]) == [None, None, "same", "same"]
    assert _words(cells["union", "etcd"]) == [None, "same"]
    skipped = cells["pair", "reads"].points[2].change
    assert skipped is not None and skipped.since == 0
    assert cells["pair", "reads"].points[1].reason == "refuted (rule-refuted)"


def test_the_words_are_those_of_compare(runs: Sequence[NamedRun]) -> None:
    cells = _by_cell(runs)
    comparison = compare(Side(runs[2].run), Side(runs[3].run), effect=LEAST_EFFECT)
    for cell in comparison.cells:
        change = cells[cell.key.layout or "", cell.key.workload].points[-1].change
        assert change is not None
        assert (change.decision, change.speed) == (cell.decision, cell.difference.interval)
    assert len(comparison.cells) == 3


def test_many_cells_have_the_words_of_compare_too(tmp_path: Path) -> None:
    """From eight pairs of cells on, `compare` estimates the variances of both cells of a pair together."""
    chance, names = random.Random(3), [f"w{at}" for at in range(12)]
    workloads = "".join(f"  {name}: {{rw: randread, bs: 4k}}\n" for name in names)
    head, _, _ = CAMPAIGN.partition("workloads:")
    campaign = f"{head}workloads:\n{workloads}measure: {{time: 5s, trials: 3}}\n"
    spreads, made = [chance.lognormvariate(-4, 1) for _ in names], []
    for day in (1, 2):
        record = replace(making.changed(campaign), begun_at=f"2026-11-0{day}T10:00:00+00:00")
        values: making.Values = {
            ("one", name): [1000 * (1 + 0.1 * (day - 1)) * chance.lognormvariate(0, spread) for _ in range(3)]
            for name, spread in zip(names, spreads, strict=True)
        }
        made.append(NamedRun(str(day), load_run(make_run(tmp_path / str(day), values, record=record))))
    changes = {key: each.points[-1].change for key, each in _by_cell(made).items()}
    words = set()
    for cell in compare(Side(made[0].run), Side(made[1].run), effect=LEAST_EFFECT).cells:
        change = changes[cell.key.layout, cell.key.workload]
        assert change is not None
        assert (change.decision, change.speed) == (cell.decision, cell.difference.interval)
        words.add(change.decision.word)
    assert words == {"faster", "undecided"}


def test_other_differences_are_listed_for_each_run(runs: Sequence[NamedRun]) -> None:
    assert list(differences_before(runs)) == [(), (), ("fio: fio-3.33 → fio-3.36",), ()]


def test_another_machine_or_campaign_is_another_history(runs: Sequence[NamedRun]) -> None:
    record = runs[3].run.record
    elsewhere = replace(runs[3].run, record=replace(record, facts={**record.facts, "machine": "other"}))
    other = replace(runs[3].run, campaign=replace(runs[3].run.campaign, name="other"))
    for changed in (elsewhere, other):
        found = series_of([*runs[:3], NamedRun("changed", changed)])
        assert {len(each.points) for each in found if (each.layout, each.workload) == ("one", "stream")} == {3, 1}
        assert all(_words(each)[0] is None for each in found)


def test_an_unsettled_result_is_approximate(tmp_path: Path) -> None:
    record = making.changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 10%, trials: 2..6}"))
    values = {("one", "reads"): [1000.0, 1001.0], ("pair", "reads"): [2000.0, 2001.0]}
    path = make_run(tmp_path / "run", values, record=record, unsettled={("pair", "reads"): "drift"})
    cells = _by_cell([NamedRun("run", load_run(path))])
    (calm,), (drifts,) = cells["one", "reads"].points, cells["pair", "reads"].points
    assert (calm.cell.did_not_converge, drifts.cell.did_not_converge) == (False, True)
    assert not result_text(calm.cell, "iops").startswith("about")
    assert result_text(drifts.cell, "iops").startswith("about 2.00k IOPS (")


def test_changes_include_the_variance_between_runs_as_compare_does(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    for day, factor in ((1, 1.1), (2, 0.9), (3, 1.08), (8, 0.95), (9, 1.05)):
        across_runs(root, day, factor)
    runs = in_order(NamedRun(path.name, load_run(path)) for path in root.iterdir())
    newest = [each.points[-1].change for each in series_of(runs)]
    compared = compare(Side(runs[-2].run), Side(runs[-1].run), effect=LEAST_EFFECT).cells
    assert [(change.decision, change.speed) for change in newest if change] == [
        (cell.decision, cell.difference.interval) for cell in compared
    ]
    assert {change.decision.word for change in newest if change} == {"undecided"}
    assert [change.earlier_runs for change in newest if change] == [3] * 4
    alone = [each.points[-1].change for each in series_of(runs[-2:])]
    assert {change.decision.word for change in alone if change} == {"faster", "slower"}
    assert [change.earlier_runs for change in alone if change] == [0] * 4
