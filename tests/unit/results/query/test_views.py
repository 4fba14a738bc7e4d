"""The views contain the same values as the runs, and docs/query.md describes every column."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import one_line
from poolproof.metrics import COLUMNS, METRICS, REJECTED
from poolproof.presentation.export.columns import columns_of
from poolproof.presentation.export.rows import table_of
from poolproof.results.query.connection import QuerySession, open_runs
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.statistics.intervals import mean_interval
from poolproof.verdicts import Verdict
from tests.unit.docs.pages import section
from tests.unit.results.compare.making import RECORD, make_run

from .making import LEAF, READS

VIEWS = ("runs", "trials", "cells", "leaves", "findings")


def test_the_example_queries_of_the_page_can_be_asked(session: QuerySession) -> None:
    [examples] = re.findall(r"^```sql\n(.*?)^```", section("query.md", "Queries"), re.MULTILINE | re.DOTALL)
    queries = examples.split(";")[:-1]
    assert len(queries) == 3
    for query in queries:
        assert not query.strip().startswith("-"), "on a command line, it would look like an option"
        session.ask(query)


@pytest.mark.parametrize("run", ["grid", "deeper/small", "nasty"])
def test_cells_are_those_that_all_else_shows(session: QuerySession, root: Path, run: str) -> None:
    table = table_of(load_run(root / run))
    columns = {name: value for name, value in columns_of(table).items() if name in COLUMNS or "_ns" in name}
    columns |= {name: value for name, value in columns_of(table).items() if name in ("metric", "verdict", "counts")}
    columns |= {name: columns_of(table)[name] for name in ("emulated", "other_verdicts")}
    columns |= {name: value for name, value in columns_of(table).items() if name.endswith(("_bytes", "factor"))}
    found = session.ask(f"select layout, workload, {', '.join(columns)} from cells where run = '{run}'")
    rows = {tuple(map(one_line, row[:2])): row[2:] for row in found.rows}  # a query returns names as they are stored
    assert len(rows) == len(table.rows)
    for row in table.rows:
        assert list(rows[row.cell.layout, row.cell.workload]) == pytest.approx(
            [value(row) for value in columns.values()]
        )


def test_trials_hold_every_trial_with_its_figures(session: QuerySession, root: Path) -> None:
    trials = RunDirectory.open(root / "grid").trials()
    found = session.ask(
        "select layout, workload, number, state, verdict, iops, rejected_iops from trials where run = 'grid'"
    )
    expected = {}
    for trial in trials:
        assert trial.figures is not None
        counts = trial.verdict not in ("refuted", "failed")
        iops = trial.figures.iops
        expected[trial.key] = (trial.verdict, iops if counts else None, None if counts else iops)
    assert {row[:4]: row[4:] for row in found.rows} == expected


def test_a_figure_that_does_not_count_is_in_no_mean(session: QuerySession) -> None:
    [(least,)] = session.ask("select count(*) from cells where not counts and iops is not null").rows
    [(kept,)] = session.ask("select count(*) from cells where not counts and rejected_iops is not null").rows
    assert (least, kept > 0) == (0, True)


def test_a_metric_has_the_verdict_that_its_trial_gives_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", READS)
    directory = RunDirectory.open(run)
    trials = [
        replace(trial, verdicts={"iops": "refuted", "p99": "suspect"} if trial.number == 2 else {})
        for trial in directory.trials()
    ]
    directory.write_trials(trials)
    cells = load_run(run).cells
    with open_runs(run) as session:
        for metric in METRICS:
            columns = f"{metric.column}, {REJECTED}{metric.column}"
            found = session.ask(f"select layout, workload, number, state, {columns} from trials").rows
            results = {trial.key: trial.result(metric.id) for trial in trials}
            values = {key: (each.value, each.counts) for key, each in results.items()}
            assert {row[:4]: row[4:] for row in found} == {key: _placed(*value) for key, value in values.items()}
            found = session.ask(f"select layout, workload, state, {columns} from cells").rows
            means = {cell.key: (mean_interval(cell.values(metric.id)), cell.result(metric.id)) for cell in cells}
            assert {row[:3]: pytest.approx(row[3:]) for row in found} == {
                key: _placed(mean.mean if mean else None, each.counts) for key, (mean, each) in means.items()
            }
        counted = session.ask("select layout, workload, state, verdict, counts from cells").rows
    assert {row[:3]: row[3:] for row in counted} == {cell.key: (cell.verdict, cell.counts) for cell in cells}
    assert {cell.verdict for cell in cells} == {"refuted"}


def _placed(value: float | None, counts: bool) -> tuple[float | None, float | None]:
    return (value, None) if counts else (None, value)


def test_each_trial_and_cell_lists_the_verdicts_of_its_other_metrics(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {("one", "etcd"): [9e6, 9.1e6]}, syncs={"one": 1120})
    directory = RunDirectory.open(run)
    verdicts: dict[str, Verdict] = {"iops": "unproven", "sync_p99": "suspect", "sync_p50": "sound", "p999": "unproven"}
    directory.write_trials([replace(trial, verdicts=verdicts, metric="sync_p50") for trial in directory.trials()])
    with open_runs(run) as session:
        found = session.ask("select verdict, other_verdicts from trials").rows
        cells = session.ask("select other_verdicts from cells").rows
    [cell] = load_run(run).cells
    measured = {metric.column for metric in METRICS if cell.result(metric.id).values}
    expected = " ".join(
        f"{metric.column}={verdicts[metric.id]}"
        for metric in METRICS
        if metric.column in measured and verdicts.get(metric.id, "sound") != "sound"
    )
    assert expected
    assert found == [("sound", expected)] * 2
    assert cells == [(expected,)]


def test_trials_cells_and_leaves_name_the_models_of_emulated_disks(tmp_path: Path) -> None:
    campaign = RECORD.campaign.replace("{file: 2G}", "{emulate: nvme, size: 2G}", 1)
    assert campaign != RECORD.campaign
    make_run(tmp_path / "file", READS)
    make_run(tmp_path / "model", READS, record=replace(RECORD, campaign=campaign))
    for name in ("file", "model"):
        directory = RunDirectory.open(tmp_path / name)
        directory.write_trials([replace(trial, leaves=(LEAF,)) for trial in directory.trials()])
    with open_runs(tmp_path) as session:
        for view in ("trials", "cells", "leaves"):
            found = session.ask(f"select distinct run, layout, emulated from {view} where emulated is not null").rows
            models = {cell.layout: cell.emulated for cell in load_run(tmp_path / "model").cells if cell.emulated}
            assert models
            assert {tuple(row) for row in found} == {("model", layout, "nvme") for layout in models}, view


def test_leaves_and_findings_have_a_row_each(session: QuerySession) -> None:
    leaves = session.ask("select device, sum(read_bytes), max(utilisation) from leaves group by device order by all")
    assert leaves.rows == [("a", 6000, 0.5), ("b", 6000, 0.5)]
    rules = session.ask("select distinct rule, effect from findings where run = 'deeper/small'")
    assert rules.rows == [("rule-suspect", "suspects")]


def test_a_setting_of_a_matrix_can_be_asked_for(session: QuerySession) -> None:
    found = session.ask(
        "select distinct setting(workload, 'bs'), setting(layout, 'cache.files'), setting(workload, 'nothing') "
        "from cells where run = 'grid' and setting(workload, 'rw') = 'write' and layout = 'union[cache.files=off]'"
    )
    assert sorted(found.rows) == [("16k", "off", None), ("1m", "off", None), ("4k", "off", None)]


def test_times_are_utc(session: QuerySession) -> None:
    found = session.ask("select run, strftime(begun_at, '%H:%M') from runs order by run")
    assert found.rows == [("deeper/small", "19:30"), ("grid", "19:30"), ("nasty", "19:30")]


@pytest.mark.parametrize("which", ["*", "columns('(run|layout|workload|state|_low|_high)$')"])
def test_intervals_are_those_of_all_other_outputs(root: Path, which: str) -> None:
    with open_runs(root) as session:  # another query may have computed them in a shared session
        answer = session.ask(f"select {which} from cells where run = 'deeper/small'")
    cells = {cell.key: cell for cell in load_run(root / "deeper/small").cells}
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    known = 0
    for row in rows:
        cell = cells[CellKey(row["layout"], row["workload"], row["state"])]
        for metric in METRICS:
            interval = cell.interval(metric.id) if cell.result(metric.id).counts else None
            ends = (interval.low, interval.high) if interval else (None, None)
            assert (row[f"{metric.column}_low"], row[f"{metric.column}_high"]) == ends
            known += ends != (None, None)
    assert len(rows) == len(cells) and known


def test_a_percentile_of_too_few_events_has_no_interval(tmp_path: Path) -> None:
    make_run(tmp_path / "r", {("one", "etcd"): [9e6, 9.1e6, 9.2e6]}, syncs={"one": 112})
    make_run(tmp_path / "s", {("one", "etcd"): [9e6, 9.1e6, 9.2e6]}, syncs={"one": 1120})
    with open_runs(tmp_path) as session:
        found = session.ask("select run, sync_p99_ns_low is null from cells order by run")
    assert found.rows == [("r", True), ("s", False)]


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_says_every_column_with_its_type(session: QuerySession, view: str) -> None:
    rows = [line.split("|") for line in section("query.md", f"`{view}`").splitlines() if line.startswith("| `")]
    documented = {name.strip().strip("`"): kind.strip() for row in rows for name, kind in _columns(row)}
    described = session.ask(f"describe {view}").rows
    assert documented == {name: _short(kind) for name, kind, *_ in described}


def _columns(row: list[str]) -> Iterator[tuple[str, str]]:
    for name in row[1].split(","):
        yield name, row[2]


def _short(kind: str) -> str:
    words = {"VARCHAR": "text", "DOUBLE": "number", "BIGINT": "integer", "INTEGER": "integer", "BOOLEAN": "true/false"}
    return {"TIMESTAMP": "time"}.get(kind) or ("map" if kind.startswith("MAP") else words[kind])
