"""Write the HTML report of a run: a single file that needs no server, no network and no poolproof installation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poolproof.metrics import metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metric_scale import intervals_text
from poolproof.presentation.charts.model import (
    CellChart,
    Chart,
    MetricChart,
    RunChart,
    TrialChart,
    all_charts,
    specification,
)
from poolproof.presentation.html_report import sections
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.assets import rendered, write_page
from poolproof.presentation.html_report.cells import (
    cell_rows,
    columns,
    did_not_converge,
    finding_key,
    metrics_measured,
    packed,
    shown_findings,
    shown_trials,
)
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.loading import LoadedRun, load_run, without_unknown_cells
from poolproof.results.runs.summary import Cell

SCRIPTS = ("words.js", "charts.js", "theme.js", "map.js", "flow.js", "cell.js", "page.js")
_SCOPES: dict[type[Chart], str] = {RunChart: "run", CellChart: "cell", TrialChart: "trial", MetricChart: "metric"}


def write_report(path: Path, out: Path) -> LoadedRun:
    """Write the run's report to `out`, and return the run.

    Damaged parts of the run are skipped. Raises a RunError if the run does not exist, or the report cannot be written.
    """
    run = without_unknown_cells(load_run(path, lenient=True))
    write_page(out, page(run), "choose another file with --out FILE", no_wider_than=path / "run.json")
    return run


def page(loaded: LoadedRun) -> str:
    """Return the report as HTML, omitting cells that are not in the campaign."""
    run = without_unknown_cells(loaded)
    cells = run.cells
    trials, remarks = shown_trials(run, cells)
    charts = {chart: made for chart in all_charts() if (made := _chart(chart, run)) is not None}
    values = {
        "run": run,
        "answer": answer(run),
        "cells": cells,
        "verdicts": [
            (word, mark, sum(cell.result().verdict == word for cell in cells)) for word, mark in MARKS.items()
        ],
        "unsettled": sum(map(did_not_converge, cells)),
        "charts": list(charts),
        "groups": sections.finding_groups(cells),
        "claims": sections.claim_rows(run),
        "claims_scope": sections.claims_scope(run),
        "limits": sections.limit_section(run, cells),
        "repeat": sections.repeat_section(run),
        "remarks": remarks,
    }
    findings = {finding_key(finding): finding for cell in cells for finding in shown_findings(cell)}
    metrics = metrics_measured(cells)
    generators = [workload.generator_name for workload in run.campaign.workloads]
    data = {
        "layouts": run.layouts_in_states,
        "workloads": [workload.name for workload in run.campaign.workloads],
        "generators": generators if len(set(generators)) > 1 else generators[:1],
        "metrics": {metric: metric_of(metric).title for metric in metrics},
        "metric": run.campaign.workloads[0].metric,
        "intervals": {metric: intervals_text(cells, metric, run.campaign.measure) for metric in metrics},
        "columns": columns(run),
        "cells": cell_rows(run, cells, {key: number for number, key in enumerate(findings)}),
        "findings": [[each.rule, each.effect, each.message, each.fix] for each in findings.values()],
        "trials": [trials.get(cell.key, ()) for cell in cells],
        "open": _first_to_open(cells),
        "charts": list(charts.values()),
        "heat": list(look.HEAT),
        "series_colours": list(look.SERIES),
    }
    return rendered("report.html.j2", SCRIPTS, values, data if cells else {}, draws=bool(cells))


def _chart(chart: Chart, run: LoadedRun) -> dict[str, Any] | None:
    """Return the data from which the report's script draws a chart and its table. None if the chart is not shown."""
    made = {
        "name": chart.name,
        "title": chart.title,
        "section": chart.section,
        "scope": _SCOPES[type(chart)],
        "columns": [[column.field, column.heading, column.unit] for column in chart.columns],
        "pivot": chart.pivot,
    }
    if not isinstance(chart, MetricChart):
        rows = chart.rows(run) if isinstance(chart, RunChart) else ()
        made |= {"rows": packed(rows), "spec": look.bare(specification(chart, rows, run))}
        return made if rows or not isinstance(chart, RunChart) else None
    if not chart.is_shown(run):
        return None
    metrics = metrics_measured(run.cells)
    specs = {
        metric: {scale: look.bare(specification(chart, (), run, metric=metric, scale=scale)) for scale in chart.scales}
        for metric in metrics
    }
    return made | {"rows": {metric: packed(chart.rows(run, metric)) for metric in metrics}, "specs": specs}


def _first_to_open(cells: Sequence[Cell]) -> int:
    """Return the number of the cell to select at first: the one with the largest share of lost or extra bytes.

    Refuted cells have priority.
    """

    def lost(number: int) -> tuple[bool, float]:
        account = cells[number].account
        if account is None:
            return False, 0.0
        expected = account.fio_read_bytes + account.fio_write_bytes * account.write_factor
        counted = account.leaf_read_bytes + account.leaf_write_bytes
        return cells[number].result().verdict == "refuted", abs(1 - counted / expected) if expected else 0.0

    return max(range(len(cells)), key=lost, default=0)
