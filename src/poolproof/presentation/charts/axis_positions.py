"""Where a workload stands in a picture: its panel (mode, sync or not) and its place on the axis below."""

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
    """`panel` is mode and sync in words. `over` is the option on the axis, `at` its value, `order` sorts the values.

    `rest`: what else varies, so that lines of different queue depths are not mixed up; empty where nothing does.
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
    """By name, those workloads that are points of a curve: of families that vary over an option with an order."""
    found: dict[str, AxisPosition] = {}
    for family in dict.fromkeys(workload.family for workload in workloads):
        own = [workload for workload in workloads if workload.family == family]
        over = _over(own)
        if over is not None:
            found |= {workload.name: _place(workload, over) for workload in own}
    return found


def panels(placed: Iterable[AxisPosition]) -> list[str]:
    """The panels in the order of the seeds: async before sync, reads before writes."""
    unique = {place.panel: place for place in placed}

    def order(panel: str) -> tuple[bool, int, str]:
        mode = unique[panel].mode
        return unique[panel].sync, MODES.index(mode) if mode in MODES else len(MODES), panel

    return sorted(unique, key=order)


def _over(workloads: Sequence[Workload]) -> str | None:
    """The option whose values make the axis: block size where it varies, else another that counts something."""
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
    """`log.bs` of one job section is `bs` too; `blocksize` is another word for it."""
    bare = key.rpartition(".")[2]
    return _SPELLINGS.get(bare, bare)


def _order(value: str) -> float:
    try:
        return float(parse_size(value.split(",")[0].split("-")[0]))
    except (ValueError, OverflowError):
        return 0.0


def _written(value: str, over: str) -> str:
    """Block sizes in one spelling: `4096`, `4K` and `4k` are one place on the axis."""
    if over not in ("bs", "size"):
        return value
    try:
        return canonical_size(parse_size(value)).lower()
    except (ValueError, OverflowError):
        return value
