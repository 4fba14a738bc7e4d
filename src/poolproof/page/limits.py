"""How near each figure is to its disks' own: those that the run measured bare, as a layout of the disk alone."""

from collections.abc import Mapping, Sequence

from poolproof.campaign.expression import Expression, Word
from poolproof.campaign.model import LOWER_IS_BETTER, Campaign, Metric
from poolproof.charts.limit import Distance
from poolproof.page.reading import Seen
from poolproof.report.words import per_cent
from poolproof.runs.summary import RANKABLE, Cell


def bare_layouts(campaign: Campaign) -> Mapping[str, str]:
    """By device, the layout that is that device and nothing else."""
    devices = {device.name for device in campaign.devices}
    found = {_only_word(layout.expression): layout.name for layout in campaign.layouts}
    return {device: name for device, name in found.items() if device in devices}


def distances(seen: Seen, cells: Sequence[Cell]) -> tuple[Distance, ...]:
    """Each figure that counts over the sum of its disks' bare figures; over the slowest one's where less is better.

    Cells with a disk that was not measured bare under the same workload are left out.
    """
    bare = bare_layouts(seen.campaign)
    by_place = {(cell.layout, cell.workload): cell for cell in cells}
    found = [_distance(cell, bare, by_place) for cell in cells if cell.layout not in bare.values()]
    return tuple(each for each in found if each is not None)


def _distance(cell: Cell, bare: Mapping[str, str], by_place: Mapping[tuple[str, str], Cell]) -> Distance | None:
    disks = [leaf.device for leaf in cell.leaves]
    own = [by_place.get((bare.get(disk, ""), cell.workload)) for disk in disks]
    figures = [_figure(each) for each in own]
    mine = _figure(cell)
    if mine is None or not figures or any(figure is None for figure in figures):
        return None
    share = _share(mine, [figure for figure in figures if figure is not None], cell.metric)
    return Distance(cell.layout, cell.workload, share, " + ".join(disks), f"{per_cent(share)} of {' + '.join(disks)}")


def _share(mine: float, bare: Sequence[float], metric: Metric) -> float:
    return min(bare) / mine if metric in LOWER_IS_BETTER else mine / sum(bare)


def _figure(cell: Cell | None) -> float | None:
    if cell is None or cell.figure is None or cell.verdict not in RANKABLE or cell.figure.mean <= 0:
        return None
    return cell.figure.mean


def _only_word(expression: Expression) -> str:
    """The one word that an expression consists of; empty where it has more."""
    arguments = expression.stages[0].arguments if len(expression.stages) == 1 else ()
    return arguments[0].text if len(arguments) == 1 and isinstance(arguments[0], Word) else ""
