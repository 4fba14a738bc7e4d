"""Assign each workload a chart panel (access mode, and sync or async) and a position on the x axis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.load.generator import described
from poolproof.load.model import LoadPart
from poolproof.units import canonical_size, parse_size

_MODES = ("read", "randread", "rw", "randrw", "write", "randwrite", "trim", "randtrim")
_SPELLINGS = {"readwrite": "rw", "blocksize": "bs"}
_AXES = ("bs", "iodepth", "numjobs", "size", "rwmixread")
"""The options that can be plotted on the x axis, most preferred first."""
_IN_PANEL = ("rw", "sync", "fsync", "fdatasync", "sync_file_range")


@dataclass(frozen=True)
class AxisPosition:
    """The panel and x position at which a chart plots a workload.

    `over`: the option plotted on the x axis.
    `at`: this workload's value of that option, formatted as an axis label.
    `order`: the sort key of that value.
    `rest`: as text, the remaining varying options, apart from those that the panel's name already shows. Workloads with
    a different `rest`, for example a different queue depth, are plotted in separate charts.
    """

    family: str
    mode: str
    sync: bool
    over: str
    at: str
    order: float
    rest: str

    @property
    def panel(self) -> str:
        """Return the panel's name, such as `randread, async`."""
        return f"{self.mode}, {'sync' if self.sync else 'async'}"

    @property
    def group(self) -> str:
        """Return a name such as `grid, iodepth=4`, shared by workloads that differ only in panel and x position."""
        return ", ".join(part for part in (self.family, self.rest) if part)


def places(workloads: Sequence[Workload]) -> Mapping[str, AxisPosition]:
    """Return the axis positions, keyed by workload. Workloads whose family varies none of `_AXES` are omitted."""
    found: dict[str, AxisPosition] = {}
    for family in dict.fromkeys(workload.family for workload in workloads):
        own = [workload for workload in workloads if workload.family == family]
        varying = {_plain(key) for workload in own for key, _ in workload.varies}
        over = next((name for name in _AXES if name in varying), None)
        if over is not None:
            found |= {workload.name: _place(workload, over) for workload in own}
    return found


def panels(placed: Iterable[AxisPosition]) -> list[str]:
    """Return the distinct panel names: async panels before sync ones, and reads before writes."""
    by_panel = {place.panel: place for place in placed}
    return sorted(by_panel, key=lambda panel: (by_panel[panel].sync, _MODES.index(by_panel[panel].mode)))


def _place(workload: Workload, over: str) -> AxisPosition:
    varies = {_plain(key): value for key, value in workload.varies}
    at = varies.pop(over, "")
    options = {key.rpartition(".")[2]: value for job in workload.jobs for key, value in job.options}
    load = described(workload.name, options)
    try:
        order = float(parse_size(at.split(",")[0].split("-")[0]))
    except ValueError:
        order = 0.0
    return AxisPosition(
        family=workload.family,
        mode=_mode(load),
        sync=load.writes_are_synchronous or bool(load.sync_every),
        over=over,
        at=_size(at) if over in ("bs", "size") else at,
        order=order,
        rest=", ".join(f"{key}={value}" for key, value in varies.items() if key not in _IN_PANEL),
    )


def _mode(load: LoadPart) -> str:
    kind = "rw" if load.is_mixed else "trim" if load.trims else "write" if load.writes else "read"
    return f"{'rand' if load.is_random else ''}{kind}"


def _plain(key: str) -> str:
    """Return an option's canonical name without its job section, for example `bs` for `log.bs` and for `blocksize`."""
    option = key.rpartition(".")[2]
    return _SPELLINGS.get(option, option)


def _size(value: str) -> str:
    """Format a size in canonical form, so that `4096`, `4K` and `4k` all get the same axis position."""
    try:
        return canonical_size(parse_size(value)).lower()
    except ValueError:
        return value
