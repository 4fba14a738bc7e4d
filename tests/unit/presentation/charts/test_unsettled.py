"""Results that did not converge are drawn hollow, without a line or interval, and are described as approximate."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from poolproof.presentation.charts import layouts
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.curves import CHART as CURVES
from poolproof.presentation.charts.layouts import CHART as LAYOUTS
from poolproof.presentation.charts.metric_scale import interval_text, intervals_text, result_text
from poolproof.presentation.charts.model import MetricChart, filled, specification
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.statistics.intervals import mean_interval
from tests.golden import Message
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
    """Return the number of hollow points in the drawing, without those in the legend."""
    drawn = vl_convert.vegalite_to_svg(look.dressed(chart))
    marks = re.findall(r'<path aria-label="[^"]*" role="graphics-symbol"[^>]*aria-roledescription="point"[^>]*>', drawn)
    assert len(marks) == len(PLACES)
    return sum('fill="none"' in mark or 'fill="transparent"' in mark or 'fill="' not in mark for mark in marks)


def _points(chart: MetricChart, run: LoadedRun) -> list[dict[str, Any]]:
    return chart.records(chart.rows(run, "iops"))


def test_curves_draw_it_hollow_and_leave_it_out_of_the_line(run: LoadedRun, message: Message) -> None:
    points = _points(CURVES, run)
    (point,) = [each for each in points if each["unsettled"]]
    assert (point["layout"], point["at"]) == ("one", "4k")
    assert (point["low"], point["high"]) == (None, None)
    assert all(fact in message(point["text"]) for fact in ("about 1.00k IOPS", "not converged"))
    assert all(each["low"] is not None for each in points if not each["unsettled"])
    assert _hollow(filled(CURVES, run)) == 1


def test_layouts_draw_it_hollow_without_an_interval(run: LoadedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "places", lambda _workloads: {})
    (point,) = [each for each in _points(LAYOUTS, run) if each["unsettled"]]
    assert (point["low"], point["high"], point["counts"]) == (None, None, True)
    assert _hollow(filled(LAYOUTS, run)) == 1


def test_one_trial_that_did_not_settle_says_so(run: LoadedRun, message: Message) -> None:
    cell = run.cell(*DRIFTS)
    alone = replace(cell, trials=cell.trials[:1])
    text = message(result_text(alone, "iops"))
    assert all(fact in text for fact in ("about 1.00k IOPS", "not converged", "one trial"))
    assert result_text(cell, "sync_p99") == "no result"


def test_other_metrics_of_the_cell_did_not_settle_either(run: LoadedRun) -> None:
    assert result_text(run.cell(*DRIFTS), "bandwidth").startswith("about 4.10 MB/s (not converged")
    settled = run.cell(*PLACES[1])
    plain = mean_interval(settled.values("bandwidth"))
    assert plain is not None and result_text(settled, "bandwidth") == interval_text(plain, "bandwidth", trials=2)


def test_the_confidence_is_that_of_the_metric(run: LoadedRun) -> None:
    cells, measure = tuple(run.cells), run.campaign.measure
    assert intervals_text(cells, "iops", measure) == "80% intervals"
    assert intervals_text(cells, "bandwidth", measure) == "95% intervals"
    assert intervals_text(cells, "iops", replace(measure, until=None)) == "95% intervals"


@pytest.mark.parametrize("still", [0, 1], ids=["none settled", "and one trial stood still"])
def test_where_none_settled_the_points_stand_at_their_values(run: LoadedRun, still: int) -> None:
    """A logarithmic axis cannot show 0, but a line without points would make the axis start at 0."""
    low, unsettled = (
        next(n for n, each in enumerate(CURVES.columns) if each.field == name) for name in ("low", "unsettled")
    )
    rows = [list(row) for row in CURVES.rows(run, "iops")]
    for row in rows:
        row[low : low + 2], row[unsettled] = (None, None), True
    rows[0][low - 1] = 0.0 if still else rows[0][low - 1]
    drawn = vl_convert.vegalite_to_svg(look.dressed(specification(CURVES, [tuple(row) for row in rows], run)))
    heights = re.findall(r'aria-roledescription="point"[^>]*transform="translate\([^,]+,([^)]+)\)"', drawn)
    assert len({float(height) for height in heights}) == len(heights) == len(PLACES) - still
    assert "NaN" not in drawn
