"""The position of a workload in a chart: its panel (mode, sync or async) and its place on the x axis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.model import Workload
from poolproof.units import canonical_size, parse_size

MODES = ("read", "randread", "rw", "randrw", "write", "randwrite", "trim", "randtrim")
_SPELLINGS = {"readwrite": "rw", "blocksize": "bs"}
_AXIS_FIRST = ("bs", "iodepth", "numjobs", "size", "rwmixread")
_SYNC = ("sync", "fsync", "fdatasync", "sync_file_range")
_NEVER = ("0", "none", "false", "no", "")


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
        """`randread, async`."""
        return f"{self.mode}, {'sync' if self.sync else 'async'}"


def places(workloads: Sequence[Workload]) -> Mapping[str, AxisPosition]:
    """Return by name the workloads that are points of a curve: their family varies an option that has an order."""
    found: dict[str, AxisPosition] = {}
    for family in dict.fromkeys(workload.family for workload in workloads):
        own = [workload for workload in workloads if workload.family == family]
        over = _over(own)
        if over is not None:
            found |= {workload.name: _place(workload, over) for workload in own}
    return found


def panels(placed: Iterable[AxisPosition]) -> list[str]:
    """Return the panels in order: async before sync, reads before writes."""
    unique = {place.panel: place for place in placed}

    def order(panel: str) -> tuple[bool, int, str]:
        mode = unique[panel].mode
        return unique[panel].sync, MODES.index(mode) if mode in MODES else len(MODES), panel

    return sorted(unique, key=order)


def _over(workloads: Sequence[Workload]) -> str | None:
    """Return the option on the axis: block size if it varies, else another numeric option; None if there is none."""
    varying = {_plain(key) for workload in workloads for key, _ in workload.varies}
    return next((name for name in _AXIS_FIRST if name in varying), None)


def _place(workload: Workload, over: str) -> AxisPosition:
    varies = {_plain(key): value for key, value in workload.varies}
    at = varies.pop(over, "")
    options = {_plain(key): value for job in workload.jobs for key, value in job.options}
    mode = options.get("rw", options.get("readwrite", "read")).split(":")[0]
    rest = ", ".join(f"{key}={value}" for key, value in varies.items() if key not in ("rw", "readwrite", *_SYNC))
    return AxisPosition(
        family=workload.family,
        mode=_SPELLINGS.get(mode, mode),
        sync=any(options.get(name, "0").lower() not in _NEVER for name in _SYNC),
        over=over,
        at=_written(at, over),
        order=_order(at),
        rest=rest,
    )


def _plain(key: str) -> str:
    """Return `bs` for `log.bs` of a job section and for `blocksize`."""
    bare = key.rpartition(".")[2]
    return _SPELLINGS.get(bare, bare)


def _order(value: str) -> float:
    try:
        return float(parse_size(value.split(",")[0].split("-")[0]))
    except (ValueError, OverflowError):
        return 0.0


def _written(value: str, over: str) -> str:
    """Return sizes in one spelling, so that `4096`, `4K` and `4k` are one place on the axis."""
    if over not in ("bs", "size"):
        return value
    try:
        return canonical_size(parse_size(value)).lower()
    except (ValueError, OverflowError):
        return value
