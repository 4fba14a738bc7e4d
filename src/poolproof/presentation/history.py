"""The history page, which shows how each cell's result changed from run to run, with dates and versions.

Only runs of the same campaign on the same machine are compared. Each result is compared with the latest valid result
before it, and is marked as a change if `poolproof compare` would report `slower` or `faster`. As in `compare`, the test
includes the between-run variance if it is known from earlier runs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt

from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import MetricId, metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metric_scale import (
    IS_RELIABLE,
    RESULT,
    label_expression,
    result_row,
    result_text,
    title,
)
from poolproof.presentation.html_report.assets import rendered, write_page
from poolproof.presentation.terminal.words import per_cent_whole, speed_text, versions_text
from poolproof.results.compare.earlier_runs import EarlierAmong
from poolproof.results.compare.measured import Measured
from poolproof.results.compare.run_differences import run_differences
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import LEAST_EFFECT, ComparisonDecision, decide
from poolproof.statistics.intervals import Interval

_SCRIPTS = ("words.js", "charts.js", "theme.js", "history.js")
_COLUMNS = ("run", *(column.field for column in RESULT), "reason", "word", "factor")
_WORSE, _BETTER = "#b30000", "#009e73"
_DAY_OR_TIME = "timeFormat(datum.value, hours(datum.value) + minutes(datum.value) ? '%b %d, %H:%M' : '%b %d, %Y')"
"""A Vega expression for the time axis labels. Vega's default labels would show 19:30 as 07:30 and omit the day."""


@dataclass(frozen=True)
class NamedRun:
    """A run and the name by which the history page refers to it."""

    name: str
    run: LoadedRun

    @property
    def campaign(self) -> tuple[str, str]:
        """Return the campaign's name and the machine's id, or the host name if the id is unknown.

        Runs are compared only if both values are equal.
        """
        return self.run.campaign.name, self.run.record.facts.get("machine") or self.run.record.host


@dataclass(frozen=True)
class ChangePoint:
    """The comparison of a result with an earlier result of the same cell.

    `speed`: the ratio of the two speeds.
    `since`: the number of the run that contains the earlier result.
    `earlier_runs`: the number of runs before `since` from which the between-run variance was estimated.
    """

    decision: ComparisonDecision
    speed: Interval
    since: int
    earlier_runs: int = 0


@dataclass(frozen=True)
class Point:
    """A cell's result in one run.

    `run`: the run's number.
    `reason`: the reason why the result cannot be compared, or an empty string if it can.
    `change`: the comparison with the previous result, or None if the result was not compared.
    `remarks`: the reason why the result cannot be tested, if any, and the cell's remarks (`results/runs/remarks.py`).
    """

    run: int
    cell: Cell
    reason: str
    change: ChangePoint | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellHistory:
    """A cell's results from all runs that measured it, oldest first."""

    campaign: str
    machine: str
    layout: str
    workload: str
    metric: MetricId
    points: tuple[Point, ...]


_Key = tuple[str, str, CellKey]
"""The key of a cell's history: the campaign, the machine and the cell's key."""


def write_history(runs: Sequence[NamedRun], left_out: Sequence[str], out: Path) -> tuple[CellHistory, ...]:
    """Write the history page for the runs to `out` and return the histories that it shows.

    `left_out`: messages that explain what the page omits.

    Raises a RunError if the page cannot be written.
    """
    ordered = in_order(runs)
    series = series_of(ordered)
    metrics = dict.fromkeys(each.metric for each in series)
    changes = [point.change for each in series for point in each.points if point.change is not None]
    values = {
        "runs": ordered,
        "series": series,
        "changes": sum(change.decision.word in ("slower", "faster") for change in changes),
        "compared": len(changes),
        "across": sum(change.earlier_runs > 0 for change in changes),
        "effect": per_cent_whole(LEAST_EFFECT),
        "left_out": left_out,
    }
    data = {
        "runs": [_run(named, changed) for named, changed in zip(ordered, differences_before(ordered), strict=True)],
        "series": [{**vars(each), "points": [_point(point, each.metric) for point in each.points]} for each in series],
        "columns": _COLUMNS,
        "metrics": {metric: metric_of(metric).title for metric in metrics},
        "specs": {metric: look.bare(history_chart((), metric)) for metric in metrics},
    }
    text = rendered("history.html.j2", _SCRIPTS, values, data, draws=bool(series))
    write_page(out, text, "choose another file with --page FILE.html")
    return series


def in_order(runs: Iterable[NamedRun]) -> tuple[NamedRun, ...]:
    """Sort the runs by date, then by name. `series_of` numbers the runs in this order."""
    return tuple(sorted(runs, key=lambda each: (each.run.record.begun_s, each.name)))


def without_copies(runs: Iterable[NamedRun]) -> tuple[list[NamedRun], list[str]]:
    """Return the runs without copies of other runs, and a message about each copy.

    Compared with its copy, a run would seem to show that nothing changed.
    """
    kept: dict[tuple[str, int, int], list[NamedRun]] = {}
    copies = []
    for named in runs:
        record, trials = named.run.record, named.run.trials
        like = kept.setdefault((record.begun_at, record.seed, len(trials)), [])
        original = next((each for each in like if trials and each.run.trials == trials), None)
        if original is None:
            like.append(named)
        else:
            copies.append(f"{named.name}: it contains the same trials as {original.name}")
    return [named for like in kept.values() for named in like], copies


def series_of(runs: Sequence[NamedRun]) -> tuple[CellHistory, ...]:
    """Return the history of every cell. The runs must be sorted as `in_order` does."""
    points: dict[_Key, list[Point]] = {}
    last: dict[_Key, tuple[int, Measured]] = {}
    earlier = EarlierAmong(named.run for named in runs)
    for number, named in enumerate(runs):
        here = {(*named.campaign, cell.key): cell for cell in named.run.cells}
        found = {key: earlier.measured(named.run, cell.key, cell.metric) for key, cell in here.items()}
        now = {key: each for key, each in found.items() if isinstance(each, Measured)}
        changes = _changes(now, last, runs, earlier)
        for key, cell in here.items():
            reason = found[key]
            remarks = () if isinstance(reason, str) else tuple(filter(None, (reason.untested, *reason.remarks)))
            point = Point(number, cell, reason if isinstance(reason, str) else "", changes.get(key), remarks)
            points.setdefault(key, []).append(point)
        last |= {key: (number, each) for key, each in now.items()}
    return tuple(
        CellHistory(campaign, machine, key.layout_in_state, key.workload, own[0].cell.metric, tuple(own))
        for (campaign, machine, key), own in points.items()
    )


def _changes(
    now: Mapping[_Key, Measured],
    last: Mapping[_Key, tuple[int, Measured]],
    runs: Sequence[NamedRun],
    earlier: EarlierAmong,
) -> dict[_Key, ChangePoint]:
    """Compare each cell with its latest earlier result.

    As in `compare`, all cells that are compared with the same earlier run are tested together.
    """
    groups: dict[int, dict[_Key, tuple[Measured, Measured]]] = {}
    for key, each in now.items():
        if key in last and last[key][1].metric == each.metric:
            since, before = last[key]
            groups.setdefault(since, {})[key] = each, before
    found: dict[_Key, ChangePoint] = {}
    for since, group in groups.items():
        known = earlier.of(runs[since].run)
        differences = known.all_apart(list(group.values()), same_run=False)
        for key, apart, decision in zip(group, differences, decide(differences, LEAST_EFFECT), strict=True):
            count = known.variance([group[key][0].metric]).runs
            found[key] = ChangePoint(decision, apart.interval, since, count)
    return found


def differences_before(runs: Sequence[NamedRun]) -> Iterator[tuple[str, ...]]:
    """For each run, yield its differences from the previous run of the same campaign on the same machine."""
    before: dict[tuple[str, str], LoadedRun] = {}
    for named in runs:
        earlier = before.get(named.campaign)
        found = run_differences(earlier, named.run) if earlier is not None else ()
        yield tuple(f"{each.what}: {each.a} → {each.b}" for each in found)
        before[named.campaign] = named.run


def history_chart(points: Sequence[Mapping[str, Any]], metric: MetricId) -> Any:
    """Return the chart of a cell's history: the metric against the date, on a y axis that starts at 0.

    Confidence intervals are drawn as bars, changes as triangles, and unreliable results as hollow points. Each point
    has the fields of `RESULT`, plus `begun_at`, `run`, `versions` and `change` (`slower`, `faster` or empty).
    """
    days = alt.Axis(labelOverlap=True, tickCount=8, labelExpr=_DAY_OR_TIME)
    y = alt.Y("value:Q", title=title(metric), axis=alt.Axis(labelExpr=label_expression(metric), tickCount=5))
    base = alt.Chart().encode(
        x=alt.X("begun_at:T", title=None, axis=days, scale=alt.Scale(nice=True)),
        color=alt.value(look.SERIES[0]),
        tooltip=look.tooltips("run", "begun_at", "versions", "text", "verdict", "change"),
    )
    reliable = base.transform_filter(IS_RELIABLE)
    unreliable = base.transform_filter(f"!({IS_RELIABLE})")
    bars = base.transform_filter("datum.low !== null").mark_rule(strokeWidth=5, opacity=0.3)
    layers = [bars.encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q")), reliable.mark_line(strokeWidth=2).encode(y=y)]
    layers += [
        group.transform_filter("datum.change === ''")
        .mark_point(filled=filled, size=60, strokeWidth=1.8, opacity=1)
        .encode(y=y)
        for group, filled in ((reliable, True), (unreliable, False))
    ]
    layers += [
        base.transform_filter(f"datum.change === '{word}'")
        .mark_point(filled=True, size=190, opacity=1, shape=shape)
        .encode(y=y, color=alt.value(colour))
        for word, shape, colour in (("slower", "triangle-down", _WORSE), ("faster", "triangle-up", _BETTER))
    ]
    return alt.layer(*layers).properties(width=760, height=320, data=alt.InlineData(values=list(points)))


def _run(named: NamedRun, changed: Sequence[str]) -> dict[str, Any]:
    record = named.run.record
    return {
        "name": named.name,
        "begun_at": record.begun_at,
        "host": record.host,
        "versions": versions_text(record, f"OpenZFS {record.lab.zfs}" if record.lab else ""),
        "changed": changed,
    }


def _point(point: Point, metric: MetricId) -> tuple[Any, ...]:
    """Return a point's values for `_COLUMNS`, as a tuple because an object would take much more space on the page."""
    cell, change = point.cell, point.change
    nothing = (None, None, None, cell.counts, False, False, result_text(cell, metric), cell.result().verdict)
    result = result_row(cell, metric) or nothing
    word, factor = (change.decision.word, speed_text(change.speed)) if change else ("", "")
    return point.run, *result, point.reason or "; ".join(point.remarks), word, factor
