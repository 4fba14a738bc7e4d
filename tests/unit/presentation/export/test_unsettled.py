"""Every format marks results that did not converge, and shows the same confidence intervals as all other outputs."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest

from poolproof.metrics import metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.export.columns import csv_text, parquet_bytes
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.pictures import pictures
from poolproof.presentation.export.rows import ExportTable
from poolproof.results.runs.loading import load_run
from poolproof.statistics.intervals import mean_interval
from tests.golden import Message

from .making import DRIFT, UNSETTLED, grid_run, table, unsettled_run

DRIFTS = UNSETTLED[0]
SETTLED = ("mirror", "grid[rw=randread,bs=1m,sync=1]")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return unsettled_run(tmp_path / "run")


@pytest.fixture
def run(path: Path) -> ExportTable:
    return table(path)


def _by_place(run: ExportTable) -> dict[tuple[str, str], dict[str, str]]:
    return {(row["layout"], row["workload"]): row for row in csv.DictReader(io.StringIO(csv_text(run)))}


def test_a_row_says_whether_its_figure_settled(run: ExportTable, tmp_path: Path) -> None:
    rows = _by_place(run)
    assert (rows[DRIFTS]["settled"], rows[SETTLED]["settled"]) == ("false", "true")
    (tmp_path / "run.parquet").write_bytes(parquet_bytes(run))
    relation = duckdb.read_parquet(str(tmp_path / "run.parquet")).project("layout, workload, settled")
    found = {(layout, workload): settled for layout, workload, settled in relation.fetchall()}
    assert found == {(row.cell.layout, row.cell.workload): row.settled for row in run.rows}
    assert (found[DRIFTS], found[SETTLED]) == (False, True)


def test_a_fixed_time_has_nothing_to_settle(tmp_path: Path) -> None:
    run = table(grid_run(tmp_path / "grid"))
    assert {row["settled"] for row in _by_place(run).values()} == {""}
    assert "settled" not in openmetrics_text(run) + influx_text(run) + "".join(dat_files(run).values())


def test_the_workloads_own_figure_has_the_interval_that_is_printed_everywhere(run: ExportTable, path: Path) -> None:
    loaded = load_run(path)
    differing = 0
    for row in run.rows:
        cell = loaded.cell(row.cell.layout, row.cell.workload)
        figures = row.figures or row.rejected
        assert figures.get(metric_of(cell.metric).column) == cell.figure
        differing += cell.figure != mean_interval(cell.values())
        assert figures.get("p99_ns") == mean_interval(cell.values("p99"))
    assert differing
    reads = next(row for row in run.rows if (row.cell.layout, row.cell.workload) == SETTLED)
    assert reads.figures["read_iops"] == reads.figures["iops"], "the same figure by another name"


def test_markdown_tells_about_where_an_unsettled_figure_is_and_why(run: ExportTable) -> None:
    text = markdown_text(run)
    line = next(line for line in text.splitlines() if line.startswith("| `grid[rw=randread,bs=16k,sync=1]`"))
    assert line.split(" | ")[1].startswith("about ")
    assert "±" not in line.split(" | ")[1]
    assert "±" in line.split(" | ")[2]
    assert "**about** marks" in text
    assert "`grid[rw=randread,bs=16k,sync=1]` on `mirror`" in text
    assert "(drift)" in text
    assert "± margin of error at 90% confidence" in text and "95%" not in text


def test_a_sample_of_prometheus_and_a_line_of_influx_say_it(run: ExportTable) -> None:
    metrics = openmetrics_text(run)
    mine = [line for line in metrics.splitlines() if f'layout="{DRIFTS[0]}",workload="{DRIFTS[1]}"' in line]
    assert mine and all('settled="false"' in line for line in mine)
    assert "95%, or 90%" in metrics
    drifting = [line for line in influx_text(run).splitlines() if "settled=false" in line]
    assert len(drifting) == sum(row.settled is False for row in run.rows)


def test_data_files_have_a_column_and_plots_a_hollow_point(run: ExportTable) -> None:
    files = {place.name: text for place, text in dat_files(run).items()}
    lines = files["randread-sync.dat"].splitlines()
    assert lines[0].endswith("verdict\tsettled")
    assert any(line.startswith("# ") and line.endswith(f": mirror 16k: drift: {DRIFT.sentence}") for line in lines)
    assert {line.split("\t")[1]: line.split("\t")[-1] for line in lines if line.startswith("mirror")}["16k"] == "false"
    script = files["randread-sync.gnuplot"]
    assert "hollow: 1 not converged" in script
    assert script.count("with points") == 2, "once for IOPS, once for bandwidth"
    assert "hollow" not in files["write-sync.gnuplot"] and "with points" not in files["write-sync.gnuplot"]


def test_pictures_draw_it_hollow_and_name_the_confidence(path: Path, message: Message) -> None:
    found = {str(picture.place): look.dressed(picture.chart) for picture in pictures(load_run(path))}
    chart = found["sync/randread/randread-sync-iops"]
    (point,) = [each for each in chart["data"]["values"] if each["unsettled"]]
    assert (point["low"], point["high"]) == (None, None)
    assert point["text"].startswith("about ")
    title = json.dumps(chart["title"])
    assert "90% intervals" in message(chart["title"]["subtitle"][0]) and "1 not converged" in title
    assert "bars: 95% intervals" in json.dumps(found["sync/randread/randread-sync-p99"]["title"])
    refuted = json.dumps(found["async/write/write-async-iops"]["title"])
    assert "hollow: 2 refuted" in refuted and "not converged" not in refuted
