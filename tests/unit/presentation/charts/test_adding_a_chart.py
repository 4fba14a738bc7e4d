"""A chart is a single file: the report, exported pictures and notebooks also find a chart outside the package."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import altair as alt
import pytest

from poolproof.presentation import charts
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.model import Lines, TrialChart, all_charts, chart_named, filled
from poolproof.presentation.export.pictures import drawn, pictures
from poolproof.presentation.html_report.cells import shown_trials
from poolproof.presentation.html_report.page import page
from poolproof.results.runs.loading import load_run
from tests.golden import Message
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, data_of, make_run, trial

ROOT = Path(__file__).parents[4]
TOY = Path(__file__).parent / "toy"
PAGE = (ROOT / "docs" / "adding-a-chart.md").read_text(encoding="utf-8")
QUOTES = re.findall(r"<!-- (\S+) -->\n```python\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def with_toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the folder with the toy charts to the package, without any other change."""
    monkeypatch.setattr(charts, "__path__", [*charts.__path__, str(TOY)])
    all_charts.cache_clear()
    yield
    all_charts.cache_clear()
    for name in ("latency_heat", "metric_ticks"):
        sys.modules.pop(f"{charts.__name__}.{name}", None)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in which some workloads are plotted along an axis, and others are not."""
    grid = [replace(trial("one", "reads", number), workload="grid[bs=4k]") for number in (1, 2)]
    campaign = CAMPAIGN.replace("goal:", "  grid: {rw: randread, bs: [4k, 8k], size: 64m}\ngoal:")
    return make_run(tmp_path / "run", [*all_trials(), *grid], campaign=campaign)


@pytest.mark.usefixtures("with_toy")
def test_the_page_shows_it(run: Path) -> None:
    text = page(load_run(run, lenient=True))
    assert 'id="latency-heat-chart"' in text and "<h3>Latencies over time</h3>" in text
    (lines,) = data_of(text)["trials"][0][0]["charts"]["latency-heat"]["lines"]
    assert lines["values"]["1 ms"][0] == 1000


@pytest.mark.slow
@pytest.mark.usefixtures("with_toy")
def test_a_chart_of_a_metric_follows_the_readers_choices(run: Path) -> None:
    loaded = load_run(run)
    text = page(load_run(run, lenient=True))
    assert 'id="metric-ticks-chart"' in text and 'id="curves-chart"' in text
    toy = next(chart for chart in data_of(text)["charts"] if chart["name"] == "metric-ticks")
    assert list(toy["rows"]) == list(toy["specs"]) == ["iops", "bandwidth", "p50", "p99"]
    assert isinstance(filled(chart_named("metric-ticks"), loaded, metric="p99"), alt.Chart)
    own = [each.place.name for each in pictures(loaded) if look.bare(each.chart).get("mark") == {"type": "tick"}]
    assert "randread-async-reads-iops-2" in own  # the chart of rates already uses the name without the number


@pytest.mark.usefixtures("with_toy")
def test_pictures_have_it_for_each_cell(run: Path) -> None:
    own = [each for each in pictures(load_run(run)) if "latency-heat" in each.place.name]
    assert len(own) == 7
    subtitles = [each.chart.to_dict()["title"]["subtitle"][0] for each in own]
    assert subtitles[0].startswith("Latencies over time: trial 1 of 2")
    assert "I/Os" not in own[0].place.name
    ElementTree.fromstring(drawn(own[0], "svg"))


@pytest.mark.usefixtures("with_toy")
def test_a_notebook_finds_it_by_name(run: Path) -> None:
    loaded = load_run(run)
    made = filled(chart_named("latency-heat"), loaded, next(iter(loaded.cells)))
    assert isinstance(made, alt.LayerChart)


@pytest.mark.usefixtures("with_toy")
def test_the_page_makes_room_for_it(run: Path, monkeypatch: pytest.MonkeyPatch, message: Message) -> None:
    loaded = load_run(run, lenient=True)
    toy = chart_named("latency-heat")
    assert isinstance(toy, TrialChart)
    greedy = replace(toy, lines=lambda _trial: [Lines(list(range(400_000)), {})])  # far more than it declares
    monkeypatch.setattr(sys.modules[f"{charts.__name__}.latency_heat"], "CHART", greedy)
    all_charts.cache_clear()
    shown, remarks = shown_trials(loaded, loaded.cells)
    assert sum(map(len, shown.values())) == 1
    (remark,) = remarks
    assert "13 trials" in message(remark)


def test_without_its_file_there_is_no_such_chart(run: Path) -> None:
    assert "latency-heat" not in {chart.name for chart in all_charts()}
    assert "latency-heat" not in page(load_run(run, lenient=True))


def test_all_charts_are_valid_for_vega(run: Path) -> None:
    loaded = load_run(run)
    cell = loaded.cell("pair", "reads")
    for chart in all_charts():
        made = filled(chart, loaded, cell)
        assert made is not None, chart.name
        made.to_dict(validate=True)


@pytest.mark.parametrize(("path", "quote"), QUOTES)
def test_the_docs_quote_the_code(path: str, quote: str) -> None:
    assert f"{quote}\n" in (ROOT / path).read_text(encoding="utf-8")


def test_all_code_in_the_docs_is_quoted() -> None:
    assert len(QUOTES) == PAGE.count("```python") > 0
