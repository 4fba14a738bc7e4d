"""The cells of a run as the page's script reads them: columns of numbers, names and texts once each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from poolproof.metrics import COMPARABLE, MetricId
from poolproof.presentation.charts.axis_positions import panels, places
from poolproof.presentation.charts.latency import PERCENTILES, latency_points
from poolproof.presentation.charts.metrics import axis_value, drawn_of, figure_words
from poolproof.presentation.charts.shares import disk_shares
from poolproof.presentation.html_report.flow import ByteFlow, flows
from poolproof.presentation.html_report.map import Tile, heat_colour, tiles
from poolproof.presentation.html_report.numbers import short
from poolproof.presentation.html_report.on_the_way import on_the_way
from poolproof.presentation.html_report.reading import LoadedRun
from poolproof.presentation.terminal.words import MARKS, trial_text
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import Finding


def metrics_measured(cells: Sequence[Cell]) -> tuple[MetricId, ...]:
    """The metrics of which some cell has a figure, the campaign's own first."""
    own = dict.fromkeys(cell.metric for cell in cells)
    found = [metric for metric in COMPARABLE if any(cell.values_of(metric) for cell in cells)]
    return tuple(sorted(found, key=lambda metric: (metric not in own, COMPARABLE.index(metric))))


def columns(seen: LoadedRun) -> list[dict[str, Any]]:
    """The workloads in the order of the map: those of one panel side by side, along their axis."""
    placed = places(seen.campaign.workloads)
    order = {panel: number for number, panel in enumerate(panels(placed.values()))}
    families = list(dict.fromkeys(workload.family for workload in seen.campaign.workloads))
    rows: list[dict[str, Any]] = []
    for number, workload in enumerate(seen.campaign.workloads):
        place = placed.get(workload.name)
        rest = f", {place.rest}" if place and place.rest else ""
        rows.append(
            {
                "workload": number,
                "group": f"{place.panel}{rest}" if place else "",
                "family": workload.family,
                "label": place.at if place else workload.name,
                "panel": place.panel if place else "",
                "rest": f"{workload.family}{rest}" if place else "",
                "at": place.at if place else "",
                "order": place.order if place else 0,
                "key": (
                    families.index(workload.family),
                    place.rest if place else "",
                    order[place.panel] if place else 0,
                    place.order if place else number,
                ),
            }
        )
    rows.sort(key=lambda row: row["key"])
    return [{key: value for key, value in row.items() if key != "key"} for row in rows]


def cell_rows(
    seen: LoadedRun, cells: Sequence[Cell], finding_number: Mapping[tuple[str, ...], int]
) -> list[dict[str, Any]]:
    """Each cell: where it stands, its figure, verdict and colour, the flow of its bytes, its disks, its findings.

    Every one is of the campaign. `u`: why it did not settle, where it did not.
    """
    layouts = {layout.name: number for number, layout in enumerate(seen.campaign.layouts)}
    workloads = {workload.name: number for number, workload in enumerate(seen.campaign.workloads)}
    metrics = metrics_measured(cells)
    return [
        {
            "l": layouts[cell.layout],
            "w": workloads[cell.workload],
            **_tile(tile),
            "f": figure_text(cell),
            **_unsettled(cell),
            "m": {metric: _values(cell, metric) for metric in metrics if cell.values_of(metric)},
            "t": [_trial(trial_number, cell) for trial_number in range(len(cell.trials))],
            "flows": [_flow(flow) for flow in flows(cell)],
            "shares": [[row.disk, row.what, short(row.share), row.note] for row in disk_shares(cell)],
            "requests": {leaf.device: short(leaf.latency_s) for leaf in cell.leaves if leaf.latency_s is not None},
            "lat": _latencies(cell),
            "way": _way(seen, cell),
            "x": [finding_number[finding_key(finding)] for finding in cell.findings],
        }
        for cell, tile in zip(cells, tiles(cells), strict=True)
    ]


def finding_key(finding: Finding) -> tuple[str, ...]:
    """What makes two findings the same to a reader."""
    return finding.rule, finding.effect, finding.message, finding.fix


def figure_text(cell: Cell) -> str:
    """A figure that must not be believed stands in parentheses."""
    text = figure_words(cell, cell.metric)
    return f"[{text}]" if cell.verdict == "refuted" and cell.figure is not None else text


def _unsettled(cell: Cell) -> dict[str, list[list[str]]]:
    """Name and sentence of each reason; nothing for a figure that settled, or had nothing to settle."""
    if cell.settling is None or cell.settling.converged or cell.figure is None:
        return {}
    return {"u": [[each.name, each.sentence] for each in cell.settling.reasons]}


def _tile(tile: Tile) -> dict[str, Any]:
    colour = None if tile.depth is None else heat_colour(tile.depth)
    return {"v": tile.verdict, "k": tile.mark, "s": short(tile.share), "c": colour, "i": tile.ink}


def _way(seen: LoadedRun, cell: Cell) -> list[Any]:
    """The trial's number, then layer, name, bytes read and bytes written (once flushed, where that was counted)."""
    found = on_the_way(seen, cell)
    if found is None:
        return []
    levels = [
        [
            level.layer,
            level.name,
            level.read_bytes,
            level.write_bytes if level.drained_write_bytes is None else level.drained_write_bytes,
        ]
        for level in found.levels
    ]
    return [found.trial, levels]


def _values(cell: Cell, metric: MetricId) -> list[float | None]:
    """Mean, low and high in the unit of the axis; of what did not settle also the least and the most of its trials.

    These are None where it has one trial.
    """
    figure, values = drawn_of(cell, metric), cell.values_of(metric)
    assert figure is not None, "asked only of metrics that were measured"
    bounds: tuple[float | None, ...] = (figure.mean, figure.low, figure.high)
    if cell.is_unsettled:
        bounds += (min(values), max(values)) if len(values) > 1 else (None, None)
    return [None if each is None else short(axis_value(each, metric)) for each in bounds]


def _latencies(cell: Cell) -> list[list[Any]]:
    """For each percentile that was measured: its name's number, then the seconds of each trial."""
    found: dict[str, list[Any]] = {}
    for point in latency_points([cell]):
        found.setdefault(point.percentile, []).append([int(point.trial.rpartition(" ")[2]), short(point.seconds)])
    return [[PERCENTILES.index(name), values] for name, values in found.items()]


def _trial(number: int, cell: Cell) -> list[Any]:
    """Number, verdict and figure of one trial."""
    trial = cell.trials[number]
    return [trial.number, MARKS[trial.verdict], trial_text(trial)]


def _flow(flow: ByteFlow) -> dict[str, Any]:
    made = asdict(flow)
    for key in ("lost_bytes", "kept_bytes", "extra_bytes"):
        made[key] = round(made[key])
    made["leaves"] = [[leaf.device, leaf.moved_bytes, leaf.late_bytes, leaf.below] for leaf in flow.leaves]
    return {key: value for key, value in made.items() if value not in ("", 0)} | {"fio_bytes": flow.fio_bytes}
