"""The page of a run: one HTML file that needs no server, no network and no poolproof."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poolproof.errors import RunError
from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import places
from poolproof.presentation.charts.catalogue import all_charts, specification
from poolproof.presentation.charts.curves import SCALES, curves
from poolproof.presentation.charts.figures import figures
from poolproof.presentation.charts.metrics import intervals_text
from poolproof.presentation.charts.model import CellChart, Chart, RunChart
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.assets import asset, rendered, script_sources, vega_script
from poolproof.presentation.html_report.cells import cell_rows, columns, finding_key, metrics_measured
from poolproof.presentation.html_report.sections import finding_groups, limit_section, repeat_section
from poolproof.presentation.html_report.trials import ShownTrials, shown_trials
from poolproof.presentation.terminal.sections import CLAIM_MARKS, measured_text
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.claims import evaluate
from poolproof.results.runs.files import write_whole
from poolproof.results.runs.loading import LoadedRun, load_run, without_unknown_cells
from poolproof.results.runs.summary import Cell
from poolproof.version import __version__

SCRIPTS = ("words.js", "charts.js", "theme.js", "map.js", "flow.js", "cell.js", "page.js")


def write_report(run: Path, out: Path) -> LoadedRun:
    """Write the page of a run to `out`; return what could be read of the run.

    Raises:
        RunError: there is no run, or the page cannot be written.
    """
    seen = without_unknown_cells(load_run(run, lenient=True))
    text = page(seen)
    try:
        write_whole(out, text.encode(errors="replace"))
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror}", "choose another file with --out FILE") from None
    return seen


def page(seen: LoadedRun) -> str:
    """Return the page. All of its parts number the cells in the order of `cells`, all of which are the campaign's."""
    seen = without_unknown_cells(seen)
    cells = seen.cells
    trials = shown_trials(seen, cells)
    scripts = [vega_script(), *(asset(name) for name in SCRIPTS)] if cells else [asset(name) for name in SCRIPTS]
    claims = evaluate(seen.campaign.expect, cells)
    data = _data(seen, cells, trials)
    shown = {chart["name"] for chart in data["charts"]}
    values = {
        "seen": seen,
        "answer": answer(seen),
        "cells": cells,
        "verdicts": [
            (verdict, mark, sum(cell.verdict == verdict for cell in cells)) for verdict, mark in MARKS.items()
        ],
        "unsettled": sum(cell.is_unsettled and cell.figure is not None for cell in cells),
        "charts": [chart for chart in all_charts() if chart.name in shown],
        "groups": finding_groups(cells),
        "claims": [(claim, CLAIM_MARKS[claim.result], measured_text(claim)) for claim in claims],
        "limits": limit_section(seen, cells),
        "repeat": repeat_section(seen),
        "remarks": trials.remarks,
        "version": __version__,
        "style": asset("report.css"),
        "scripts": scripts,
        "script_sources": script_sources(scripts),
        "data": data,
    }
    return rendered("report.html.j2", values)


def _data(seen: LoadedRun, cells: Sequence[Cell], trials: ShownTrials) -> dict[str, Any]:
    """Return everything that the page's script draws from."""
    findings = {finding_key(finding): finding for cell in cells for finding in cell.findings}
    numbers = {key: number for number, key in enumerate(findings)}
    metrics = metrics_measured(cells)
    return {
        "layouts": [layout.name for layout in seen.campaign.layouts],
        "workloads": [workload.name for workload in seen.campaign.workloads],
        "metric_of": [workload.metric for workload in seen.campaign.workloads],
        "metrics": {metric: metric_of(metric).title for metric in metrics},
        "intervals": {metric: intervals_text(cells, metric, seen.campaign.measure) for metric in metrics},
        "columns": columns(seen),
        "cells": cell_rows(seen, cells, numbers),
        "findings": [[each.rule, each.effect, each.message, each.fix] for each in findings.values()],
        "trials": [trials.by_cell.get((cell.layout, cell.workload), ()) for cell in cells],
        "open": _first_to_open(cells),
        "charts": [made for chart in all_charts() if (made := _chart(chart, seen)) is not None],
        "specs": {name: spec for metric in metrics for name, spec in _metric_specs(seen, metric).items()},
        "look": look.for_pages(),
        "heat": list(look.HEAT),
        "series_colours": list(look.SERIES),
    }


def _chart(chart: Chart, seen: LoadedRun) -> dict[str, Any] | None:
    """Return what the page's script needs to draw a chart and its table; None for a chart of the run without rows."""
    rows = chart.rows(seen) if isinstance(chart, RunChart) else ()
    if isinstance(chart, RunChart) and not rows:
        return None
    return {
        "name": chart.name,
        "title": chart.title,
        "section": chart.section,
        "scope": "run" if isinstance(chart, RunChart) else "cell" if isinstance(chart, CellChart) else "trial",
        "columns": [[column.field, column.heading, column.unit] for column in chart.columns],
        "pivot": chart.pivot,
        "rows": rows,
        "spec": look.bare(specification(chart, rows, seen)),
    }


def _metric_specs(seen: LoadedRun, metric: MetricId) -> dict[str, Any]:
    """Return the charts of the curves' section: curves by scale if there is an axis, else figures."""
    layouts, workloads = [layout.name for layout in seen.campaign.layouts], seen.campaign.workloads
    if not places(workloads):
        return {f"figures {metric}": look.bare(figures((), metric, layouts=layouts))}
    return {
        f"curves {metric} {scale}": look.bare(curves((), metric, layouts=layouts, workloads=workloads, scale=scale))
        for scale in SCALES
    }


def _first_to_open(cells: Sequence[Cell]) -> int:
    """Return the cell whose bytes the page shows first: that whose figure is furthest from what the disks did."""

    def lost(number: int) -> tuple[bool, float]:
        account = cells[number].account
        if account is None:
            return False, 0.0
        expected = account.fio_read_bytes + account.fio_write_bytes * account.write_factor
        counted = account.leaf_read_bytes + account.leaf_write_bytes
        return cells[number].verdict == "refuted", abs(1 - counted / expected) if expected else 0.0

    return max(range(len(cells)), key=lost) if cells else 0
