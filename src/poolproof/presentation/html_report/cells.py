"""A run's cells as data for the report's script: numbers, strings, colours, byte flows and chart rows."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from poolproof.campaign.cell_key import CellKey
from poolproof.evidence.account import BELOW, DEVICE, FIO
from poolproof.evidence.model import Level
from poolproof.metrics import LOWER_IS_BETTER, MetricId, metric_of
from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.axis_positions import panels, places
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.charts.model import CellChart, Row, TrialChart, charts_of
from poolproof.presentation.charts.trial_data import TrialData, has_samples, median_first, short, trial_data
from poolproof.presentation.html_report.byte_flow import ByteFlow, flows
from poolproof.presentation.terminal.words import MARKS, trial_text
from poolproof.results.runs.loading import LoadedRun, distinct_metrics
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import Finding
from poolproof.units import format_number_of
from poolproof.verdicts import WORST_FIRST

MOST_POINTS, FEWEST_POINTS = 200, 40
_ROOM = 210_000
"""The maximum number of values in all trial charts together. This many values add about 1 MB to the page."""
_OVER = 1.3
"""The tolerance for charts that contain more values than they declared.

Trials are omitted if the total exceeds `_ROOM` × `_OVER`.
"""
_ALL_TRIALS_UP_TO = 150
_INK_WITHOUT_COLOUR = "#8b949e"


def metrics_measured(cells: Sequence[Cell]) -> tuple[MetricId, ...]:
    """Return the metrics that were measured, starting with those by which workloads are compared."""
    own = {cell.metric for cell in cells}
    return tuple(sorted(distinct_metrics(cells), key=lambda metric: metric not in own))


def columns(run: LoadedRun) -> list[dict[str, Any]]:
    """Return the columns of the results map: the workloads, grouped by panel and sorted by axis position."""
    workloads = run.campaign.workloads
    placed = places(workloads)
    order = panels(placed.values())
    families = list(dict.fromkeys(workload.family for workload in workloads))
    rows: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for number, workload in enumerate(workloads):
        key: tuple[Any, ...] = (families.index(workload.family), "", 0, number)
        row = {"workload": number, "family": workload.family, "label": workload.name, "group": "", "panel": ""}
        if place := placed.get(workload.name):
            key = (key[0], place.rest, order.index(place.panel), place.order)
            group = f"{place.panel}, {place.rest}" if place.rest else place.panel
            row |= {"label": place.at, "group": group, "panel": place.panel, "rest": place.group}
        rows.append((key, row))
    return [row for _, row in sorted(rows, key=lambda each: each[0])]


def cell_rows(
    run: LoadedRun, cells: Sequence[Cell], finding_number: Mapping[tuple[str, ...], int]
) -> list[dict[str, Any]]:
    """Return one object per cell with its position, result, verdict, colour, byte flows, chart rows and findings.

    All cells must belong to the campaign. `x` lists the numbers of the findings on the workload's own metric. To keep
    the pages of large runs small, the following keys are omitted if empty:

    - `levels`: the bytes moved by each layer, as returned by `_levels`
    - `o`: the other metrics with a different verdict, that verdict, and the numbers of its findings
    - `u`: for each reason why the result did not converge, its name and a sentence that explains it
    - `r`: remarks about the trials, for example that some have no usable value
    - `e`: a sentence about the missing events, if the result is a percentile with too few of them
    """
    layouts = {layout: number for number, layout in enumerate(run.layouts_in_states)}
    workloads = {workload.name: number for number, workload in enumerate(run.campaign.workloads)}

    def numbers(findings: Iterable[Finding]) -> list[int]:
        return [finding_number[finding_key(finding)] for finding in findings]

    rows = []
    for cell, tile in zip(cells, tiles(cells), strict=True):
        few, settling = cell.few_events(), cell.settling if did_not_converge(cell) else None
        others = cell.distinct_verdicts
        optional = {
            "levels": _levels(run, cell),
            "o": [[_titles(other.metrics), other.verdict, numbers(other.reasons)] for other in others],
            "u": [[each.name, each.sentence] for each in settling.reasons] if settling else [],
            "r": list(cell.remarks()) if cell.usability().can_be_ranked else [],
            "e": few.sentence if few else "",
        }
        row = {
            "l": layouts[cell.layout_in_state],
            "w": workloads[cell.workload],
            "v": cell.result().verdict,
            "s": short(tile.share),
            "c": None if tile.depth is None else heat_colour(tile.depth),
            "i": tile.ink,
            "f": _result_text(cell),
            "t": [[trial.number, MARKS[trial.result().verdict], trial_text(trial)] for trial in cell.all_trials],
            "flows": [_flow(flow) for flow in flows(cell)],
            "charts": {chart.name: packed(chart.rows(cell)) for chart in charts_of(CellChart)},
            "x": numbers(cell.findings_on()),
        }
        rows.append(row | {key: value for key, value in optional.items() if value})
    return rows


def _titles(metrics: Iterable[MetricId]) -> str:
    return ", ".join(metric_of(metric).title for metric in metrics)


def did_not_converge(cell: Cell) -> bool:
    """True if the cell has a result that did not converge."""
    return cell.did_not_converge and cell.figure is not None


def shown_findings(cell: Cell) -> Iterator[Finding]:
    """Yield the findings on the workload's own metric, then those on metrics with a different verdict."""
    yield from cell.findings_on()
    for other in cell.other_verdicts:
        yield from other.reasons


def finding_key(finding: Finding) -> tuple[str, ...]:
    """Return a key that is equal for findings with the same rule, effect, message and fix."""
    return finding.rule, finding.effect, finding.message, finding.fix


def packed(rows: Sequence[Row]) -> list[Any]:
    """Return the rows as columns. A column with many repeated values is stored as distinct values and indexes."""
    return [_column(values) for values in zip(*rows, strict=True)]


def _column(values: Sequence[Any]) -> Any:
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if 2 * len(numbers) > len(values):
        return values
    return [list(numbers), [numbers[value] for value in values]]


def _result_text(cell: Cell) -> str:
    text = result_text(cell, cell.metric)
    return f"[{text}]" if cell.result().verdict == "refuted" and cell.figure is not None else text


def _flow(flow: ByteFlow) -> dict[str, Any]:
    rounded = {key: round(value) if key.endswith("_bytes") else value for key, value in vars(flow).items()}
    return {key: value for key, value in rounded.items() if value not in ("", 0)} | {"fio_bytes": flow.fio_bytes}


class _SavedLevels(msgspec.Struct):
    """The only part of evidence.json that the report needs."""

    levels: tuple[Level, ...] = ()


def _levels(run: LoadedRun, cell: Cell) -> list[Any]:
    """Return the bytes moved by each layer between the load and the disks, from the first trial that counted them.

    The result consists of the trial's number and a list of layers, each with its kind, name, bytes read and bytes
    written. The bytes written include the drain if it was counted. If no trial counted the layers' bytes, the result is
    an empty list.
    """
    for trial in cell.trials:
        saved = run.evidence_part(trial, _SavedLevels)
        levels = saved.levels if saved is not None else ()
        between = sorted(
            (level for level in levels if level.layer not in (FIO, DEVICE, BELOW)), key=lambda level: level.depth
        )
        if between:
            return [trial.number, [[each.layer, each.name, each.read_bytes, _written(each)] for each in between]]
    return []


def _written(level: Level) -> int:
    return level.write_bytes if level.drained_write_bytes is None else level.drained_write_bytes


@dataclass(frozen=True)
class Tile:
    """A cell in the results map.

    `share`: the cell's result as a fraction of the workload's best result. It is None without a result that can be
    ranked, and also if the result did not converge but is as good as the best one that did.
    `depth`: the distance from the best result in powers of ten, limited to `look.HEAT_DECADES`.
    `ink`: the colour of the verdict symbol.
    """

    share: float | None
    depth: float | None
    ink: str


def tiles(cells: Sequence[Cell]) -> tuple[Tile, ...]:
    """Return one tile per cell.

    Each cell is compared with the workload's best result that converged, so that no result that did not converge is
    coloured as the best. If none converged, as in a grid of short trials, each cell is compared with the best of all
    results.
    """
    settled = _best(cell for cell in cells if not cell.did_not_converge)
    best = _best(cells) | settled
    return tuple(_tile(cell, best.get(cell.workload), among_settled=cell.workload in settled) for cell in cells)


def heat_colour(depth: float) -> str:
    """Return the colour for a tile's `depth`, interpolated linearly in RGB between the colours of `look.HEAT`."""
    place = min(max(depth / look.HEAT_DECADES, 0.0), 1.0) * (len(look.HEAT) - 1)
    lower = min(int(place), len(look.HEAT) - 2)
    ends = [[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in look.HEAT[lower : lower + 2]]
    mixed = [round(a + (b - a) * (place - lower)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """Return white or near-black, whichever is easier to read on the given colour (WCAG 2.2, relative luminance)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#1b1f24"


def _best(cells: Iterable[Cell]) -> dict[str, float]:
    """Return each workload's best result among those that can be ranked. Metrics where lower is better are inverted."""
    best: dict[str, float] = {}
    for cell in cells:
        if speed := _speed(cell):
            best[cell.workload] = max(best.get(cell.workload, speed), speed)
    return best


def _tile(cell: Cell, best: float | None, *, among_settled: bool) -> Tile:
    speed = _speed(cell)
    share = speed / best if speed and best else None
    if share is not None and cell.did_not_converge and among_settled and (short(share) or 0) >= 1:
        share = None
    depth = None if share is None else min(-math.log10(share), look.HEAT_DECADES)
    return Tile(share, depth, _INK_WITHOUT_COLOUR if depth is None else ink_on(heat_colour(depth)))


def _speed(cell: Cell) -> float | None:
    """Return the cell's result, or its inverse if lower is better. None if the result can't be ranked or is 0."""
    if not cell.usability().can_be_ranked or cell.figure is None or cell.figure.mean <= 0:
        return None
    return 1 / cell.figure.mean if cell.metric in LOWER_IS_BETTER else cell.figure.mean


def shown_trials(
    run: LoadedRun, cells: Sequence[Cell]
) -> tuple[Mapping[CellKey, Sequence[Mapping[str, Any]]], list[str]]:
    """Return the charts of trials, keyed by cell, and remarks about trials that the page omits.

    To limit the page's size, only some of the trials and points may be shown. Trials of cells with the most serious
    verdicts come first.
    """
    ordered = sorted(cells, key=lambda cell: WORST_FIRST.index(cell.result().verdict))
    all_trials = sum(len(cell.trials) for cell in cells) <= _ALL_TRIALS_UP_TO
    measured = [cell.trials if all_trials else _most_typical(run, cell) for cell in ordered]
    candidates = [*itertools.chain.from_iterable(measured)]
    numbers = _values_per_point(max((len(trial.leaves) for trial in candidates), default=0))
    shown = candidates[: _ROOM // (FEWEST_POINTS * numbers)]
    points = max(FEWEST_POINTS, min(MOST_POINTS, _ROOM // (numbers * max(1, len(shown)))))
    generators = {cell.key: cell.generator for cell in cells}
    by_cell: dict[CellKey, list[Mapping[str, Any]]] = {}
    missing, used = 0, 0
    for count, trial in enumerate(shown):
        if used > _OVER * _ROOM:
            shown = shown[:count]
            break
        if data := trial_data(run.path, trial, points, generators[trial.cell_key]):
            charts, size = _charts(data)
            by_cell.setdefault(trial.cell_key, []).append(charts)
            used += size
        elif trial.leaves:
            missing += 1
    remarks = [] if all_trials else ["The charts over time show only the median trial of each cell."]
    if left_out := len(candidates) - len(shown):
        trials = format_number_of(left_out, "trial")
        kept = "Cells with the most serious verdicts keep their charts."
        remarks.append(f"The charts of {trials} do not fit on this page. {kept}")
    if missing:
        remarks.append(f"{format_number_of(missing, 'trial')} cannot be drawn: samples.jsonl is missing or damaged.")
    return by_cell, remarks


def _values_per_point(disks: int) -> int:
    """Return the number of values per point in time in all charts of a trial, including the time itself."""
    return 1 + sum(chart.values + chart.values_per_disk * disks for chart in charts_of(TrialChart))


def _most_typical(run: LoadedRun, cell: Cell) -> list[Trial]:
    """Return the trial closest to the median among those with samples, or the median if no trial has samples.

    The list is empty if no trial has byte accounting.
    """
    measured = [trial for trial in median_first(cell) if trial.leaves]
    with_samples = (trial for trial in measured if has_samples(run.path, trial))
    return [next(with_samples, measured[0])] if measured else []


def _charts(data: TrialData) -> tuple[dict[str, Any], int]:
    """Return a trial's charts and the total number of their values.

    If a line's positions equal the trial's `times`, its `at` is None.
    """
    end_s = data.account.window_s + (data.account.drain_s if data.has_drain else 0.0)
    times = [short(at) for at in data.times_s]
    charts, size = {}, len(times)
    for chart in charts_of(TrialChart):
        lines = chart.lines(data)
        compact = [asdict(each) | ({"at": None} if each.at == times else {}) for each in lines]
        size += sum(len(each["at"] or ()) + sum(map(len, each["values"].values())) for each in compact)
        charts[chart.name] = {"lines": compact, "note": chart.note(data, lines)}
    made = {
        "number": data.trial.number,
        "times": times,
        "domain": [short(min(0.0, data.times_s[0])), short(end_s)],
        "phases": [{"name": each.name, "from_s": short(each.from_s), "to_s": short(each.to_s)} for each in data.phases],
        "charts": charts,
    }
    return made, size
