"""How near each figure is to what its disks can do: the section's rows, its chart's, and what must be said beside.

The arithmetic, with its units, is in `results/runs/limit.py`: the load of a disk is what it moves per byte of fio, the
limit of a layout is the least of bare / load over its disks, and a cell's share is its figure over that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.presentation.charts.limit import Distance
from poolproof.presentation.charts.metrics import figure_words
from poolproof.presentation.html_report.reading import LoadedRun
from poolproof.presentation.terminal.limited import doubt_text, how_text, over_text, share_text, without_limit
from poolproof.presentation.terminal.words import MARKS, value_text
from poolproof.results.runs.limit import Limit, bare_layouts, limits_of
from poolproof.results.runs.summary import Cell
from poolproof.verdicts import Verdict

_MOST_OVER = 12


@dataclass(frozen=True)
class LimitRow:
    """A cell in the section's table: its figure, its limit, the share of it, and how the limit comes about."""

    layout: str
    workload: str
    verdict: Verdict
    mark: str
    figure: str
    most: str
    share: str
    how: str


@dataclass(frozen=True)
class BareRow:
    """What one disk gave alone, under one workload; `doubt` says why it is not sound."""

    disk: str
    workload: str
    figure: str
    verdict: Verdict
    mark: str
    stands_for: tuple[str, ...]
    doubt: str


@dataclass(frozen=True)
class LimitSection:
    """`asked`: the campaign measures its disks alone. `over`: each cell of more than 100 %, in a sentence; `more_over`
    counts those that are not named. `without`: which cells have no limit, and why.
    """

    asked: bool
    bare: tuple[BareRow, ...]
    stand_ins: Mapping[str, str]
    rows: tuple[LimitRow, ...]
    chart: tuple[Distance, ...]
    over: tuple[str, ...]
    more_over: int
    without: tuple[str, ...]

    @property
    def unsettled(self) -> bool:
        """Whether some share is of figures that did not settle."""
        return any(row.share.startswith("~") for row in self.rows)

    @property
    def shared(self) -> bool:
        """Whether a figure of a disk alone stands for more than one workload."""
        return any(each.stands_for for each in self.bare)


def section(seen: LoadedRun, cells: Sequence[Cell]) -> LimitSection:
    """All that the page says of its cells' limits; empty where the run measured no disk alone."""
    found = limits_of(cells, seen.run.bare, seen.campaign)
    own = [(cell, found.get((cell.layout, cell.workload))) for cell in cells]
    known = [(cell, limit) for cell, limit in own if isinstance(limit, Limit)]
    over = [over_text(cell, limit) for cell, limit in known if limit.over]
    return LimitSection(
        asked=seen.campaign.measure.calibrate,
        bare=tuple(_bare_rows(seen)),
        stand_ins={} if seen.campaign.measure.calibrate else bare_layouts(seen.campaign),
        rows=tuple(_row(cell, limit) for cell, limit in known),
        chart=tuple(_distance(cell, limit) for cell, limit in known if cell.counts),
        over=tuple(over[:_MOST_OVER]),
        more_over=max(0, len(over) - _MOST_OVER),
        without=without_limit(own),
    )


def _bare_rows(seen: LoadedRun) -> Iterator[BareRow]:
    stands_for = calibration_of(seen.campaign).stands_for
    for cell in seen.run.bare:
        others = tuple(name for name, bare in stands_for.items() if bare == cell.workload and name != cell.workload)
        figure = figure_words(cell, cell.metric)
        disk = calibrated_device(cell.layout) or cell.layout
        yield BareRow(disk, cell.workload, figure, cell.verdict, MARKS[cell.verdict], others, doubt_text(cell))


def _row(cell: Cell, limit: Limit) -> LimitRow:
    return LimitRow(
        layout=cell.layout,
        workload=cell.workload,
        verdict=cell.verdict,
        mark=MARKS[cell.verdict],
        figure=figure_words(cell, cell.metric),
        most=value_text(limit.most, cell.metric),
        share=share_text(limit),
        how=how_text(limit, cell.metric),
    )


def _distance(cell: Cell, limit: Limit) -> Distance:
    return Distance(cell.layout, cell.workload, limit.share, share_text(limit), how_text(limit, cell.metric))
