"""The charts of a run as PNG or SVG, one file for each metric, in folders by sync or async and by mode."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from poolproof.campaign.model import Workload
from poolproof.campaign.names import slug
from poolproof.load.generators import described, generator_versions
from poolproof.metrics import COMPARABLE, MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import AxisPosition, places
from poolproof.presentation.charts.catalogue import all_charts, filled, with_rows
from poolproof.presentation.charts.curves import CurvePoint, Scale, curve_points, curves
from poolproof.presentation.charts.figures import FigurePoint, figure_points, figures
from poolproof.presentation.charts.metrics import intervals_text
from poolproof.presentation.charts.model import Chart, RunChart
from poolproof.presentation.export.rows import mode_of, sync_of
from poolproof.results.runs.loading import LoadedRun, metrics_of
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import counts

_PNG_SCALE = 2.0
_CURVE_SIZE = {"width": 620, "height": 380}
_FIGURE_SIZE = {"width": 620}
_PADDING = 14


@dataclass(frozen=True)
class Picture:
    """A chart and the path of its file without an extension: `async/randread/randread-async-iops`."""

    place: PurePosixPath
    chart: Any
    size: Mapping[str, int]


def pictures(run: LoadedRun, scale: Scale = "log") -> Iterator[Picture]:
    """Yield curves for each mode if there is an axis, otherwise results for each workload; then all other charts."""
    cells = run.cells
    placed = places(run.campaign.workloads)
    measured = metrics_of(cells)
    for metric in (metric for metric in COMPARABLE if metric in measured):
        for family in _families(run):
            yield from _curves(run, family, cells, metric, scale)
        for workload in run.campaign.workloads:
            if workload.name not in placed:
                yield from _figures(run, workload, cells, metric)
    for chart in all_charts():
        if chart.in_pictures:
            yield from _of_run(run, chart) if isinstance(chart, RunChart) else _of_cells(run, chart)


def drawn(picture: Picture, kind: str) -> bytes:
    """Return the content of the file; `kind` is `png` or `svg`."""
    import vl_convert

    specification = look.dressed(picture.chart)
    if picture.size:
        specification["spec"].update(picture.size)
    facet = specification.get("facet", {})
    if facet.get("field") in ("panel", "workload"):
        facet["header"] = {"labels": False}  # the title has the name
    specification["padding"] = _PADDING
    if kind == "svg":
        text: str = vl_convert.vegalite_to_svg(specification)
        return text.encode()
    image: bytes = vl_convert.vegalite_to_png(specification, scale=_PNG_SCALE)
    return image


def _curves(run: LoadedRun, family: str, cells: Sequence[Cell], metric: MetricId, scale: Scale) -> Iterator[Picture]:
    """Yield one picture for each mode and for each value of the other varied options."""
    own = [workload for workload in run.campaign.workloads if workload.family == family]
    placed = places(own)
    for panel, rest in dict.fromkeys((place.panel, place.rest) for place in placed.values()):
        members = [each for each in own if each.name in placed and _is(placed[each.name], panel, rest)]
        names = {workload.name for workload in members}
        drawn_cells = [cell for cell in cells if cell.workload in names]
        points = curve_points(drawn_cells, members, metric)
        if not points:
            continue
        chart = curves(points, metric, layouts=_layouts(run), workloads=members, scale=scale, columns=1)
        what = ", ".join(part for part in (panel, rest) if part)
        title = _title(run, what, points, intervals_text(drawn_cells, metric, run.campaign.measure))
        distinct = (family if len(_families(run)) > 1 else "", rest.replace("=", "-"))
        yield Picture(_place(members[0], distinct, metric), chart.properties(title=title), _CURVE_SIZE)


def _figures(run: LoadedRun, workload: Workload, cells: Sequence[Cell], metric: MetricId) -> Iterator[Picture]:
    own = [cell for cell in cells if cell.workload == workload.name]
    points = figure_points(own, metric)
    if points:
        chart = figures(points, metric, layouts=_layouts(run), columns=1)
        title = _title(run, workload.name, points, intervals_text(own, metric, run.campaign.measure))
        yield Picture(_place(workload, (workload.name,), metric), chart.properties(title=title), _FIGURE_SIZE)


def _of_run(run: LoadedRun, chart: RunChart) -> Iterator[Picture]:
    """Yield one picture for each workload if the rows have a workload, else one."""
    rows, fields = chart.rows(run), [column.field for column in chart.columns]
    if "workload" not in fields:
        made = with_rows(chart, rows, run)
        if made is not None:
            yield Picture(PurePosixPath(chart.name), made.properties(title=_headed(run, chart.title, "")), {})
        return
    for workload in run.campaign.workloads:
        made = with_rows(chart, [row for row in rows if row[fields.index("workload")] == workload.name], run)
        if made is not None:
            title = _headed(run, workload.name, chart.title)
            yield Picture(_folder(workload, (workload.name,), chart.name), made.properties(title=title), {})


def _of_cells(run: LoadedRun, chart: Chart) -> Iterator[Picture]:
    """Yield one picture for each cell."""
    for cell in run.cells:
        workload, made = run.workload(cell.workload), filled(chart, run, cell)
        if workload is not None and made is not None:
            title = _headed(run, f"{cell.workload} on {cell.layout}", chart.title)
            place = _folder(workload, (cell.workload, cell.layout), chart.name)
            yield Picture(place, made.properties(title=title), {})


def _is(place: AxisPosition, panel: str, rest: str) -> bool:
    return (place.panel, place.rest) == (panel, rest)


def _place(workload: Workload, distinct: Sequence[str], metric: MetricId) -> PurePosixPath:
    return _folder(workload, distinct, metric.replace("_", "-"))


def _folder(workload: Workload, distinct: Sequence[str], what: str) -> PurePosixPath:
    part = described(workload.name, dict(workload.jobs[0].options))
    sync, mode = sync_of(part), mode_of(part)
    parts = (mode, sync, *map(slug, distinct), what)
    return PurePosixPath(sync) / mode / "-".join(part for part in parts if part)


def _title(run: LoadedRun, what: str, points: Sequence[CurvePoint | FigurePoint], intervals: str) -> dict[str, object]:
    """Return a title with everything that a reader needs, because pictures are shared without the report."""
    rejected = sum(not counts(point.verdict) for point in points)
    unsettled = sum(point.unsettled and counts(point.verdict) for point in points)
    marks = f"bars: {intervals}"
    marks += f"; hollow: {rejected} refuted or failed, do not use" if rejected else ""
    marks += f"; hollow without a bar: {unsettled} unsettled, approximate" if unsettled else ""
    return _headed(run, what, marks)


def _headed(run: LoadedRun, what: str, how_to_read: str) -> dict[str, object]:
    record = run.record
    made = [f"poolproof {record.poolproof}", *generator_versions(record.versions), record.facts.get("kernel", "")]
    made_by = ", ".join(part for part in (*made, record.begun_at[:10]) if part)
    return {
        "text": f"{run.campaign.name}: {what}",
        "subtitle": [how_to_read, made_by],
        "subtitlePadding": 4,
        "offset": 12,
    }


def _layouts(run: LoadedRun) -> list[str]:
    return [layout.name for layout in run.campaign.layouts]


def _families(run: LoadedRun) -> list[str]:
    return list(dict.fromkeys(workload.family for workload in run.campaign.workloads))
