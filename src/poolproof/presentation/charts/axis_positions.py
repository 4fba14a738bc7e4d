"""The position of a workload in a chart: its panel (mode, sync or async) and its place on the x axis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.load.generator import described
from poolproof.load.model import LoadPart
from poolproof.units import canonical_size, parse_size

_MODES = ("read", "randread", "rw", "randrw", "write", "randwrite", "trim", "randtrim")
_SPELLINGS = {"readwrite": "rw", "blocksize": "bs"}
_AXES = ("bs", "iodepth", "numjobs", "size", "rwmixread")
"""The options that can be the axis, the first one that varies."""
_IN_PANEL = ("rw", "sync", "fsync", "fdatasync", "sync_file_range")


@dataclass(frozen=True)
class AxisPosition:
    """`over` is the option on the axis, `at` its value; `order` sorts the values.

    `rest` is what else varies, so that lines of different queue depths stay separate; empty if nothing does.
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
        """Return the name of the panel: `randread, async`."""
        return f"{self.mode}, {'sync' if self.sync else 'async'}"

    @property
    def group(self) -> str:
        """Return the name of the workloads that differ only in panel and place: `grid, iodepth=4`."""
        return ", ".join(part for part in (self.family, self.rest) if part)


def places(workloads: Sequence[Workload]) -> Mapping[str, AxisPosition]:
    """Return by name the workloads that are points of a curve: their family varies an option that has an order."""
    found: dict[str, AxisPosition] = {}
    for family in dict.fromkeys(workload.family for workload in workloads):
        own = [workload for workload in workloads if workload.family == family]
        varying = {_plain(key) for workload in own for key, _ in workload.varies}
        over = next((name for name in _AXES if name in varying), None)
        if over is not None:
            found |= {workload.name: _place(workload, over) for workload in own}
    return found


def panels(placed: Iterable[AxisPosition]) -> list[str]:
    """Return the panels in order: async before sync, reads before writes."""
    by_panel = {place.panel: place for place in placed}
    return sorted(by_panel, key=lambda panel: (by_panel[panel].sync, _MODES.index(by_panel[panel].mode)))


def _place(workload: Workload, over: str) -> AxisPosition:
    varies = {_plain(key): value for key, value in workload.varies}
    at = varies.pop(over, "")
    options = {key.rpartition(".")[2]: value for job in workload.jobs for key, value in job.options}
    load = described(workload.name, options)
    try:
        order = float(parse_size(at.split(",")[0].split("-")[0]))
    except (ValueError, OverflowError):
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
    """Return `bs` for `log.bs` of a job section and for `blocksize`."""
    option = key.rpartition(".")[2]
    return _SPELLINGS.get(option, option)


def _size(value: str) -> str:
    """Return a size in one spelling, so that `4096`, `4K` and `4k` are one place on the axis."""
    try:
        return canonical_size(parse_size(value)).lower()
    except (ValueError, OverflowError):
        return value
