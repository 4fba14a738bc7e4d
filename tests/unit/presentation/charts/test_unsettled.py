"""What did not settle is drawn hollow, without a line and without an interval; and told as about where it is."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.curves import CurvePoint, curve_points, curves
from poolproof.presentation.charts.figures import figure_points, figures
from poolproof.presentation.charts.metrics import figure_words, interval_text, intervals_text
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.statistics.intervals import mean_interval
from tests.unit.results.compare.making import CAMPAIGN, changed, make_run

UNTIL = changed(
    CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 10%, confidence: 80%, trials: 2..6}").replace(
        "{rw: randread, bs: 4k}", "{rw: randread, bs: [4k, 8k]}"
    )
)
PLACES = [(layout, f"reads[bs={size}]") for layout in ("one", "pair") for size in ("4k", "8k")]
DRIFTS = PLACES[0]


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    values = {place: [1000.0 + 100 * at, 1004.0 + 100 * at] for at, place in enumerate(PLACES)}
    return load_run(make_run(tmp_path / "run", values, record=UNTIL, unsettled={DRIFTS: "drift"}))


def _hollow(chart: Any) -> int:
    """Points without a filling in the drawing itself, those of the legend left out."""
    drawn = vl_convert.vegalite_to_svg(look.dressed(chart))
    marks = re.findall(r'<path aria-label="[^"]*" role="graphics-symbol"[^>]*aria-roledescription="point"[^>]*>', drawn)
    assert len(marks) == len(PLACES)
    return sum('fill="none"' in mark or 'fill="transparent"' in mark or 'fill="' not in mark for mark in marks)


def test_curves_draw_it_hollow_and_leave_it_out_of_the_line(run: LoadedRun) -> None:
    points = curve_points(run.cells, run.campaign.workloads, "iops")
    (point,) = [each for each in points if each.unsettled]
    assert (point.layout, point.at) == ("one", "4k")
    assert (point.line, point.low, point.high) == (None, None, None)
    assert point.text == "about 1.00k IOPS (unsettled, trials 1.00k IOPS … 1.00k IOPS)"
    assert all(each.line is not None and each.low is not None for each in points if not each.unsettled)
    assert _hollow(curves(points, "iops", layouts=["one", "pair"], workloads=run.campaign.workloads)) == 1


def test_figures_draw_it_hollow_without_an_interval(run: LoadedRun) -> None:
    points = figure_points(run.cells, "iops")
    (point,) = [each for each in points if each.unsettled]
    assert (point.low, point.high, point.believed) == (None, None, True)
    assert _hollow(figures(points, "iops", layouts=["one", "pair"])) == 1


def test_one_trial_that_did_not_settle_says_so(run: LoadedRun) -> None:
    cell = run.cell(*DRIFTS)
    alone = replace(cell, trials=cell.trials[:1])
    assert figure_words(alone, "iops") == "about 1.00k IOPS (unsettled, one trial)"
    assert figure_words(cell, "sync_p99") == "no figure"


def test_other_metrics_of_the_cell_did_not_settle_either(run: LoadedRun) -> None:
    assert figure_words(run.cell(*DRIFTS), "bandwidth").startswith("about 4.10 MB/s (unsettled")
    settled = run.cell(*PLACES[1])
    plain = mean_interval(settled.values("bandwidth"))
    assert plain is not None and figure_words(settled, "bandwidth") == interval_text(plain, "bandwidth")


def test_the_confidence_is_that_of_the_metric(run: LoadedRun) -> None:
    cells, measure = tuple(run.cells), run.campaign.measure
    assert intervals_text(cells, "iops", measure) == "80 % intervals"
    assert intervals_text(cells, "bandwidth", measure) == "95 % intervals"
    assert intervals_text(cells, "iops", replace(measure, until=None)) == "95 % intervals"


@pytest.mark.parametrize("still", [0, 1], ids=["none settled", "and one trial stood still"])
def test_where_none_settled_the_points_stand_at_their_values(run: LoadedRun, still: int) -> None:
    """A logarithmic axis has no place for 0, nor for a line without a point: it would lose its ends."""
    points = [replace(each, line=None, low=None, high=None, unsettled=True) for each in _points(run)]
    points[0] = replace(points[0], value=0.0 if still else points[0].value)
    drawn = vl_convert.vegalite_to_svg(
        look.dressed(curves(points, "iops", layouts=["one", "pair"], workloads=run.campaign.workloads))
    )
    heights = re.findall(r'aria-roledescription="point"[^>]*transform="translate\([^,]+,([^)]+)\)"', drawn)
    assert len({float(height) for height in heights}) == len(heights) == len(PLACES) - still
    assert "NaN" not in drawn


def _points(run: LoadedRun) -> list[CurvePoint]:
    return list(curve_points(run.cells, run.campaign.workloads, "iops"))
