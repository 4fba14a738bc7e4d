"""A metric is one field of `TrialMetrics`. Everything that shows metrics also shows a new one."""

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from poolproof.metrics import COLUMNS, COMPARABLE, METRICS, TrialMetrics, metric_of

SOURCE = Path(__file__).parents[2] / "src" / "poolproof"
ROWS = """\
    p90_ns: float | None = _latency("p90", "p90 latency", "ios", 90.0)
    read_p95_ns: float | None = _latency("read_p95", "p95 of reads", "read", 95.0)
    trim_iops: float | None = _rate("trim_iops", "trim IOPS", IOS_PER_S, "trim")
    trim_p99_ns: float | None = _latency("trim_p99", "p99 of trims", "trim", 99.0)
"""
SCRIPT = """
import io, sys
from pathlib import Path
from rich.console import Console
from poolproof.campaign.claims import CELL_VALUES
from poolproof.campaign.yaml import parse_campaign
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome
from poolproof.measure.figures import figures_of
from poolproof.presentation.charts.metric_scale import label_expression, title
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.pictures import pictures
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.cells import metrics_measured
from poolproof.presentation.terminal.table import print_table
from poolproof.results.runs.loading import load_run
from poolproof.results.query.connection import open_runs
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of
from poolproof.results.runs.run_object import run_object
from poolproof.rules.model import Case
from poolproof.rules.proof import measured_metrics, proves_metric
from poolproof.results.runs.directory import RunDirectory
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.model import RunRecord, Trial

CAMPAIGN = '''
name: toy
question: "?"
devices: {a: {file: 2G}}
layouts: {one: a | ext4}
workloads: {reads: {rw: randread, bs: 4k, metric: p90}}
measure: {time: 5s, trials: 2}
'''
path = Path(sys.argv[1]) / "run"
campaign = parse_campaign(CAMPAIGN, "t")
record = RunRecord("0", CAMPAIGN, "r", "", "", 1, "h", "2026-01-01T00:00:00+00:00", {}, {})
run = RunDirectory.create(path, CAMPAIGN, record)
for number, value in ((1, 7e6), (2, 7.2e6)):
    figures = TrialMetrics(iops=1.0, bandwidth_bytes=1.0, p90_ns=value, read_p95_ns=value, trim_iops=500.0)
    run.append(Trial("one", "reads", number, "sound", (), "p90", figures))
loaded = load_run(path)
cells = tuple(loaded.cells)
assert "p90" in CELL_VALUES
assert metrics_measured(cells)[0] == "p90"
console = Console(file=io.StringIO(), width=200)
print_table(console, cells, None)
assert "p90 latency" in console.file.getvalue() and "7.10 ms" in console.file.getvalue()
assert title("p90") == "p90 latency (lower is better)" and "'s'" in label_expression("p90")
assert cells[0].result("p90").interval.mean == 7.1e6
table = table_of(loaded)
assert not cells[0].is_repeated("read_p95") and "read_p95_ns,read_p95_ns_low" in csv_text(table)
assert "p90_ns,p90_ns_low,p90_ns_high" in csv_text(table)
assert "p90_ns=7100000.0" in influx_text(table)
assert "trim_iops,trim_iops_low,trim_iops_high" in csv_text(table)
assert "trim_iops=500.0" in influx_text(table)
assert 'direction="trim"} 500.0' in openmetrics_text(table)
assert run_object(path, cells, None)["cells"][0]["rates"]["trim_iops"] == 500.0
assert 'percentile="90"} 0.0071' in openmetrics_text(table)
assert any(picture.place.name.endswith("p90") for picture in pictures(loaded))
with open_runs(Path(sys.argv[1])) as session:
    assert session.ask("select p90_ns, trim_iops, metric from cells").rows == [(7.1e6, 500.0, "p90")]
latency = Latency(samples=100, bins_ns={1000: 80, 2000: 20})
trims = Direction(io_bytes=8192, ios=2, iops=40.0, bandwidth_bytes=163840.0, clat=Latency(100, bins_ns={3000: 100}))
fio = Outcome(version="fio-3.36", parts=(PartOutcome(name="j", read=Direction(clat=latency), trim=trims),))
assert figures_of(fio).trim_iops == 40.0
assert figures_of(fio).trim_p99_ns == 3000
load = load_of((Job("j", {"rw": "trim"}),))
assert "trim_iops" in measured_metrics(Case(load)) and not proves_metric(Case(load), "trim_iops")
print(figures_of(fio).p90_ns)
"""


def test_ids_fields_and_columns_are_unique() -> None:
    assert len({metric.id for metric in METRICS}) == len({metric.field for metric in METRICS}) == len(COLUMNS)
    assert {metric.field for metric in METRICS} <= {each.name for each in fields(TrialMetrics)}
    percentiles = {f"{direction}{each}" for direction in ("", "read_", "write_") for each in ("p50", "p99", "p999")}
    assert {"iops", "bandwidth", "sync_p99"} | percentiles == set(COMPARABLE)


def test_an_unknown_metric_is_an_error() -> None:
    with pytest.raises(ValueError, match="iop"):
        metric_of("iop")


def test_a_new_row_appears_everywhere(tmp_path: Path) -> None:
    copy = tmp_path / "source" / "poolproof"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    table = copy / "metrics.py"
    text = table.read_text()
    before = "    p99_ns:"
    assert before in text
    table.write_text(text.replace(before, ROWS + before))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    runs = tmp_path / "runs"
    runs.mkdir()
    done = subprocess.run(
        [sys.executable, script, runs],
        env={"PYTHONPATH": str(copy.parent), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(2000, rel=0.02)
