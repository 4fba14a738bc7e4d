"""Export a run's charts as PNG or SVG files, in one folder per access mode, such as `async/randread`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from poolproof.campaign.model import Workload
from poolproof.campaign.names import slug
from poolproof.load.generator import described
from poolproof.metrics import MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.metric_scale import intervals_text
from poolproof.presentation.charts.model import (
    Chart,
    MetricChart,
    Row,
    RunChart,
    Scale,
    TrialChart,
    all_charts,
    filled,
    specification,
)
from poolproof.presentation.export.rows import mode_of, sync_of
from poolproof.presentation.terminal.visible import visible_texts
from poolproof.presentation.terminal.words import emulated_legend, versions_text
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.results.runs.loading import LoadedRun, distinct_metrics
from poolproof.units import format_number_of

_PNG_SCALE = 2.0
_CURVE_SIZE = {"width": 620, "height": 380}
_FIGURE_SIZE = {"width": 620}
_PADDING = 14


@dataclass(frozen=True)
class Picture:
    """A chart to export, and its file's path without extension, for example `async/randread/randread-async-iops`."""

    place: PurePosixPath
    chart: Any
    size: Mapping[str, int]


def pictures(run: LoadedRun, scale: Scale = "log") -> Iterator[Picture]:
    """Yield the pictures of every metric, then those of all other charts with `in_pictures` set.

    Long names are shortened in the paths. If a path is already taken, a number is appended.
    """
    places: Counter[PurePosixPath] = Counter()
    for picture in _all_pictures(run, scale):
        places[picture.place] += 1
        number = places[picture.place]
        unique = picture.place if number == 1 else picture.place.with_name(f"{picture.place.name}-{number}")
        yield replace(picture, place=unique)


def _all_pictures(run: LoadedRun, scale: Scale) -> Iterator[Picture]:
    shown = [chart for chart in all_charts() if chart.in_pictures]
    for metric in distinct_metrics(run.cells):
        for chart in shown:
            if isinstance(chart, MetricChart):
                yield from _of_metric(run, chart, metric, scale)
    for chart in shown:
        if isinstance(chart, RunChart):
            yield from _of_run(run, chart)
        elif not isinstance(chart, MetricChart):
            yield from _of_cells(run, chart)


def drawn(picture: Picture, kind: str) -> bytes:
    """Render a picture and return the contents of its file. `kind`: `png` or `svg`."""
    import vl_convert

    specification = visible_texts(look.dressed(picture.chart))  # XML does not allow control characters
    if picture.size:
        specification["spec"].update(picture.size)
    facet = specification.get("facet", {})
    if facet.get("field") in ("panel", "workload"):
        facet["header"] = {"labels": False}  # the title contains the name
    specification["padding"] = _PADDING
    if kind == "svg":
        text: str = vl_convert.vegalite_to_svg(specification)
        return text.encode()
    image: bytes = vl_convert.vegalite_to_png(specification, scale=_PNG_SCALE)
    return image


def _of_metric(run: LoadedRun, chart: MetricChart, metric: MetricId, scale: Scale) -> Iterator[Picture]:
    """Yield one picture for each combination of `panel` and `rest`, or for each workload if the chart has no panels."""
    fields = [column.field for column in chart.columns]
    by = [fields.index(field) for field in (("panel", "rest") if "panel" in fields else ("workload",))]
    workload_at = fields.index("workload")
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in chart.rows(run, metric):
        groups.setdefault(tuple(row[index] for index in by), []).append(row)
    several = len({workload.family for workload in run.campaign.workloads}) > 1
    for (what, *group), rows in groups.items():
        names = {row[workload_at] for row in rows}
        workload = next(workload for workload in run.campaign.workloads if workload.name in names)
        rest = group[0].removeprefix(workload.family).removeprefix(", ") if group else ""
        distinct = (workload.family if several else "", rest.replace("=", "-")) if group else (what,)
        intervals = intervals_text((cell for cell in run.cells if cell.workload in names), metric, run.campaign.measure)
        title = _title(run, ", ".join(part for part in (what, rest) if part), chart.records(rows), intervals)
        drawn_chart = specification(chart, rows, run, metric=metric, scale=scale)
        place = _folder(workload, distinct, metric.replace("_", "-"))
        yield Picture(place, drawn_chart.properties(title=title), _CURVE_SIZE if group else _FIGURE_SIZE)


def _of_run(run: LoadedRun, chart: RunChart) -> Iterator[Picture]:
    """Yield one picture for each workload if the rows have a `workload` column, otherwise a single picture."""
    rows, fields = chart.rows(run), [column.field for column in chart.columns]
    if "workload" not in fields:
        if rows:
            made = specification(chart, rows, run)
            yield Picture(PurePosixPath(chart.name), made.properties(title=_headed(run, chart.title, "")), {})
        return
    for workload in run.campaign.workloads:
        own = [row for row in rows if row[fields.index("workload")] == workload.name]
        if own:
            made, title = specification(chart, own, run), _headed(run, workload.name, chart.title)
            yield Picture(_folder(workload, (workload.name,), chart.name), made.properties(title=title), {})


def _of_cells(run: LoadedRun, chart: Chart) -> Iterator[Picture]:
    for cell in run.cells:
        workload, made = run.workload(cell.workload), filled(chart, run, cell)
        if workload is not None and made is not None:
            shown = made.title if isinstance(chart, TrialChart) else chart.title  # the title names the trial
            place = _folder(workload, (cell.workload, cell.layout_in_state), chart.name)
            yield Picture(place, made.properties(title=_headed(run, str(cell.key), shown)), {})


def _folder(workload: Workload, distinct: Sequence[str], what: str) -> PurePosixPath:
    part = described(workload.name, dict(workload.jobs[0].options))
    sync, mode = sync_of(part), mode_of(part)
    parts = (mode, sync, *map(slug, distinct), what)
    return PurePosixPath(sync) / mode / "-".join(part for part in parts if part)


def _title(run: LoadedRun, what: str, results: Sequence[Mapping[str, Any]], intervals: str) -> dict[str, object]:
    """Return a title that explains the picture on its own, because pictures are often shared without the report."""
    rejected = sum(not result["counts"] for result in results)
    not_converged = sum(result["unsettled"] and result["counts"] for result in results)
    few = sum(result["few"] and result["counts"] and not result["unsettled"] for result in results)
    doubtful = Counter(result["verdict"] for result in results if result["verdict"] in ("suspect", "unproven"))
    marks = f"bars: {intervals}"
    marks += "".join(f"; {count} {verdict}" for verdict, count in doubtful.items())
    marks += f"; hollow: {rejected} refuted or failed, do not use" if rejected else ""
    marks += f"; hollow without a bar: {not_converged} not converged, approximate" if not_converged else ""
    percentiles = format_number_of(few, "percentile")
    marks += f"; hollow without a bar: {percentiles} with {TOO_FEW}, not ranked or compared" if few else ""
    return _headed(run, what, marks)


def _headed(run: LoadedRun, what: str, how_to_read: str) -> dict[str, object]:
    record = run.record
    made_by = versions_text(record, record.begun_at[:10])
    title, emulated = f"{run.campaign.name}: {what}", emulated_legend(run.cells).removeprefix("* ")
    subtitle = [how_to_read, made_by, *([emulated] if emulated else [])]
    return {"text": title, "subtitle": subtitle, "subtitlePadding": 4, "offset": 12}
