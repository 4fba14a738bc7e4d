"""How far each figure is from what its disks can do: from what they gave when the same run measured them alone.

    load  = bytes that a leaf moves for each byte of fio's: its share of what all leaves read, as counted, and of what
            they wrote that share times the write factor P; of a mixed job both, by fio's own mix
    limit = the least of  bare / load  over the leaves, for I/Os and bytes per second
    share = figure / limit

One leaf after the other would be full at bare / load; the first that is bounds the layout. So a mirror that reads half
from each disk can give twice its slower disk, and one that writes P = 2 copies no more than its slower disk. Of
latencies the limit is the bare figure of the quickest leaf that carries bytes, and the share is limit / figure: no
request can be done before the quickest disk has done it.

Loads are counted in bytes and applied to I/Os alike. Metadata and read-ahead are no part of them: the shares of each
direction add up to 1, to P for writes; that a layout moves more than it must is what makes its share smaller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.expression import Expression, Word
from poolproof.campaign.model import LOWER_IS_BETTER, Campaign, Metric
from poolproof.results.runs.excess import why_over
from poolproof.results.runs.interval import mean_interval, ratio_interval
from poolproof.results.runs.summary import COUNTING_VERDICTS, Cell

OVER = 1.05
"""From this share on a figure is more than its disks give, and not only because trials differ."""

_CARRIES = 0.01

Place = tuple[str, str]
"""Layout and workload; of a bare figure device and workload."""


@dataclass(frozen=True)
class LeafLimit:
    """`bare`: what the disk gave alone, in the unit of the metric. `load`: bytes it moves for each byte of fio's."""

    device: str
    bare: float
    load: float


@dataclass(frozen=True)
class Limit:
    """`most`: the limit, in the unit of the metric. `share`: the figure over it, 1 being all that the disks give.

    `bound`: the leaf that sets the limit. `over`: why a share of more than `OVER` can be, in words, or that it is not
    sure; empty below. `settled`: the figure and the bare ones are known as well as `until` asks for.
    """

    most: float
    share: float
    bound: str
    leaves: tuple[LeafLimit, ...]
    over: str = ""
    settled: bool = True


def limits_of(cells: Sequence[Cell], bare: Sequence[Cell], campaign: Campaign) -> Mapping[Place, Limit | str]:
    """The limit of each cell, by layout and workload; or in words why it has none.

    Empty where the run measured no disk alone. `bare` are the cells of `calibrate`; without them layouts that are a
    device and nothing else stand for it, and have no limit themselves.
    """
    alone = bare_layouts(campaign)
    figures = _bare_figures(cells, bare, campaign)
    if not figures and not campaign.measure.calibrate:
        return {}
    left_out = calibration_of(campaign).left_out
    devices = {device.name for device in campaign.devices}
    return {
        (cell.layout, cell.workload): _limit(cell, figures, devices, left_out.get(cell.workload, ""))
        for cell in cells
        if campaign.measure.calibrate or cell.layout not in alone.values()
    }


def bare_layouts(campaign: Campaign) -> Mapping[str, str]:
    """By device, the layout of the campaign's own that is that device and nothing else."""
    devices = {device.name for device in campaign.devices}
    found = {_only_word(layout.expression): layout.name for layout in campaign.layouts}
    return {device: name for device, name in found.items() if device in devices}


def _bare_figures(cells: Sequence[Cell], bare: Sequence[Cell], campaign: Campaign) -> dict[Place, Cell]:
    """By device and workload, the cell that measured the device alone under it, or under what stands for it."""
    if not campaign.measure.calibrate:
        devices = {layout: device for device, layout in bare_layouts(campaign).items()}
        return {(devices[cell.layout], cell.workload): cell for cell in cells if cell.layout in devices}
    stands_for = calibration_of(campaign).stands_for
    own = {(calibrated_device(cell.layout) or "", cell.workload): cell for cell in bare}
    return {
        (device.name, workload): own[device.name, stands]
        for device in campaign.devices
        for workload, stands in stands_for.items()
        if (device.name, stands) in own
    }


def _limit(cell: Cell, bare: Mapping[Place, Cell], devices: set[str], unfit: str) -> Limit | str:
    if cell.figure is None or cell.verdict == "failed" or cell.figure.mean <= 0:
        return "it has no figure"
    foreign = [leaf.device for leaf in cell.leaves if leaf.device not in devices]
    if foreign or not cell.leaves:
        lies = f": it lies on {', '.join(foreign)}" if foreign else ""
        return f"a directory's disks hold data and can't be measured alone{lies}"
    if unfit:
        return f"no bare disk can run it: {cell.workload} {unfit}"
    loads = _loads(cell)
    if isinstance(loads, str):
        return loads
    alone = {device: bare.get((device, cell.workload)) for device in loads}
    figures = {device: _figure(each, device, cell.metric) for device, each in alone.items()}
    unknown = [figure for figure in figures.values() if isinstance(figure, str)]
    if unknown:
        return "; ".join(unknown)
    leaves = tuple(LeafLimit(device, float(figures[device]), load) for device, load in loads.items())
    found = _of_leaves(cell.figure.mean, cell.metric, leaves)
    bare_cells = {device: each for device, each in alone.items() if each is not None}
    settled = not any(each.is_unsettled for each in (cell, *bare_cells.values()))
    return replace(found, over=_over(cell, found, bare_cells), settled=settled)


def _of_leaves(figure: float, metric: Metric, leaves: tuple[LeafLimit, ...]) -> Limit:
    if metric in LOWER_IS_BETTER:
        first = min(leaves, key=lambda leaf: leaf.bare)
        return Limit(first.bare, first.bare / figure, first.device, leaves)
    first = min(leaves, key=lambda leaf: leaf.bare / leaf.load)
    most = first.bare / first.load
    return Limit(most, figure / most, first.device, leaves)


def _over(cell: Cell, limit: Limit, alone: Mapping[str, Cell]) -> str:
    """Why the share is so large; or that the trials, of the cell and of the disk alone, do not tell it from 1."""
    if limit.share <= OVER:
        return ""
    ratio = ratio_interval(cell.values(), alone[limit.bound].values_of(cell.metric))
    least, most = (ratio.low, ratio.high) if ratio is not None else (None, None)
    if least is not None and most is not None:
        load = next(leaf.load for leaf in limit.leaves if leaf.device == limit.bound)
        lowest = 1 / most if cell.metric in LOWER_IS_BETTER else least * load
        if lowest <= 1:
            return "the trials do not tell it from 100%: more of them would"
    return why_over(cell, alone.values())


def _loads(cell: Cell) -> dict[str, float] | str:
    """The load of each leaf that carries bytes; in words why it can't be told."""
    account = cell.account
    moved = account.fio_read_bytes + account.fio_write_bytes if account else 0
    if account is None or not moved:
        return "its bytes could not be counted"
    reads, writes = account.fio_read_bytes / moved, account.fio_write_bytes / moved
    for part, word, shares in (
        (reads, "read", [leaf.read_share for leaf in cell.leaves]),
        (writes, "wrote", [leaf.write_share for leaf in cell.leaves]),
    ):
        if part >= _CARRIES and not any(shares):
            return f"its disks {word} nothing, so that no disk bounds it: all was in RAM"
    loads = {
        leaf.device: reads * (leaf.read_share or 0.0) + writes * account.write_factor * (leaf.write_share or 0.0)
        for leaf in cell.leaves
    }
    return {device: load for device, load in loads.items() if load >= _CARRIES * max(loads.values())}


def _figure(cell: Cell | None, device: str, metric: Metric) -> float | str:
    if cell is None:
        return f"{device} was not measured alone"
    if cell.verdict not in COUNTING_VERDICTS:
        return f"{device} alone is {cell.verdict}"
    figure = mean_interval(cell.values_of(metric))
    return figure.mean if figure is not None and figure.mean > 0 else f"{device} alone has no such figure"


def _only_word(expression: Expression) -> str:
    """The one word that an expression consists of; empty where it has more."""
    arguments = expression.stages[0].arguments if len(expression.stages) == 1 else ()
    return arguments[0].text if len(arguments) == 1 and isinstance(arguments[0], Word) else ""
