"""The charts with curves, and the results map: what is drawn, and what is not."""

import re
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import panels, places
from poolproof.presentation.charts.curves import CHART
from poolproof.presentation.charts.metric_scale import axis_value
from poolproof.presentation.charts.model import filled, specification
from poolproof.presentation.html_report.cells import Tile, heat_colour, ink_on, tiles
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.verdicts import Verdict

CAMPAIGN = """\
name: t
devices: {a: {file: 2G}, b: {file: 2G}}
layouts: {one: a | ext4, two: btrfs raid1 a b, three: b | ext4}
workloads:
  grid: {rw: [randread, write], bs: ["4096", 1m, 512], sync: [0, 1]}
  etcd: etcd
"""
RECORD = RunRecord("0.1.0", CAMPAIGN, "abcd1234", "/s", "/r", 7, "local", "2026-11-21T19:30:00+00:00", {}, {})


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    """A run with two trials per cell, in which a write on `one` is refuted.

    `two` reaches half the rate of `one`, and `three` a thousandth of it.
    """
    made = RunDirectory.create(tmp_path / "run", CAMPAIGN, RECORD)
    for layout, share in (("one", 1.0), ("two", 0.5), ("three", 0.001)):
        for workload in parse_campaign(CAMPAIGN, "t").workloads:
            for number, iops in ((1, 1000 * share), (2, 1040 * share)):
                refuted = layout == "one" and workload.name == "grid[rw=write,bs=1m,sync=0]"
                figures = TrialMetrics(
                    iops=iops, bandwidth_bytes=iops * 4096, sync_p99_ns=1e9 / iops, p99_ns=1e9 / iops
                )
                verdict: Verdict = "refuted" if refuted else "sound"
                made.append(Trial(layout, workload.name, number, verdict, (), workload.metric, figures))
    return load_run(made.path)


def _points(run: LoadedRun) -> list[dict[str, Any]]:
    return CHART.records(CHART.rows(run, "iops"))


def _tile(run: LoadedRun, layout: str, workload: str) -> Tile:
    return dict(zip(run.by_key, tiles(run.cells), strict=True))[CellKey(layout, workload)]


def _marks(spec: Any) -> list[Any]:
    """Return all marks in a specification, at any depth."""
    if isinstance(spec, list):
        return [mark for each in spec for mark in _marks(each)]
    if not isinstance(spec, dict):
        return []
    own = [spec["mark"]] if isinstance(spec.get("mark"), dict) else []
    return own + [mark for each in spec.values() for mark in _marks(each)]


def test_block_size_is_the_axis_and_mode_and_sync_the_panel(run: LoadedRun) -> None:
    placed = places(run.campaign.workloads)
    place = placed["grid[rw=randread,bs=4096,sync=1]"]
    assert (place.panel, place.over, place.at, place.order) == ("randread, sync", "bs", "4k", 4096)
    assert "etcd" not in placed
    assert panels(placed.values()) == ["randread, async", "write, async", "randread, sync", "write, sync"]


def test_what_else_varies_keeps_lines_apart() -> None:
    text = CAMPAIGN.replace("sync: [0, 1]", "iodepth: [1, 16]")
    placed = places(parse_campaign(text, "t").workloads)
    assert {place.rest for place in placed.values()} == {"iodepth=1", "iodepth=16"}


def test_without_a_block_size_another_count_makes_the_axis() -> None:
    text = CAMPAIGN.replace('bs: ["4096", 1m, 512], sync: [0, 1]', "iodepth: [16, 1]")
    assert {place.over for place in places(parse_campaign(text, "t").workloads).values()} == {"iodepth"}


def test_points_come_in_the_order_of_the_axis_with_their_intervals(run: LoadedRun) -> None:
    own = [point for point in _points(run) if (point["layout"], point["panel"]) == ("two", "randread, async")]
    assert [point["at"] for point in own] == ["512", "4k", "1m"]
    assert own[0]["value"] == 510
    assert own[0]["low"] < 510


def test_a_refuted_point_has_no_line_through_it(run: LoadedRun) -> None:
    refuted = [point for point in _points(run) if not point["counts"]]
    assert [(point["layout"], point["at"], point["verdict"]) for point in refuted] == [("one", "1m", "refuted")]
    assert _line_lengths(run, "two") == [3, 3, 3, 3]
    assert _line_lengths(run, "one") == [3, 2, 3, 3]


def _line_lengths(run: LoadedRun, layout: str) -> list[int]:
    """Return the number of points in each drawn line of a layout."""
    rows = [row for row in CHART.rows(run, "iops") if row[0] == layout]
    drawn = vl_convert.vegalite_to_svg(look.dressed(specification(CHART, rows, run)))
    paths = re.findall(r'<path[^>]*aria-roledescription="line mark"[^>]* d="([^"]*)"', drawn)
    return [path.count("L") + 1 for path in paths]


def test_latency_is_drawn_in_seconds() -> None:
    assert axis_value(2_000_000, "p99") == 0.002
    assert axis_value(2_000_000, "iops") == 2_000_000


def test_the_curves_hold_their_points_hollow_and_filled(run: LoadedRun) -> None:
    spec = look.dressed(filled(CHART, run))
    marks = [mark for mark in _marks(spec) if mark["type"] == "point"]
    assert sorted(mark["filled"] for mark in marks) == [False, True]
    assert len(spec["data"]["values"]) == 3 * 12
    assert spec["config"]["background"] == "#ffffff"


def test_curves_of_nothing_are_a_chart_too(run: LoadedRun) -> None:
    spec = look.bare(specification(CHART, (), run, metric="p99", scale="linear"))
    assert spec["data"]["values"] == []


def test_a_tile_is_a_share_of_the_best_figure_that_counts(run: LoadedRun) -> None:
    name = "grid[rw=write,bs=1m,sync=0]"
    assert _tile(run, "one", name).share is None
    assert _tile(run, "two", name).share == 1
    assert _tile(run, "three", name).share == pytest.approx(0.002)
    assert _tile(run, "three", name).depth == 2


def test_where_less_is_better_the_least_is_the_best(run: LoadedRun) -> None:
    assert _tile(run, "one", "etcd").share == 1
    assert _tile(run, "two", "etcd").share == pytest.approx(0.5)


def test_the_map_holds_every_cell(run: LoadedRun) -> None:
    all_tiles = tiles(tuple(run.cells))
    assert len(all_tiles) == 39


def test_colours_of_the_map_run_from_the_best_to_the_worst() -> None:
    assert heat_colour(0) == look.HEAT[0]
    assert heat_colour(9) == heat_colour(look.HEAT_DECADES) == look.HEAT[-1]
    assert heat_colour(look.HEAT_DECADES / 6) == look.HEAT[1]


@pytest.mark.parametrize(("paper", "ink"), [("#08306b", "#ffffff"), ("#c6dbef", "#1b1f24"), ("#b30000", "#ffffff")])
def test_a_mark_can_be_read_on_its_colour(paper: str, ink: str) -> None:
    assert ink_on(paper) == ink


def test_names_without_end_get_colours_and_shapes_again_from_the_first() -> None:
    names = [f"layout{number}" for number in range(20)]
    scale = look.series_scale(names, look.SERIES)
    assert scale["range"][len(look.SERIES)] == look.SERIES[0]
    assert look.dash_scale(names)["range"][0] != look.dash_scale(names)["range"][len(look.SERIES)]
