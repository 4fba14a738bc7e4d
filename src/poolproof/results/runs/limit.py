"""The limit of a cell: the best result that its disks allow, computed from each disk's result when measured alone.

    load  = the bytes that a disk transfers per byte of the load: the disk's share of all reads plus P times its share
            of all writes, weighted by the load's mix of reads and writes; P is the write amplification
    limit = the smallest  bare / load  of all disks, for I/Os and bytes per second
    share = value / limit

All disks are measured alone in the same run. A disk is saturated at bare / load, and the disk that is saturated first
limits the layout. For example, a mirror that reads half of the data from each disk can be twice as fast as its slower
disk. A mirror that writes P = 2 copies can only be as fast as its slower disk.

For latencies, the limit is the bare latency of the fastest disk in use, because no request can complete before that
disk completes it. The share is then limit / value.

Loads are computed from bytes, but also used for I/Os. The disks' shares add up to 1 for reads and to P for writes, so
loads exclude metadata and read-ahead. A layout that transfers more than necessary therefore has a smaller share.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.cell_key import HEALTHY, CellKey
from poolproof.campaign.expression import Expression, Word
from poolproof.campaign.model import Campaign
from poolproof.metrics import LOWER_IS_BETTER, MetricId
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.statistics.comparison import ratio_interval
from poolproof.statistics.intervals import mean_interval
from poolproof.units import format_size
from poolproof.verdicts import has_values

OVER = 1.05
"""The largest share of the limit that the usual variation between trials can explain."""

_LEAST_LOAD = 0.01
_MISSING = 0.1
_MERGED = 1.5

_BareCells = Mapping[tuple[str, str], Cell]
"""The cells in which a healthy device was measured on its own, keyed by device and workload."""


@dataclass(frozen=True)
class LeafLimit:
    """A disk that a cell uses.

    `bare`: the disk's result when it was measured on its own.
    `load`: the bytes that the disk transfers per byte of the load.
    """

    device: str
    bare: float
    load: float


@dataclass(frozen=True)
class Limit:
    """The limit of a cell.

    `most`: the limit, in the metric's unit.
    `share`: value / limit for a rate, or limit / value for a latency.
    `bound`: the disk that limits the cell.
    `over`: if `share` exceeds `OVER`, the reason for it, or a statement that the difference is not significant.
    Otherwise an empty string.
    `converged`: whether the results of the cell and of the bare disks are as precise as `until` requires.
    """

    most: float
    share: float
    bound: str
    leaves: tuple[LeafLimit, ...]
    over: str = ""
    converged: bool = True


def limits_of(cells: Sequence[Cell], bare: Sequence[Cell], campaign: Campaign) -> Mapping[CellKey, Limit | str]:
    """Return the limit of each cell, or the reason why it is unknown.

    If no disk was measured on its own, the result is empty.

    `bare`: the cells measured by `calibrate`. Without `calibrate`, the cells of layouts that consist of a device alone
    are used instead, and these layouts have no limit.
    """
    alone = bare_layouts(campaign)
    bare_cells = _bare_cells(cells, bare, campaign)
    if not bare_cells and not campaign.measure.calibrate:
        return {}
    left_out = calibration_of(campaign).left_out
    devices = {device.name for device in campaign.devices}
    return {
        cell.key: _limit(cell, bare_cells, devices, left_out.get(cell.workload, ""))
        for cell in cells
        if campaign.measure.calibrate or cell.layout not in alone.values()
    }


def bare_layouts(campaign: Campaign) -> Mapping[str, str]:
    """Return the layout of each device that has a layout consisting of this device alone, keyed by device."""
    devices = {device.name for device in campaign.devices}
    found = {_only_word(layout.expression): layout.name for layout in campaign.layouts}
    return {device: name for device, name in found.items() if device in devices}


def _only_word(expression: Expression) -> str:
    arguments = expression.stages[0].arguments if len(expression.stages) == 1 else ()
    return arguments[0].text if len(arguments) == 1 and isinstance(arguments[0], Word) else ""


def _bare_cells(cells: Sequence[Cell], bare: Sequence[Cell], campaign: Campaign) -> _BareCells:
    if not campaign.measure.calibrate:
        devices = {layout: device for device, layout in bare_layouts(campaign).items()}
        healthy = (cell for cell in cells if cell.state == HEALTHY)
        return {(devices[cell.layout], cell.workload): cell for cell in healthy if cell.layout in devices}
    own = {(calibrated_device(cell.layout) or "", cell.workload): cell for cell in bare}
    return {
        (device.name, workload): own[device.name, measured]
        for device in campaign.devices
        for workload, measured in calibration_of(campaign).measured_as.items()
        if (device.name, measured) in own
    }


def _limit(cell: Cell, bare: _BareCells, devices: set[str], unfit: str) -> Limit | str:
    if cell.figure is None or not has_values(cell.verdict) or cell.figure.mean <= 0:
        return "it has no result"
    foreign = [leaf.device for leaf in cell.leaves if leaf.device not in devices]
    if foreign or not cell.leaves:
        disks = f" ({', '.join(foreign)})" if foreign else ""
        return f"the disks of an existing directory{disks} contain data and can't be measured alone"
    if unfit:
        return f"it can't run on a bare disk: {cell.workload} {unfit}"
    loads = _loads(cell)
    if isinstance(loads, str):
        return loads
    alone = {device: each for device in loads if (each := bare.get((device, cell.workload))) is not None}
    values = {device: _value(alone.get(device), device, cell.metric) for device in loads}
    unknown = [value for value in values.values() if isinstance(value, str)]
    if unknown:
        return "; ".join(unknown)
    leaves = tuple(LeafLimit(device, float(values[device]), load) for device, load in loads.items())
    found = _of_leaves(cell.figure.mean, cell.metric, leaves)
    every = (cell, *alone.values())
    converged = all(each.usability(cell.metric).is_precise for each in every)
    return replace(found, over=_over(cell, found, alone), converged=converged)


def _of_leaves(value: float, metric: MetricId, leaves: tuple[LeafLimit, ...]) -> Limit:
    if metric in LOWER_IS_BETTER:
        first = min(leaves, key=lambda leaf: leaf.bare)
        return Limit(first.bare, first.bare / value, first.device, leaves)
    first = min(leaves, key=lambda leaf: leaf.bare / leaf.load)
    most = first.bare / first.load
    return Limit(most, value / most, first.device, leaves)


def _over(cell: Cell, limit: Limit, alone: Mapping[str, Cell]) -> str:
    """Explain how a share above `OVER` is possible, or say that it is not significantly above 1.

    If the share does not exceed `OVER`, return an empty string.
    """
    if limit.share <= OVER:
        return ""
    own, bare = cell.samples(), alone[limit.bound].samples(cell.metric)
    least = max(own.error, bare.error)
    ratio = ratio_interval(own.values, bare.values, least)
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        load = next(leaf.load for leaf in limit.leaves if leaf.device == limit.bound)
        lowest = 1 / ratio.high if cell.metric in LOWER_IS_BETTER else ratio.low * load
        if lowest <= 1:
            return "not significantly above 100%; run more trials to find out"
    return _why_over(cell, alone.values())


def _why_over(cell: Cell, bare: Iterable[Cell]) -> str:
    """Return the reason why the cell exceeds its limit: bytes that stayed in RAM, merged requests, or neither.

    The reason is RAM if the disks transferred less than nine tenths of the expected bytes. Requests count as merged if
    their mean size is at least 1.5 times that on the bare disks.
    """
    missing = _missing(cell)
    if missing > _MISSING:
        return f"{missing:.0%} of its bytes were neither read from nor written to a disk: RAM was measured"
    own, alone = _request_bytes(cell.trials), _request_bytes(trial for each in bare for trial in each.trials)
    if own and alone and own >= _MERGED * alone:
        sizes = f"{format_size(own)} per request on average, and {format_size(alone)} when measured alone"
        return f"its disks transferred {sizes}: the layout merges requests"
    return (
        "the disks transferred all of its bytes, in requests as small as on the bare disks. The requests came in a "
        "better order, were closer together, or were spread over several disks"
    )


def _missing(cell: Cell) -> float:
    """Return the fraction of the expected bytes that the disks did not transfer.

    If the load both read and wrote, this is the larger of the fractions for reads and writes. The result is 0 if the
    bytes were not counted.
    """
    account = cell.account
    if account is None:
        return 0.0
    pairs = (
        (account.fio_read_bytes, account.leaf_read_bytes),
        (account.fio_write_bytes * account.write_factor, account.leaf_write_bytes),
    )
    least = _MISSING * (account.fio_read_bytes + account.fio_write_bytes)
    return max((1 - counted / expected for expected, counted in pairs if expected > least), default=0.0)


def _request_bytes(trials: Iterable[Trial]) -> float | None:
    """Return the mean size of the disks' requests in bytes, excluding flushes. None if there were no requests."""
    leaves = [leaf for trial in trials if has_values(trial.verdict) for leaf in trial.leaves]
    moved = sum(leaf.read_bytes + leaf.write_bytes for leaf in leaves)
    requests = sum(leaf.read_ios + leaf.write_ios - (leaf.flush_ios or 0) for leaf in leaves)
    return moved / requests if requests > 0 else None


def _loads(cell: Cell) -> dict[str, float] | str:
    account = cell.account
    moved = account.fio_read_bytes + account.fio_write_bytes if account else 0
    if account is None or not moved:
        return "its bytes could not be counted"
    reads, writes = account.fio_read_bytes / moved, account.fio_write_bytes / moved
    for part, word, stayed, shares in (
        (reads, "read", "came from RAM", [leaf.read_share for leaf in cell.leaves]),
        (writes, "wrote", "stayed in RAM", [leaf.write_share for leaf in cell.leaves]),
    ):
        if part >= _LEAST_LOAD and not any(shares):
            return f"its disks {word} nothing, so none of them limits it: the data {stayed}"
    loads = {
        leaf.device: reads * (leaf.read_share or 0.0) + writes * account.write_factor * (leaf.write_share or 0.0)
        for leaf in cell.leaves
    }
    return {device: load for device, load in loads.items() if load >= _LEAST_LOAD * max(loads.values())}


def _value(cell: Cell | None, device: str, metric: MetricId) -> float | str:
    if cell is None:
        return f"{device} was not measured alone"
    usability = cell.usability(metric)
    if not usability.counts:
        return f"the result of {device} alone is {usability.verdict}"
    interval = mean_interval(cell.values(metric))
    return interval.mean if interval is not None and interval.mean > 0 else f"{device} alone has no {metric}"
