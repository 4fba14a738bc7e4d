"""The cells of a run as the page's script reads them: numbers, texts, colours of the map, flows and chart rows."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from poolproof.evidence.account import BELOW, DEVICE, FIO
from poolproof.evidence.model import Level
from poolproof.metrics import COMPARABLE, LOWER_IS_BETTER, MetricId
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import panels, places
from poolproof.presentation.charts.catalogue import charts_of
from poolproof.presentation.charts.metrics import axis_value, drawn_of, figure_words
from poolproof.presentation.charts.model import CellChart
from poolproof.presentation.charts.trial_data import short
from poolproof.presentation.html_report.flow import ByteFlow, flows
from poolproof.presentation.terminal.words import MARKS, trial_text
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import Finding

_BARE_INK = "#8b949e"


def metrics_measured(cells: Sequence[Cell]) -> tuple[MetricId, ...]:
    """Return the metrics that some cell has, the campaign's own first."""
    own = dict.fromkeys(cell.metric for cell in cells)
    found = [metric for metric in COMPARABLE if any(cell.values(metric) for cell in cells)]
    return tuple(sorted(found, key=lambda metric: (metric not in own, COMPARABLE.index(metric))))


def columns(seen: LoadedRun) -> list[dict[str, Any]]:
    """Return the workloads in the order of the map: those of one panel next to each other, along their axis."""
    placed = places(seen.campaign.workloads)
    order = {panel: number for number, panel in enumerate(panels(placed.values()))}
    families = list(dict.fromkeys(workload.family for workload in seen.campaign.workloads))
    rows: list[tuple[Any, dict[str, Any]]] = []
    for number, workload in enumerate(seen.campaign.workloads):
        place = placed.get(workload.name)
        rest = f", {place.rest}" if place and place.rest else ""
        key = (
            families.index(workload.family),
            place.rest if place else "",
            order[place.panel] if place else 0,
            place.order if place else number,
        )
        row = {
            "workload": number,
            "group": f"{place.panel}{rest}" if place else "",
            "family": workload.family,
            "label": place.at if place else workload.name,
            "panel": place.panel if place else "",
            "rest": f"{workload.family}{rest}" if place else "",
            "at": place.at if place else "",
            "order": place.order if place else 0,
        }
        rows.append((key, row))
    return [row for _, row in sorted(rows, key=lambda each: each[0])]


def cell_rows(
    seen: LoadedRun, cells: Sequence[Cell], finding_number: Mapping[tuple[str, ...], int]
) -> list[dict[str, Any]]:
    """Return each cell: position, figure, verdict, colour, flow of bytes, chart rows and findings.

    All cells belong to the campaign. `u` is why the cell did not settle, if it did not.
    """
    layouts = {layout.name: number for number, layout in enumerate(seen.campaign.layouts)}
    workloads = {workload.name: number for number, workload in enumerate(seen.campaign.workloads)}
    metrics = metrics_measured(cells)
    return [
        {
            "l": layouts[cell.layout],
            "w": workloads[cell.workload],
            "v": cell.verdict,
            "k": MARKS[cell.verdict],
            "s": short(tile.share),
            "c": None if tile.depth is None else heat_colour(tile.depth),
            "i": tile.ink,
            "f": _figure_text(cell),
            **_unsettled(cell),
            "m": {metric: _values(cell, metric) for metric in metrics if cell.values(metric)},
            "t": [[trial.number, MARKS[trial.verdict], trial_text(trial)] for trial in cell.trials],
            "flows": [_flow(flow) for flow in flows(cell)],
            "charts": {chart.name: chart.rows(cell) for chart in charts_of(CellChart)},
            "levels": _levels(seen, cell),
            "x": [finding_number[finding_key(finding)] for finding in cell.findings],
        }
        for cell, tile in zip(cells, tiles(cells), strict=True)
    ]


def finding_key(finding: Finding) -> tuple[str, ...]:
    """Return what makes two findings the same to a reader."""
    return finding.rule, finding.effect, finding.message, finding.fix


def _figure_text(cell: Cell) -> str:
    """Return the figure in words; a refuted one is in brackets."""
    text = figure_words(cell, cell.metric)
    return f"[{text}]" if cell.verdict == "refuted" and cell.figure is not None else text


def _unsettled(cell: Cell) -> dict[str, list[list[str]]]:
    """Return name and sentence of each reason; nothing for a figure that settled or that does not exist."""
    if cell.settling is None or cell.settling.converged or cell.figure is None:
        return {}
    return {"u": [[each.name, each.sentence] for each in cell.settling.reasons]}


def _values(cell: Cell, metric: MetricId) -> list[float | None]:
    """Return mean, low and high in the unit of the axis; if it did not settle, also the range of its trials.

    The range is None for a single trial.
    """
    figure, values = drawn_of(cell, metric), cell.values(metric)
    assert figure is not None, "called only for metrics that were measured"
    bounds: tuple[float | None, ...] = (figure.mean, figure.low, figure.high)
    if cell.is_unsettled:
        bounds += (min(values), max(values)) if len(values) > 1 else (None, None)
    return [None if each is None else short(axis_value(each, metric)) for each in bounds]


def _flow(flow: ByteFlow) -> dict[str, Any]:
    made = asdict(flow)
    for key in ("lost_bytes", "kept_bytes", "extra_bytes"):
        made[key] = round(made[key])
    made["leaves"] = [[leaf.device, leaf.moved_bytes, leaf.late_bytes, leaf.below] for leaf in flow.leaves]
    return {key: value for key, value in made.items() if value not in ("", 0)} | {"fio_bytes": flow.fio_bytes}


class _Evidence(msgspec.Struct):
    """The part of evidence.json that is read here."""

    levels: tuple[Level, ...] = ()


def _levels(seen: LoadedRun, cell: Cell) -> list[Any]:
    """Return what passed each layer between fio and the disks, in the first trial in which any was counted.

    The result is the trial's number, then for each layer its kind, its name, bytes read and bytes written (with the
    drain, if that was counted); empty if no layer was counted.
    """
    for trial in cell.trials:
        levels = _read_levels(seen.trial_file(trial, "evidence.json"))
        between = [level for level in levels if level.layer not in (FIO, DEVICE, BELOW)]
        if between:
            return [trial.number, [_level(level) for level in sorted(between, key=lambda level: level.depth)]]
    return []


def _level(level: Level) -> list[Any]:
    written = level.write_bytes if level.drained_write_bytes is None else level.drained_write_bytes
    return [level.layer, level.name, level.read_bytes, written]


def _read_levels(path: Path) -> tuple[Level, ...]:
    """Return the levels in the file; none if it is missing or damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Evidence).levels
    except (OSError, msgspec.DecodeError):
        return ()


@dataclass(frozen=True)
class Tile:
    """A cell of the map. `share` is of the best figure of its workload, from 0 to 1, also if lower is better.

    It is None if no figure counts, and if the cell did not settle but would be better than all that did. `depth` is the
    number of powers of ten below the best, at most `look.HEAT_DECADES`; `ink` is the colour of the mark.
    """

    share: float | None
    depth: float | None
    ink: str


def tiles(cells: Sequence[Cell]) -> tuple[Tile, ...]:
    """Return the tile of each cell.

    A cell that did not settle is compared with those that did, and never coloured as the best of them. If no cell of a
    workload settled, as in a grid of short trials, they are compared with the best of themselves.
    """
    best = _best(cells)
    settled = {cell.workload for cell in cells if _counts(cell) and not cell.is_unsettled}
    return tuple(_tile(cell, best.get(cell.workload), among_settled=cell.workload in settled) for cell in cells)


def heat_colour(depth: float) -> str:
    """Return the colour of a depth, linear in RGB between the stops."""
    place = min(max(depth / look.HEAT_DECADES, 0.0), 1.0) * (len(look.HEAT) - 1)
    lower = min(int(place), len(look.HEAT) - 2)
    ends = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in look.HEAT[lower : lower + 2]]
    mixed = [round(a + (b - a) * (place - lower)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """Return white or near-black, whichever is more readable on the colour (WCAG 2.2, relative luminance)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#1b1f24"


def _best(cells: Iterable[Cell]) -> dict[str, float]:
    """Return the best figure of each workload that counts and settled; if none settled, the best of the others."""
    settled: dict[str, float] = {}
    others: dict[str, float] = {}
    for cell in filter(_counts, cells):
        best, speed = others if cell.is_unsettled else settled, _speed(cell)
        best[cell.workload] = max(best.get(cell.workload, speed), speed)
    return others | settled


def _tile(cell: Cell, best: float | None, *, among_settled: bool) -> Tile:
    share = _speed(cell) / best if best is not None and _counts(cell) else None
    if share is not None and cell.is_unsettled and among_settled and (short(share) or 0) >= 1:
        share = None
    depth = None if share is None else min(-math.log10(share), look.HEAT_DECADES)
    return Tile(share, depth, _BARE_INK if depth is None else ink_on(heat_colour(depth)))


def _counts(cell: Cell) -> bool:
    return cell.counts and cell.figure is not None and cell.figure.mean > 0


def _speed(cell: Cell) -> float:
    """Return the figure, inverted if lower is better."""
    assert cell.figure is not None, "called only for cells with a figure"
    return 1 / cell.figure.mean if cell.metric in LOWER_IS_BETTER else cell.figure.mean
