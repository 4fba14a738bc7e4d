"""If the metrics of a run have different verdicts, each output shows every metric with its own verdict."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from poolproof.campaign.cell_key import CellKey
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import audited_object
from poolproof.foreign.audit.saved_trials import audit_run
from poolproof.presentation.export.columns import csv_text
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.rows import table_of
from poolproof.presentation.html_report.cells import cell_rows, finding_key, shown_findings
from poolproof.presentation.html_report.page import page
from poolproof.presentation.html_report.sections import finding_groups
from poolproof.presentation.terminal.audited import audited_lines
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.presentation.terminal.table import print_table
from poolproof.results.compare.ranking import find_goal, rank
from poolproof.results.query.connection import open_runs
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.run_object import run_object
from tests.unit.presentation.terminal.live_runs import screen_text
from tests.unit.results.compare.making import make_run

FINDING = {"rule": "write-vanished", "effect": "refutes", "message": "50 MiB went missing", "fix": "end_fsync=1"}


@pytest.fixture(params=[("sound", {"bandwidth": "refuted"}), ("refuted", {"iops": "sound"})])
def run(tmp_path: Path, request: pytest.FixtureRequest) -> LoadedRun:
    """A run in which the bandwidth of layout `one` is refuted in its second trial, but its IOPS are sound."""
    path = make_run(tmp_path / "run", {("one", "reads"): (100, 101), ("pair", "reads"): (50, 51)})
    lines = [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
    verdict, verdicts = request.param
    for line in lines:
        if (line["layout"], line["number"]) == ("one", 2):
            line |= {"verdict": verdict, "verdicts": verdicts, "findings": [FINDING]}
    (path / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return load_run(path)


def table_text(run: LoadedRun) -> str:
    """Return the results table of a run, and what is printed below it."""
    console = Console(width=200, file=io.StringIO())
    with console.capture() as captured:
        print_table(console, run.cells, None)
    return captured.get()


def test_the_table_only_names_metrics_that_nobody_asked_for(run: LoadedRun) -> None:
    assert run.cells[0].metric == "iops"
    text = table_text(run)
    assert "refuted" not in text and "50 MiB went missing" not in text
    assert "bandwidth" in text.rpartition("does not ask for")[2]


def test_the_table_shows_the_finding_on_a_claimed_metric(run: LoadedRun) -> None:
    run = with_claim(run, "bandwidth(one, reads) > 1MB/s")
    table, _, reasons = table_text(run).partition("reads on one: ")
    assert "refuted" not in table
    heading, *_ = reasons.split("\n")
    assert "bandwidth" in heading and heading.endswith("refuted")
    assert reasons.count("50 MiB went missing") == 1


def test_the_page_keeps_findings_on_other_metrics_apart(run: LoadedRun) -> None:
    assert [(group["rule"], group["asked"]) for group in finding_groups(run.cells)] == [("write-vanished", False)]
    _, _, others = page(run).partition('<details id="other-findings">')
    assert "write-vanished" in others and "50 MiB went missing" in others
    claimed = with_claim(run, "bandwidth(one, reads) > 1MB/s")
    assert [group["asked"] for group in finding_groups(claimed.cells)] == [True]
    assert '<details id="other-findings">' not in page(claimed)


def with_claim(run: LoadedRun, claim: str) -> LoadedRun:
    """Return the run, as if its campaign contained this claim."""
    campaign = run.path / "campaign.yaml"
    campaign.write_text(f"{campaign.read_text()}\nexpect:\n  - {{claim: c, that: '{claim}', source: here}}\n")
    record = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps(record | {"campaign": campaign.read_text()}))
    return load_run(run.path)


def test_json_has_the_verdicts_of_other_metrics(run: LoadedRun) -> None:
    one, pair = run_object(run.path, run.cells, None)["cells"]
    assert (one["verdict"], one["verdicts"]["bandwidth"]) == ("sound", "refuted")
    assert pair["verdicts"] == {}


def test_a_csv_row_gives_the_reasons_of_its_metric(run: LoadedRun) -> None:
    one = next(csv.DictReader(io.StringIO(csv_text(table_of(run)))))
    assert (one["verdict"], one["counts"], one["rules"], one["why"]) == ("sound", "true", "", "")
    assert (float(one["iops"]), float(one["rejected_bandwidth_bytes_per_s"])) == (100.5, 100.5 * 4096)


def test_sql_gives_the_verdict_that_decides_whether_the_row_counts(run: LoadedRun) -> None:
    with open_runs(run.path) as session:
        for view in ("trials", "cells"):
            found = session.ask(f"select distinct verdict, counts from {view} where layout = 'one'")
            assert found.rows == [("sound", True)]
        assert session.ask("select verdict, rule from findings").rows == [("sound", "write-vanished")]


def test_the_page_shows_the_finding_with_its_metric(run: LoadedRun) -> None:
    findings = [finding_key(finding) for cell in run.cells for finding in shown_findings(cell)]
    one, _ = cell_rows(run, run.cells, {key: number for number, key in enumerate(findings)})
    assert (one["v"], one["x"]) == ("sound", [])
    assert [(verdict, numbers) for names, verdict, numbers in one["o"] if "bandwidth" in names.split(", ")] == [
        ("refuted", [0])
    ]
    assert findings == [tuple(FINDING.values())]


def test_a_ranking_counts_each_metric_by_its_verdict(run: LoadedRun) -> None:
    goal = find_goal(run.campaign, "reads", None)
    assert rank(run, goal, metric=None, effect=0.05).ranked[0].entry.layout == "one"
    by_bandwidth = rank(run, goal, metric="bandwidth", effect=0.05)
    assert [each.entry.layout for each in by_bandwidth.ranked] == ["pair"]
    assert {each.layout: each.why for each in by_bandwidth.excluded}["one"] == "refuted (write-vanished)"


def test_the_live_screen_shows_the_metric_of_the_workload(run: LoadedRun) -> None:
    progress = RunProgress(run.campaign, run.trials)
    assert progress.worst(CellKey("one", "reads")) == "sound"
    assert not progress.news
    assert "refuted" not in "\n".join(screen_text(progress))


def test_an_audit_gives_the_verdicts_of_other_metrics(run: LoadedRun) -> None:
    audited = audit_run(run.path, Context())[1]
    verdicts = {"bandwidth": "refuted"} if audited.verdict == "sound" else {"iops": "sound"}
    assert audited_object(audited)["verdicts"] == verdicts
    ((metric, verdict),) = verdicts.items()
    assert f"  {'IOPS' if metric == 'iops' else metric}: {verdict}" in list(audited_lines(audited, 100))


def test_exports_name_the_valid_results_with_another_verdict(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", {("one", "reads"): (100, 101), ("pair", "reads"): (50, 51)})
    lines = [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
    lines[0] |= {"verdict": "sound", "verdicts": {"p99": "unproven", "read_bandwidth": "suspect"}}
    (path / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = table_of(load_run(path))
    one, pair = csv.DictReader(io.StringIO(csv_text(table)))
    assert (one["verdict"], one["other_verdicts"]) == ("sound", "read_bandwidth_bytes_per_s=suspect p99_ns=unproven")
    assert one["p99_ns"] and not pair["other_verdicts"]
    of_one, of_pair = influx_text(table).splitlines()
    assert 'other_verdicts="read_bandwidth_bytes_per_s=suspect p99_ns=unproven"' in of_one
    assert "other_verdicts" not in of_pair
    samples = [line for line in openmetrics_text(table).splitlines() if 'layout="one"' in line]
    latency = [line for line in samples if line.startswith("poolproof_completion_latency_seconds{")]
    assert {line.partition('verdict="')[2].partition('"')[0] for line in latency if 'percentile="99"' in line} >= {
        "unproven"
    }
    assert any("poolproof_io_rate" in line and 'verdict="sound"' in line for line in samples)
    (data,) = [text for name, text in dat_files(table).items() if name.suffix == ".dat"]
    assert "read-bw_MiB/s suspect" in data


def test_the_json_has_the_reason_for_each_metrics_verdict(tmp_path: Path) -> None:
    """One rule can give one reason for the IOPS and another one for the bandwidth."""
    path = make_run(tmp_path / "run", {("one", "reads"): (100, 101)})
    lines = [json.loads(line) for line in (path / "trials.jsonl").read_text().splitlines()]
    reasons = [
        {"rule": "missing-proof", "effect": "leaves-unproven", "message": message, "fix": "", "metrics": metrics}
        for message, metrics in (("of bytes", ["bandwidth"]), ("of requests", ["iops", "read_iops"]))
    ]
    note = {"rule": "work-done", "effect": "notes", "message": "short", "fix": ""}
    for line in lines:
        line |= {"verdict": "unproven", "verdicts": {}, "findings": [*reasons, note, note]}
    (path / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cell,) = run_object(path, load_run(path).cells, None)["cells"]
    assert [(each["message"], each["metrics"]) for each in cell["findings"]] == [
        *((reason["message"], reason["metrics"]) for reason in reasons),
        ("short", []),
    ]
