"""A percentile with fewer than ten slower events is not ranked, compared or used in a claim. Its table says why."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.claims import Claim, parse_claim
from poolproof.campaign.document import Spot
from poolproof.errors import RunError
from poolproof.metrics import metric_of
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.cells import tiles
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.comparison_object import ranking_object
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.few_events import few_events
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.run_object import run_object

from .making import CAMPAIGN, Values, changed, make_run

GOAL = Goal({"etcd": 1.0})
VALUES: Values = {("one", "etcd"): [9e6, 9.01e6, 9e6], ("pair", "etcd"): [2e6, 2.01e6, 2.02e6]}
SENTENCE = "112 syncs in a trial; the p99 of fsync needs 1,000 syncs: 17.9 s at this rate"


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    return load_run(make_run(tmp_path / "r", VALUES, syncs={"one": 112, "pair": 5000}))


def printed(print_it: object, *values: object) -> str:
    out = io.StringIO()
    assert callable(print_it)
    print_it(Console(file=out, width=120), *values)
    return out.getvalue()


def test_the_table_and_json_say_what_is_missing_and_show_no_interval(
    run: LoadedRun, wording: Callable[[str], str]
) -> None:
    assert SENTENCE in wording(printed(print_table, run.cells, "pair"))
    one, pair = run_object(Path("r"), run.cells, "pair")["cells"]
    assert (one["too_few"], one["figure"]["low"], one["speed_to_baseline"]) == (SENTENCE, None, None)
    assert pair["too_few"] is None and pair["figure"]["low"] is not None


def test_the_time_that_fio_takes_to_start_does_not_count(run: LoadedRun) -> None:
    slow, *_ = (trial for trial in run.trials if trial.layout == "one")
    assert slow.figures is not None
    started = replace(slow, figures=replace(slow.figures, iops=56.0, requests=112), seconds={"fio": 3.7})
    few = few_events([started], "sync_p99")
    assert few is not None and few.needed_s == pytest.approx(1000 / 56)


def test_it_is_neither_ranked_nor_compared_nor_claimed(run: LoadedRun, wording: Callable[[str], str]) -> None:
    ranking = rank(run, GOAL, metric=None, effect=0.02)
    assert [(each.entry.layout, each.first, each.last) for each in ranking.ranked] == [("pair", 1, 1)]
    assert ranking.too_few == ("one",)
    assert SENTENCE in wording(printed(print_ranking, ranking))
    assert ranking_object(ranking)["best"] == ["pair"]
    whys = {each["layout"]: each["why"] for each in ranking_object(ranking)["left_out"]}
    assert SENTENCE in whys["one"]
    found = compare(Side(run, "one"), Side(run, "pair"), effect=0.02)
    assert [cell.decision.word for cell in found.cells] == ["undecided"]
    assert SENTENCE in wording(printed(print_comparison, found))
    with pytest.raises(RunError, match="too few events"):
        compare(Side(run, "one"), Side(run, "pair"), effect=0.02, limit=0.05)
    text = "sync_p99(one, etcd) < 20ms"
    (claim,) = evaluate((Claim("fast", "here", text, parse_claim(text, Spot("test"))),), run.cells)
    assert claim.result == "undecided" and SENTENCE in claim.why


def test_the_page_names_no_winner_among_layouts_with_too_few_events(
    tmp_path: Path, wording: Callable[[str], str]
) -> None:
    """The layout with the lowest latency has too few syncs. It never leads, with or without a goal."""
    every = load_run(make_run(tmp_path / "every", VALUES, syncs={"one": 112, "pair": 130}))
    found = answer(every)
    assert found.tone == "open"
    assert SENTENCE in wording(dict(found.workloads)["etcd"])
    assert "9.00 ms" not in str(found)
    with pytest.raises(RunError, match="one: ") as error:
        rank(every, GOAL, metric=None, effect=0.02)
    assert "--time 18s" in error.value.hint
    record = changed(CAMPAIGN + "goal: etcd\n")
    alone = answer(load_run(make_run(tmp_path / "goal", VALUES, syncs={"one": 112, "pair": 130}, record=record)))
    assert SENTENCE in wording(alone.sentence)


def test_the_page_says_among_which_layouts_the_best_was_found(tmp_path: Path, wording: Callable[[str], str]) -> None:
    values = {**VALUES, ("union", "etcd"): [5e6, 5.01e6, 5e6]}
    made = make_run(tmp_path / "r", values, syncs={"one": 4000, "pair": 112, "union": 5000}, record=changed(CAMPAIGN))
    run = load_run(made)
    assert wording(dict(answer(run).workloads)["etcd"]).startswith("union: 5.00 ms (")
    best = {cell.layout: tile.share for cell, tile in zip(run.cells, tiles(run.cells), strict=True)}
    assert (best["pair"], best["union"]) == (None, 1.0)


def test_markdown_and_charts_mark_it(run: LoadedRun, wording: Callable[[str], str]) -> None:
    assert SENTENCE in wording(markdown_text(table_of(run)))
    one = next(cell for cell in run.cells if cell.layout == "one")
    assert "9.00 ms" in wording(result_text(one, "sync_p99"))


def test_old_runs_without_counts_are_not_checked(tmp_path: Path) -> None:
    old = load_run(make_run(tmp_path / "old", VALUES))
    assert rank(old, Goal({"etcd": 1.0}), metric=None, effect=0.02).best[0].entry.layout == "pair"


@pytest.mark.parametrize(("metric", "needed"), [("iops", 0), ("p50", 20), ("p99", 1000), ("p999", 10_000)])
def test_ten_events_must_be_slower(metric: str, needed: int) -> None:
    assert metric_of(metric).events_needed == needed
