"""Other programs can read the exports: Prometheus, InfluxDB, gnuplot, DuckDB, and Python's csv module."""

import csv
import io
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from poolproof.presentation.export.columns import columns_of, csv_text, parquet_bytes
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import MEASUREMENT, REJECTED_MEASUREMENT, influx_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.rows import ExportTable
from poolproof.results.runs.loading import load_run

from .influxd import Influx, influxd
from .making import NASTY, grid_run, limited_run, nasty_run, table, trials_of, unsettled_run

_LIMIT_S = 60


@pytest.fixture(params=["grid", "nasty", "limited", "unsettled"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> ExportTable:
    makers = {"grid": grid_run, "nasty": nasty_run, "limited": limited_run, "unsettled": unsettled_run}
    make = makers[request.param]
    return table(make(tmp_path / request.param))


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found, f"{name} is missing; it comes with: scripts/setup test"
    return found


def _run(*argv: str, stdin: str = "", cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=_LIMIT_S, check=False, cwd=cwd)


def test_csv_is_read_back_as_it_was(run: ExportTable) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(run))))
    assert [row["layout"] for row in rows] == [row.cell.layout for row in run.rows]
    for read, row in zip(rows, run.rows, strict=True):
        column = read["iops"] if row.counts else read["rejected_iops"]
        figure = (row.figures or row.rejected).get("iops")
        assert column == ("" if figure is None else str(figure.mean))
        assert (read["rejected_iops"] if row.counts else read["iops"]) == ""


def test_two_states_of_a_layout_differ_in_every_format(tmp_path: Path) -> None:
    healthy = next(iter(load_run(grid_run(tmp_path / "grid")).trials))
    both = table(trials_of(tmp_path / "both", [healthy, replace(healthy, state="one-disk-lost")]))
    rows = list(csv.reader(io.StringIO(csv_text(both))))
    assert [row[-2] for row in rows] == ["state", "healthy", "one-disk-lost"]
    series = [line.rpartition("} ")[0] for line in openmetrics_text(both).splitlines() if "_verdict{" in line]
    assert len(set(series)) == 2
    assert len({line.split(" ", 1)[0] for line in influx_text(both).splitlines()}) == 2


def test_parquet_is_read_back_with_its_types(run: ExportTable, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_bytes(parquet_bytes(run))
    relation = duckdb.read_parquet(str(path))
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    assert types["iops"] == "DOUBLE"
    assert types["counts"] == "BOOLEAN"
    assert types["fio_read_bytes"] == "BIGINT"
    columns = columns_of(run)
    assert list(types) == list(columns)
    assert relation.fetchall() == [tuple(value(row) for value in columns.values()) for row in run.rows]


def test_prometheus_clients_parser_reads_every_sample(run: ExportTable) -> None:
    parsed = text_string_to_metric_families(openmetrics_text(run))  # type: ignore[no-untyped-call]  # it has no types
    families = {family.name: family for family in parsed}
    rates = families["poolproof_io_rate_ios_per_second"].samples
    found = {(each.labels["layout"], each.labels["workload"], each.labels["direction"]): each.value for each in rates}
    assert found == {
        (row.cell.layout, row.cell.workload, way): row.figures[name].mean
        for row in run.rows
        for way, name in (("all", "iops"), ("read", "read_iops"), ("write", "write_iops"))
        if name in row.figures
    }
    rejected = families["poolproof_rejected_io_rate_ios_per_second"].samples
    assert {each.labels["layout"] for each in rejected} == {row.cell.layout for row in run.rows if row.rejected}
    verdicts = [each.labels["verdict"] for each in families["poolproof_verdict"].samples]
    assert verdicts == [row.own.verdict for row in run.rows]


def test_promtool_finds_no_fault(run: ExportTable) -> None:
    checked = _run(_program("promtool"), "check", "metrics", stdin=openmetrics_text(run))
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_prometheus_takes_every_sample_into_its_database(run: ExportTable, tmp_path: Path) -> None:
    text = openmetrics_text(run)
    path, base = tmp_path / "run.om", tmp_path / "tsdb"
    path.write_text(text, encoding="utf-8")
    (base / "wal").mkdir(parents=True)
    made = _run(_program("promtool"), "tsdb", "create-blocks-from", "openmetrics", str(path), str(base))
    assert made.returncode == 0, made.stderr
    dumped = _run(_program("promtool"), "tsdb", "dump", str(base))
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(dumped.stdout.splitlines()) == len(samples), dumped.stderr


@pytest.fixture(scope="module")
def influx() -> Iterator[Influx]:
    folder = Path(tempfile.mkdtemp(prefix="pp-influx-"))  # short: the path of a socket has 107 characters
    try:
        with influxd(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


def test_influxdb_takes_every_line_and_gives_it_back(influx: Influx, run: ExportTable) -> None:
    status, text = influx.write(run.run, influx_text(run))
    assert (status, text) == (204, "")
    good = influx.rows(run.run, f"select * from {MEASUREMENT}")
    bad = influx.rows(run.run, f"select * from {REJECTED_MEASUREMENT}")
    assert {row["verdict"] for row in good} <= {"sound", "unproven", "suspect"}
    assert {row["verdict"] for row in bad} <= {"refuted", "failed"}
    assert len(good) == sum(row.counts for row in run.rows)
    assert len(bad) == sum(not row.counts for row in run.rows)
    assert sorted(_floats(good)) == sorted(row.figures["iops"].mean for row in run.rows if row.figures)


def _floats(rows: list[dict[str, object]]) -> list[float]:
    return [value for row in rows if isinstance(value := row["iops"], float | int)]


def test_a_tag_cannot_break_out_of_its_line(influx: Influx, tmp_path: Path) -> None:
    run = table(nasty_run(tmp_path / "nasty"))
    influx.write("nasty_tags", influx_text(run))
    layouts = {row["layout"] for row in influx.rows("nasty_tags", f"select * from {MEASUREMENT}")}
    assert layouts == {NASTY.replace("\n", " ").replace("\\", "/")}


def test_gnuplot_draws_every_script(run: ExportTable, tmp_path: Path) -> None:
    scripts = []
    for place, text in dat_files(run).items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
        scripts += [tmp_path / place] if place.suffix == ".gnuplot" else []
    assert scripts
    for script in scripts:
        done = _run(_program("gnuplot"), script.name, cwd=script.parent)
        assert done.returncode == 0, done.stderr
        asked = script.read_text(encoding="utf-8").count("\nset output ")
        drawn = list(script.parent.glob(f"{script.stem}-*.png"))
        assert len({path.name for path in drawn} & _outputs(script)) == asked
        assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 1000 for path in drawn)


def _outputs(script: Path) -> set[str]:
    lines = script.read_text(encoding="utf-8").splitlines()
    return {line.split("'")[1] for line in lines if line.startswith("set output ")}


def test_a_figure_that_does_not_count_is_no_number_in_a_data_file(tmp_path: Path) -> None:
    run = table(grid_run(tmp_path / "grid"))
    texts = [text for place, text in dat_files(run).items() if place.suffix == ".dat"]
    lines = [line.split("\t") for text in texts for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) == len(run.rows)
    for fields in lines:
        values, bounds = ([float(field) for field in fields[start:end]] for start, end in ((2, 6), (6, 14)))
        rejected = fields[-1] in ("refuted", "failed")
        assert all(math.isnan(value) == rejected for value in values)
        assert all(map(math.isnan, bounds)) or not rejected


def test_a_result_without_an_interval_has_no_bounds_in_a_data_file(tmp_path: Path) -> None:
    """The bounds were the result itself, so that gnuplot drew it as if it were known exactly."""
    run = table(grid_run(tmp_path / "grid"))
    files = {place.name: text for place, text in dat_files(run).items()}
    rows = [line.split("\t") for line in files["randread-async.dat"].splitlines() if line.startswith("mirror\t")]
    (single,) = (fields for fields in rows if fields[-2] == "1")
    assert single[4] != "NaN" and single[10:12] == ["NaN", "NaN"]
    assert all(fields[10] != "NaN" for fields in rows if fields[-2] == "2")
    plots = [line for line in files["randread-async.gnuplot"].splitlines() if ".dat' index 0 using 15:5" in line]
    assert ["linespoints" in plot for plot in plots] == [True, False] and "yerrorbars" in plots[1]
