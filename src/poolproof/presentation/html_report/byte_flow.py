"""A cell's byte accounting as a flow from the load to each disk, with the reasons for lost and extra bytes.

Suppose that the load writes F bytes, the layout's expected write amplification is P, and the disks have written D bytes
in total after the final flush. The expected value of D is F × P. If D is smaller, F − D / P bytes are shown as lost. If
D is larger, D − F × P bytes are shown as extra. Reads are treated in the same way, with P = 1. The widths in the
drawing therefore add up at every stage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from poolproof.evidence.model import LeafUse
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.rule_catalogue import all_rules
from poolproof.units import format_number, format_size
from poolproof.verdicts import has_values

Direction = Literal["read", "write"]
_SMALLEST_SHARE = 0.005


class FlowLeaf(NamedTuple):
    """A disk in the flow.

    `late_bytes`: the bytes written after the load had ended.
    `below`: a sentence about the bytes moved by the disk under a loop file, or an empty string if the disk is not a
    loop file.
    """

    device: str
    moved_bytes: int
    late_bytes: int
    below: str


@dataclass(frozen=True)
class ByteFlow:
    """A cell's flow of either reads or writes.

    `fio_bytes` is `lost_bytes` + `kept_bytes`. The disks moved `kept_bytes` × `factor` + `extra_bytes`.

    `lost`, `extra` and `late` describe the lost, extra and late bytes, without a full stop. Each is empty if there are
    (almost) no such bytes.
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


def flows(cell: Cell) -> tuple[ByteFlow, ...]:
    """Return the cell's read flow and write flow, summed over all trials that did not fail.

    A flow is omitted if no bytes were moved in that direction, or if the bytes were not counted.
    """
    trials = [trial for trial in cell.trials if has_values(trial.verdict) and trial.account and trial.leaves]
    rules = [finding.rule for finding in cell.findings]
    found = (_flow(trials, direction, rules, cell.generator) for direction in ("read", "write"))
    return tuple(flow for flow in found if flow is not None)


def _flow(trials: Sequence[Trial], direction: Direction, rules: Sequence[str], generator: str) -> ByteFlow | None:
    accounts = [trial.account for trial in trials if trial.account]
    reads = direction == "read"
    fio = sum(account.fio_read_bytes if reads else account.fio_write_bytes for account in accounts)
    if not fio:
        return None
    leaves = _leaves(trials, direction)
    moved, late = sum(leaf.moved_bytes for leaf in leaves), sum(leaf.late_bytes for leaf in leaves)
    factor = 1.0 if reads else accounts[0].write_factor
    lost, extra = max(0.0, fio - moved / factor), max(0.0, moved - fio * factor)
    share = _percent(moved / (fio * factor))
    if reads:
        lost_as, extra_as = "did not come from a disk", "of extra reads: read-ahead, whole records, metadata"
        cause, verdict = "read from RAM", f"the disks read {share} what {generator} read"
    else:
        lost_as = "never reached a disk"
        extra_as = "of extra writes: journal, metadata, whole blocks for small writes"
        cause = "overwritten in memory, or reduced on the way, for example by compression"
        verdict = f"the disks wrote {share} what {generator}'s writes require"
    return ByteFlow(
        direction=direction,
        fio_bytes=fio,
        lost_bytes=lost,
        lost=_named(lost, fio, f"{lost_as}: {_cause(rules, direction, cause)}"),
        kept_bytes=fio - lost,
        factor=factor,
        copies=_copies(factor),
        extra_bytes=extra,
        extra=_named(extra, fio, extra_as),
        leaves=leaves,
        late=_named(late, moved, f"reached a disk only after {generator} had ended"),
        verdict=verdict,
    )


def _leaves(trials: Sequence[Trial], direction: Direction) -> tuple[FlowLeaf, ...]:
    by_name: dict[str, list[LeafUse]] = {}
    for trial in trials:
        for leaf in trial.leaves:
            by_name.setdefault(leaf.device, []).append(leaf)
    return tuple(_leaf(name, uses, direction) for name, uses in by_name.items())


def _leaf(name: str, uses: Sequence[LeafUse], direction: Direction) -> FlowLeaf:
    """Return a disk's reads or writes, summed over all trials.

    For a loop file, `below` can reveal caching that the file's own counters don't show.
    """
    if direction == "read":
        verb, moved, late = "read", sum(leaf.read_bytes for leaf in uses), 0
        below = sum(leaf.below_read_bytes or 0 for leaf in uses)
    else:
        verb, moved = "wrote", sum(leaf.drained_write_bytes for leaf in uses)
        late = max(0, moved - sum(leaf.write_bytes for leaf in uses))
        below = sum(leaf.below_drained_write_bytes or 0 for leaf in uses)
    disk = uses[0].below_device
    return FlowLeaf(name, moved, late, "" if disk is None else f"{disk} below it {verb} {format_size(below)}")


def _cause(rules: Sequence[str], direction: Direction, otherwise: str) -> str:
    """Return the reason for lost bytes according to the strongest finding that explains the loss.

    If no finding explains it, return `otherwise`.
    """
    causes = {rule.id: rule.explains_lost[direction] for rule in all_rules() if direction in rule.explains_lost}
    return next((causes[rule] for rule in rules if rule in causes), otherwise)


def _named(moved: float, of: int, what: str) -> str:
    return f"{format_size(moved)} {what}" if moved > _SMALLEST_SHARE * of else ""


def _copies(factor: float) -> str:
    if factor == 1:
        return ""
    if factor == int(factor):
        return f"copies: every byte is stored {factor:.0f} times"
    return f"copies and parity: {format_number(factor, 3)} bytes are stored for each byte of data"


def _percent(share: float) -> str:
    """Format a ratio as the beginning of a comparison, such as `5.1% of` or `20.4 times`."""
    if share >= 2:
        return f"{format_number(share, 3)} times"
    value = 100 * share
    return f"{value:.0f}% of" if value >= 10 else f"{value:.2g}% of"
