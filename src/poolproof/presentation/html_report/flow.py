"""The byte account of a cell as a flow: from fio down to each disk, with a name for whatever is lost or added.

Writes: fio hands over F bytes; D / P of them come down to the disks once all is flushed, the rest never does; each is
stored P times (the write factor), and D is what the disks wrote. What D has beyond F × P is written besides. Reads: D
of the F bytes came from disks; what the disks read beyond F is read besides. So every stage's widths add up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from poolproof.evidence.model import Account, LeafUse
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.catalogue import all_rules
from poolproof.units import format_size
from poolproof.verdicts import has_values

Direction = Literal["read", "write"]
_SMALLEST_SHARE = 0.005


@dataclass(frozen=True)
class FlowLeaf:
    """One disk's part. `late_bytes` of a write reached it only after fio had ended. `below`: the disk under it."""

    device: str
    moved_bytes: int
    late_bytes: int
    below: str


@dataclass(frozen=True)
class ByteFlow:
    """One direction. `fio_bytes` = `lost_bytes` + `kept_bytes`; `kept_bytes` × `factor` + `extra_bytes` = the leaves'.

    `lost` and `extra` name what leaks out and what comes in, whole sentences without the full stop; empty for nothing.
    """

    direction: Direction
    fio_bytes: int
    lost_bytes: float
    lost: str
    kept_bytes: float
    factor: float
    copies: str
    extra_bytes: float
    extra: str
    leaves: tuple[FlowLeaf, ...]
    late: str
    verdict: str

    @property
    def leaf_bytes(self) -> int:
        return sum(leaf.moved_bytes for leaf in self.leaves)


def flows(cell: Cell) -> tuple[ByteFlow, ...]:
    """The flows of a cell's trials together, those left out that failed; none where nothing was counted."""
    trials = [trial for trial in cell.trials if has_values(trial.verdict) and trial.account and trial.leaves]
    if not trials:
        return ()
    accounts = [trial.account for trial in trials if trial.account]
    rules = [finding.rule for finding in cell.findings]
    found = (_reads(accounts, trials, rules), _writes(accounts, trials, rules))
    return tuple(flow for flow in found if flow is not None)


def _reads(accounts: Sequence[Account], trials: Sequence[Trial], rules: Sequence[str]) -> ByteFlow | None:
    fio = sum(account.fio_read_bytes for account in accounts)
    if not fio:
        return None
    leaves = _leaves(trials, "read")
    moved = sum(leaf.moved_bytes for leaf in leaves)
    lost, extra = max(0, fio - moved), max(0, moved - fio)
    cause = _cause(rules, "read", "read from RAM, not from a disk")
    share = f"the disks read {_percent(moved / fio)} what fio did"
    return ByteFlow(
        direction="read",
        fio_bytes=fio,
        lost_bytes=lost,
        lost=_named(lost, fio, "came from no disk", cause),
        kept_bytes=fio - lost,
        factor=1.0,
        copies="",
        extra_bytes=extra,
        extra=_named(extra, fio, "read besides", "read-ahead, whole records, metadata"),
        leaves=leaves,
        late="",
        verdict=share,
    )


def _writes(accounts: Sequence[Account], trials: Sequence[Trial], rules: Sequence[str]) -> ByteFlow | None:
    fio = sum(account.fio_write_bytes for account in accounts)
    if not fio:
        return None
    factor = accounts[0].write_factor
    leaves = _leaves(trials, "write")
    moved = sum(leaf.moved_bytes for leaf in leaves)
    lost, extra = max(0.0, fio - moved / factor), max(0.0, moved - fio * factor)
    cause = _cause(rules, "write", "overwritten in memory, or shrunk on the way")
    late = sum(leaf.late_bytes for leaf in leaves)
    return ByteFlow(
        direction="write",
        fio_bytes=fio,
        lost_bytes=lost,
        lost=_named(lost, fio, "never reached a disk", cause),
        kept_bytes=fio - lost,
        factor=factor,
        copies=_copies(factor),
        extra_bytes=extra,
        extra=_named(extra, fio, "written besides", "journal, metadata, whole blocks around small writes"),
        leaves=leaves,
        late=f"{format_size(late)} reached a disk only after fio had ended" if late > _SMALLEST_SHARE * moved else "",
        verdict=f"the disks wrote {_percent(moved / (fio * factor))} what they should have for fio's bytes",
    )


def _leaves(trials: Iterable[Trial], direction: Direction) -> tuple[FlowLeaf, ...]:
    by_name: dict[str, list[LeafUse]] = {}
    for trial in trials:
        for leaf in trial.leaves:
            by_name.setdefault(leaf.device, []).append(leaf)
    return tuple(_leaf(name, uses, direction) for name, uses in by_name.items())


def _leaf(name: str, uses: Sequence[LeafUse], direction: Direction) -> FlowLeaf:
    if direction == "read":
        return FlowLeaf(name, sum(leaf.read_bytes for leaf in uses), 0, _below(uses, direction))
    drained = sum(leaf.drained_write_bytes for leaf in uses)
    return FlowLeaf(name, drained, max(0, drained - sum(leaf.write_bytes for leaf in uses)), _below(uses, direction))


def _below(uses: Sequence[LeafUse], direction: Direction) -> str:
    """What the disk under a loop file did meanwhile: a cache below the counters shows there."""
    if uses[0].below_device is None:
        return ""
    moved = [leaf.below_read_bytes if direction == "read" else leaf.below_drained_write_bytes for leaf in uses]
    verb = "read" if direction == "read" else "wrote"
    return f"{uses[0].below_device} below it {verb} {format_size(sum(each or 0 for each in moved))}"


def _cause(rules: Sequence[str], direction: Direction, otherwise: str) -> str:
    """Return why bytes reached no disk, from the strongest finding whose rule explains it."""
    causes = {rule.id: rule.explains_lost[direction] for rule in all_rules() if direction in rule.explains_lost}
    return next((causes[rule] for rule in rules if rule in causes), otherwise)


def _named(moved: float, of: int, what: str, cause: str) -> str:
    return f"{format_size(moved)} {what}: {cause}" if moved > _SMALLEST_SHARE * of else ""


def _copies(factor: float) -> str:
    if factor == 1:
        return ""
    if factor == int(factor):
        return f"copies: every byte is stored {factor:.0f} times"
    return f"copies and parity: {factor:.3g} bytes are stored for each"


def _percent(share: float) -> str:
    """`5.1 % of`, `20.4 times`."""
    if share >= 2:
        return f"{share:.3g} times"
    value = 100 * share
    return f"{value:.0f} % of" if value >= 10 else f"{value:.2g} % of"
