"""The page of many runs: which cells changed, and the history of each cell with dates and versions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poolproof.errors import RunError
from poolproof.load.generators import generator_versions
from poolproof.metrics import metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.history import history
from poolproof.presentation.charts.metrics import axis_value
from poolproof.presentation.history.series import (
    CellHistory,
    NamedRun,
    Point,
    in_order,
    series_of,
    unlike_before,
)
from poolproof.presentation.html_report.assets import asset, rendered, vega_script
from poolproof.presentation.terminal.words import MARKS, factor_text, per_cent_whole
from poolproof.results.runs.files import write_whole
from poolproof.statistics.comparison import LEAST_EFFECT
from poolproof.verdicts import counts
from poolproof.version import __version__

_SCRIPTS = ("words.js", "charts.js", "theme.js", "history.js")
_WORDS = ("", "same", "undecided", "slower", "faster")


def write_history(runs: Sequence[NamedRun], left_out: Sequence[str], out: Path) -> tuple[CellHistory, ...]:
    """Write the page of these runs to `out`; return what it shows. `left_out` are sentences on what it does not show.

    Raises:
        RunError: the page can't be written.
    """
    ordered = in_order(runs)
    series = series_of(ordered)
    text = _page(ordered, series, left_out)
    try:
        write_whole(out, text.encode(errors="replace"))
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror}", "name another with --page FILE.html") from None
    return series


def _page(runs: Sequence[NamedRun], series: Sequence[CellHistory], left_out: Sequence[str]) -> str:
    changes = sum(point.change is not None and point.change.is_marked for each in series for point in each.points)
    values = {
        "runs": runs,
        "series": series,
        "changes": changes,
        "effect": per_cent_whole(LEAST_EFFECT),
        "left_out": left_out,
        "version": __version__,
        "style": asset("report.css"),
        "scripts": [asset(name) for name in _SCRIPTS],
        "vega": vega_script() if series else "",
        "data": _data(runs, series),
    }
    return rendered("history.html.j2", values)


def _data(runs: Sequence[NamedRun], series: Sequence[CellHistory]) -> dict[str, Any]:
    """Return everything that the page's script draws from; points are lists because there are thousands."""
    metrics = dict.fromkeys(each.metric for each in series)
    specs: dict[str, Any] = {metric: look.bare(history((), metric)) for metric in metrics}
    return {
        "runs": [_run(named, changed) for named, changed in zip(runs, unlike_before(runs), strict=True)],
        "series": [_series(each) for each in series],
        "metrics": {metric: metric_of(metric).title for metric in metrics},
        "marks": MARKS,
        "words": _WORDS,
        "specs": specs,
        "look": look.for_pages(),
    }


def _run(named: NamedRun, changed: Sequence[str]) -> dict[str, Any]:
    record = named.run.record
    versions = [f"poolproof {record.poolproof}", *generator_versions(record.versions), record.facts.get("kernel", "")]
    versions += [f"OpenZFS {record.lab.zfs}"] if record.lab else []
    return {
        "name": named.name,
        "begun_at": named.begun_at,
        "host": record.host,
        "versions": ", ".join(version for version in versions if version),
        "changed": list(changed),
    }


def _series(each: CellHistory) -> dict[str, Any]:
    return {
        "campaign": each.campaign,
        "machine": each.machine,
        "layout": each.layout,
        "workload": each.workload,
        "metric": each.metric,
        "points": [_point(point, each) for point in each.points],
    }


def _point(point: Point, series: CellHistory) -> list[Any]:
    """Run, value, low, high, whether it counts, verdict, figure in words, reason, word of the change, its factor,
    whether it did not settle: then it has no interval, which would not hold.
    """
    figure, metric, change = point.figure, series.metric, point.change
    known = (None, None) if figure is None or point.unsettled else (figure.low, figure.high)
    bounds = (None if figure is None else figure.mean, *known)
    value, low, high = (None if each is None else axis_value(each, metric) for each in bounds)
    return [
        point.run,
        value,
        low,
        high,
        counts(point.verdict),
        point.verdict,
        point.text,
        point.reason,
        change.decision.word if change else "",
        factor_text(change.speed) if change else "",
        point.unsettled,
    ]
