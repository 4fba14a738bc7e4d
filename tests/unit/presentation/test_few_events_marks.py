"""A percentile with too few events is marked wherever it is shown, even if the workload is not compared by it."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.api import load_run as api_run
from poolproof.metrics import TrialMetrics
from poolproof.presentation.charts.latency import CHART as LATENCY
from poolproof.presentation.charts.metric_scale import RESULT, result_row, result_text
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.pictures import pictures
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.cells import cell_rows
from poolproof.presentation.terminal.words import trial_text
from poolproof.results.query.connection import open_runs
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import Trial
from poolproof.results.runs.run_object import run_object
from tests.golden import Message
from tests.unit.results.compare.making import CAMPAIGN, RECORD

FIGURES = TrialMetrics(
    iops=100.0,
    bandwidth_bytes=409_600.0,
    p50_ns=2e6,
    p99_ns=9e6,
    p999_ns=30e6,
    requests=500,
    sync_p99_ns=5e6,
    syncs=5000,
)
TRIAL = Trial("one", "reads", 1, "sound", (), "p99", FIGURES, seconds={"fio": 5.0})
FEW = "500 I/Os in a trial; the p99.9 latency needs 10,000 I/Os: 1 min 40 s at this rate"


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    """A run compared by p99, with 500 I/Os per trial. This is enough only for the median, and for the p99 of syncs."""
    campaign = CAMPAIGN.replace("reads: {rw: randread, bs: 4k}", "reads: {rw: randread, bs: 4k, metric: p99}")
    directory = RunDirectory.create(tmp_path / "runs" / "r", campaign, replace(RECORD, campaign=campaign))
    for number in (1, 2, 3):
        directory.append(replace(TRIAL, number=number, figures=replace(FIGURES, p99_ns=9e6 + number * 1e6)))
    return load_run(tmp_path / "runs" / "r")


def test_texts_and_charts_mark_it(run: LoadedRun) -> None:
    (cell,) = run.cells
    assert trial_text(cell.trials[0]).startswith("10.0 ms, ")
    assert trial_text(replace(TRIAL, metric="iops")) == "100 IOPS"
    fields = [column.field for column in RESULT]
    few = {}
    for metric in ("iops", "p50", "p99", "p999", "sync_p99"):
        row = result_row(cell, metric)
        assert row is not None
        few[metric] = row[fields.index("few")]
        assert ("too few events" in result_text(cell, metric)) is few[metric]
        assert (row[fields.index("low")] is None) is few[metric]
    assert few == {"iops": False, "p50": False, "p99": True, "p999": True, "sync_p99": False}
    titles = {row[1] for row in LATENCY.rows(cell)}
    assert "p99 latency, too few events" in titles and "median latency" in titles


def test_a_single_trial_with_too_few_events_is_not_called_a_single_trial(run: LoadedRun, message: Message) -> None:
    alone = replace(run.cells[0], trials=run.cells[0].trials[:1])
    assert "too few events" in message(result_text(alone, "p999"))


def test_pictures_and_the_page_mark_it(run: LoadedRun, message: Message) -> None:
    titles = [str(picture.chart.to_dict()["title"]) for picture in pictures(run) if picture.place.name.endswith("p99")]
    assert any("1 percentile with too few events" in title for title in titles)
    (row,) = cell_rows(run, run.cells, {})
    assert all(fact in message(row["e"]) for fact in ("500 I/Os", "p99", "1,000 I/Os"))


def test_exports_mark_it(run: LoadedRun) -> None:
    table = table_of(run)
    (row,) = csv.DictReader(io.StringIO(csv_text(table)))
    assert row["too_few"] == "p99_ns p999_ns" and row["p999_ns"] and not row["p999_ns_low"]
    assert 'too_few="p99_ns p999_ns"' in influx_text(table)
    marked = [line for line in openmetrics_text(table).splitlines() if 'too_few_events="true"' in line]
    assert {line.split("percentile=")[1][:6] for line in marked} == {'"99",t', '"99.9"'}
    assert api_run(run.path).to_frame().project("too_few").fetchall() == [("p99_ns p999_ns",)]


def test_json_and_sql_mark_it(run: LoadedRun) -> None:
    (cell,) = json.loads(json.dumps(run_object(run.path, run.cells, None)))["cells"]
    assert cell["too_few_events"].keys() == {"p99", "p999"} and cell["too_few_events"]["p999"] == FEW
    with open_runs(run.path.parent) as session:
        assert session.ask("select too_few from cells").rows == [("p99_ns p999_ns",)]
