"""The terminal output about individually measured disks, and about how close layouts come to them."""

from collections.abc import Callable
from dataclasses import replace
from io import StringIO

from rich.console import Console

from poolproof.presentation.terminal.limited import how_text, over_text, print_limits, without_limit
from poolproof.presentation.terminal.table import print_table
from poolproof.results.runs.limit import LeafLimit, Limit, limits_of
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import bare_cells_of, cells_of
from tests.unit.results.runs.measured_alone import CAMPAIGN, alone, trial


def shown(*trials: Trial) -> str:
    cells, bare = cells_of(trials, CAMPAIGN), bare_cells_of(trials, CAMPAIGN)
    limits = limits_of(cells, bare, CAMPAIGN)
    console = Console(file=StringIO(), width=160, highlight=False)
    print_table(console, cells, "one", limits)
    print_limits(console, cells, bare, limits)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_each_figure_has_its_share_and_each_disk_its_figure(wording: Callable[[str], str]) -> None:
    text = shown(
        alone("rust", "reads", 100.0),
        alone("ssd", "reads", 1000.0),
        trial("one", "reads", 90.0, {"rust": (100, 0)}),
        trial("both", "reads", 150.0, {"rust": (50, 0), "ssd": (50, 0)}),
    )
    wording(text)
    rows = {line.split()[0]: line for line in text.splitlines() if line.split()}
    assert "90%" in rows["one"]
    assert "75%" in rows["both"]
    assert "100 IOPS" in text and "1.00k IOPS" in text
    assert "bare:" not in text


def test_a_result_above_its_limit_and_one_without_a_limit_are_explained(wording: Callable[[str], str]) -> None:
    text = shown(
        alone("rust", "reads", 100.0),
        trial("one", "reads", 400.0, {"rust": (25, 0)}),
        trial("both", "reads", 150.0, {"rust": (50, 0), "ssd": (50, 0)}),
    )
    wording(text)
    assert all(fact in text for fact in ("reads on one", "400%", "75%", "both", "ssd"))


def test_a_latency_below_that_of_the_disks_is_called_faster(wording: Callable[[str], str]) -> None:
    trials = [alone("rust", "reads", 100.0), trial("one", "reads", 400.0, {"rust": (25, 0)})]
    cells = cells_of(trials, CAMPAIGN)
    limit = limits_of(cells, bare_cells_of(trials, CAMPAIGN), CAMPAIGN)[cells[0].key]
    assert isinstance(limit, Limit)
    texts = {wording(over_text(replace(cells[0], metric=metric), limit)) for metric in ("iops", "p99")}
    assert len(texts) == 2


def test_a_run_that_measured_no_disk_alone_shows_nothing_of_it() -> None:
    made = cells_of([trial("one", "reads", 90.0, {"rust": (100, 0)})], CAMPAIGN)
    console = Console(file=StringIO(), width=160)
    print_table(console, made, None)
    print_limits(console, made, (), {})
    assert isinstance(console.file, StringIO)
    assert "limit" not in console.file.getvalue()


def test_how_a_limit_comes_about_names_every_disk_and_the_one_that_bounds_it(wording: Callable[[str], str]) -> None:
    limit = Limit(2000.0, 0.5, "b", (LeafLimit("a", 2000.0, 0.5), LeafLimit("b", 1000.0, 0.5)))
    text = wording(how_text(limit, "iops"))
    assert all(fact in text for fact in ("2.00k IOPS ÷ 0.5 = 4.00k IOPS", "1.00k IOPS ÷ 0.5 = 2.00k IOPS"))
    quick = Limit(1e6, 0.5, "b", (LeafLimit("a", 2e6, 0.5), LeafLimit("b", 1e6, 0.5)))
    assert wording(how_text(quick, "p99")).startswith("a 2.00 ms, b 1.00 ms")


def test_a_layout_without_any_limit_is_named_once() -> None:
    cells = cells_of([trial("one", name, 1.0, {"vda": (9, 9)}) for name in ("reads", "writes")], CAMPAIGN)
    assert without_limit([(cell, "why") for cell in cells]) == ("one: why",)
    assert without_limit([(cells[0], "why"), (cells[1], None)]) == ("reads on one: why",)
