"""A run directory becomes one HTML file that needs nothing else: no server, no network, no poolproof."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poolproof import __version__
from poolproof.errors import RunError
from poolproof.metrics import metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.latency import PERCENTILES
from poolproof.presentation.charts.latency_time import LINES
from poolproof.presentation.charts.metrics import intervals_text
from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.cells import cell_rows, columns, finding_key, metrics_measured
from poolproof.presentation.html_report.findings import groups
from poolproof.presentation.html_report.libraries import vega_script
from poolproof.presentation.html_report.limits import LimitSection, section
from poolproof.presentation.html_report.reading import LoadedRun, placed, read
from poolproof.presentation.html_report.repeat import repeat
from poolproof.presentation.html_report.specs import specs
from poolproof.presentation.html_report.template import asset, rendered, script_sources
from poolproof.presentation.html_report.through_time import ChosenTrials, through_time
from poolproof.presentation.terminal.claims import measured_text
from poolproof.presentation.terminal.words import MARKS
from poolproof.results.runs.claims import evaluate
from poolproof.results.runs.files import write_whole
from poolproof.results.runs.summary import Cell

SCRIPTS = ("words.js", "charts.js", "theme.js", "map.js", "flow.js", "cell.js", "page.js")


def write_report(run: Path, out: Path) -> LoadedRun:
    """Write the page of a run to `out`; returns what of the run could be read.

    Raises:
        RunError: there is no run, or the page can't be written.
    """
    seen = placed(read(run))
    text = page(seen)
    try:
        write_whole(out, text.encode(errors="replace"))
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror}", "name another with --out FILE") from None
    return seen


def page(seen: LoadedRun) -> str:
    """The page as text. Every part of it numbers the cells as `cells` does: all of them are the campaign's."""
    seen = placed(seen)
    cells = tuple(seen.run.cells.values())
    chosen, limits = through_time(seen, cells), section(seen, cells)
    scripts = [vega_script(), *(asset(name) for name in SCRIPTS)] if cells else [asset(name) for name in SCRIPTS]
    values = {
        "seen": seen,
        "answer": answer(seen),
        "cells": cells,
        "verdicts": [(verdict, MARKS[verdict], _count(cells, verdict)) for verdict in MARKS],
        "unsettled": sum(cell.is_unsettled and cell.figure is not None for cell in cells),
        "groups": groups(cells),
        "claims": [(held, MARKS_OF_CLAIMS[held.result], measured_text(held)) for held in _claims(seen, cells)],
        "limits": limits,
        "repeat": repeat(seen),
        "left_out": _left_out(chosen),
        "version": __version__,
        "style": asset("report.css"),
        "scripts": scripts,
        "script_sources": script_sources(scripts),
        "data": _data(seen, cells, chosen, limits),
    }
    return rendered("report.html.j2", values)


MARKS_OF_CLAIMS = {"held": "✓", "failed": "✗", "undecided": "?"}


def _data(seen: LoadedRun, cells: Sequence[Cell], chosen: ChosenTrials, limits: LimitSection) -> dict[str, Any]:
    """All that the page's script draws from, once."""
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
        "series": [chosen.series.get((cell.layout, cell.workload), ()) for cell in cells],
        "limit": [[each.layout, each.workload, each.share, each.label, each.how] for each in limits.chart],
        "open": _first_to_open(cells),
        "specs": specs(seen, metrics, limits.chart),
        "percentiles": list(PERCENTILES),
        "latency_lines": [line.name for line in LINES],
        "look": look.for_pages(),
        "heat": list(look.HEAT),
        "series_colours": list(look.SERIES),
    }


def _first_to_open(cells: Sequence[Cell]) -> int:
    """The cell whose bytes the page shows first: the one whose figure is furthest from what the disks did."""

    def lost(number: int) -> tuple[bool, float]:
        account = cells[number].account
        if account is None:
            return False, 0.0
        expected = account.fio_read_bytes + account.fio_write_bytes * account.write_factor
        counted = account.leaf_read_bytes + account.leaf_write_bytes
        return cells[number].verdict == "refuted", abs(1 - counted / expected) if expected else 0.0

    return max(range(len(cells)), key=lost) if cells else 0


def _left_out(chosen: ChosenTrials) -> list[str]:
    """What the page does not show of the samples, in sentences."""
    said = []
    if chosen.one_trial_each:
        said.append("Through time, the page keeps the first measured trial of each cell; all lie in the run directory.")
    if chosen.left_out:
        said.append(f"{chosen.left_out} series had no room; those that are not sound were kept first.")
    if chosen.missing:
        said.append(f"samples.jsonl is missing or damaged for {chosen.missing} trials: nothing to draw through time.")
    return said


def _claims(seen: LoadedRun, cells: Sequence[Cell]) -> Sequence[Any]:
    return evaluate(seen.campaign.expect, tuple(cells))


def _count(cells: Sequence[Cell], verdict: str) -> int:
    return sum(cell.verdict == verdict for cell in cells)
