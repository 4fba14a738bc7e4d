"""Differences between layouts that were converted into one another in place include a margin, and outputs say so."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.terminal.compared import print_comparison
from poolproof.presentation.terminal.ranked import print_ranking
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.cell_comparison import Side, compare
from poolproof.results.compare.ranking import Goal, rank
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.loading import LoadedRun, load_run

from .making import CAMPAIGN, Values, changed, make_run

HEAD, _, REST = CAMPAIGN.partition("layouts:\n")
_, _, TAIL = REST.partition("workloads:")
ORDERS = {
    "in place": ("plain: zfs mirror a b", "log: zfs mirror a b log c", "anew: a | ext4"),
    "anew": ("plain: zfs mirror a b", "anew: a | ext4", "log: zfs mirror a b log c"),
}
READS = Goal({"reads": 1.0})


def run(path: Path, order: str, log: float = 1100.0) -> LoadedRun:
    layouts = "".join(f"  {line}\n" for line in ORDERS[order])
    record = changed(f"{HEAD}layouts:\n{layouts}workloads:{TAIL}")
    levels = {"plain": 1000.0, "log": log, "anew": 500.0}
    values: Values = {(name, "reads"): [level, level * 1.001, level * 1.002] for name, level in levels.items()}
    return load_run(make_run(path, values, record=record))


@pytest.mark.parametrize(
    ("order", "log", "word"), [("in place", 1100, "undecided"), ("in place", 2000, "faster"), ("anew", 1100, "faster")]
)
def test_a_small_difference_within_a_family_decides_nothing(tmp_path: Path, order: str, log: float, word: str) -> None:
    made = run(tmp_path / "r", order, log)
    found = compare(Side(made, "plain"), Side(made, "log"), effect=0.02)
    assert [cell.decision.word for cell in found.cells] == [word]
    ranking = rank(made, READS, metric=None, effect=0.02)
    assert len(ranking.best) == (1 if word == "faster" else 2)
    assert ranking.ranked[-1].entry.layout == "anew" and ranking.ranked[-1].first == 3


@pytest.mark.parametrize("order", ORDERS)
def test_the_margin_is_stated(tmp_path: Path, order: str) -> None:
    made, out = run(tmp_path / "r", order), io.StringIO()
    print_comparison(Console(file=out, width=200), compare(Side(made, "plain"), Side(made, "log"), effect=0.02))
    print_ranking(Console(file=out, width=200), rank(made, READS, metric=None, effect=0.02))
    print_table(Console(file=out, width=200), made.cells, "plain")
    page = str(answer(made))
    text = out.getvalue() + page
    assert text.count("were converted into each other in place") == (4 if order == "in place" else 0)


@pytest.mark.parametrize("order", ORDERS)
def test_speeds_relative_to_the_baseline_agree_with_compare(tmp_path: Path, order: str) -> None:
    made = run(tmp_path / "r", order)
    found = compare(Side(made, "plain"), Side(made, "log"), effect=0.02)
    speeds = speeds_to_baseline(made.cells, "plain")
    assert speeds[made.cell("log", "reads").key] == found.cells[0].difference.interval


@pytest.mark.parametrize("order", ORDERS)
def test_layouts_of_two_runs_have_the_margin_too(tmp_path: Path, order: str) -> None:
    """The age of the pool differs between the two layouts even if each is taken from another run, or from a copy."""
    one, other = run(tmp_path / "one", order), run(tmp_path / "other", order)
    apart = compare(Side(one, "plain"), Side(other, "log"), effect=0.02)
    assert (apart.in_place, apart.cells[0].decision.word) == (
        (True, "undecided") if order == "in place" else (False, "faster")
    )
    assert not compare(Side(one, "plain"), Side(other, "plain"), effect=0.02).in_place
