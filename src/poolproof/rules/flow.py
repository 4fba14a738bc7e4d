"""The byte account as the rules read it: what fio moved, what the disks should have moved for it, what they did move.

The limits are those of the inequalities A1 to A3: from 0.9 on a ratio is in order, under 0.5 it refutes, and what lies
between leaves a doubt. For reads 0.85 is in order already: an honest run of the measured cases (L08, the fourth) has
0.885, because blocks of the runs before it were still in RAM here and there. All traps of those cases lie at 0.25 or
less.
"""

from dataclasses import dataclass

from poolproof.evidence.model import Account
from poolproof.rules.model import Case, Effect
from poolproof.units import format_size

READ_IN_ORDER = 0.85
WRITE_IN_ORDER = 0.9
BROKEN = 0.5
_LOST = 0.95


@dataclass(frozen=True)
class Flow:
    """One direction of the account, in bytes: by fio, wanted of the leaves, counted at the leaves.

    `least` is the smallest ratio of counted to wanted that is in order.
    """

    moved_bytes: int
    wanted_bytes: float
    counted_bytes: float
    least: float

    @property
    def ratio(self) -> float:
        return self.counted_bytes / self.wanted_bytes

    @property
    def in_order(self) -> bool:
        return self.ratio >= self.least

    @property
    def effect(self) -> Effect:
        """What a ratio that is not in order does to the figure."""
        return "refutes" if self.ratio < BROKEN else "suspects"

    @property
    def moved(self) -> str:
        return format_size(self.moved_bytes)

    @property
    def counted(self) -> str:
        return format_size(self.counted_bytes)

    @property
    def wanted(self) -> str:
        """The wanted bytes, with the reason when they are not the bytes that fio moved: `4.00 GiB (2 × 2.00 GiB)`."""
        if round(self.wanted_bytes) == self.moved_bytes:
            return self.moved
        return f"{format_size(self.wanted_bytes)} ({self.wanted_bytes / self.moved_bytes:.3g} × {self.moved})"

    @property
    def share(self) -> str:
        """The ratio as people read it: `17 %`, `2.4 %`, `2.2 times`."""
        if self.ratio >= 2:
            return f"{self.ratio:.2g} times"
        return f"{100 * self.ratio:.0f} %" if self.ratio >= 0.1 else f"{100 * self.ratio:.2g} %"


def account(case: Case) -> Account | None:
    """The byte account, if there is one with leaves under it: without leaves nothing was counted."""
    if case.evidence is None or not case.evidence.leaves:
        return None
    return case.evidence.account


def reads(case: Case) -> Flow | None:
    """What fio read against what the leaves read; None where nothing was read or counted."""
    found = account(case)
    if found is None or not found.fio_read_bytes:
        return None
    wanted = found.fio_read_bytes * stored_share(case)
    return Flow(found.fio_read_bytes, wanted, found.leaf_read_bytes, READ_IN_ORDER)


def cold_reads(case: Case) -> Flow | None:
    """As `reads`, but None where RAM is meant to serve them."""
    return reads(case) if case.cold else None


def writes(case: Case) -> Flow | None:
    """What fio wrote, times the write factor, against what the leaves wrote once all was flushed."""
    found = account(case)
    return _writes(case, found, found.leaf_drained_write_bytes) if found else None


def writes_at_end(case: Case) -> Flow | None:
    """As `writes`, but what the leaves had written at the moment fio ended."""
    found = account(case)
    return _writes(case, found, found.leaf_write_bytes) if found else None


def late_writes(case: Case) -> Flow | None:
    """`writes_at_end` where that is not in order and the drain brought more: the data was late, not lost."""
    at_end, drained = writes_at_end(case), writes(case)
    if at_end is None or drained is None or at_end.in_order:
        return None
    return at_end if at_end.counted_bytes < _LOST * drained.counted_bytes else None


def _writes(case: Case, found: Account, counted_bytes: int) -> Flow | None:
    if not found.fio_write_bytes:
        return None
    wanted = found.fio_write_bytes * found.write_factor * stored_share(case)
    return Flow(found.fio_write_bytes, wanted, counted_bytes, WRITE_IN_ORDER)


def stored_share(case: Case) -> float:
    """The share of fio's bytes that a compressing target is meant to store: below 1 only where the job asks for data
    that compresses (buffer_compress_percentage) and the target does compress.
    """
    if not compresses(case):
        return 1.0
    asked = [job.compress_percentage or 0 for job in case.load.parts]
    return max(1 - min(asked) / 100, 0.01) if asked else 1.0


def compresses(case: Case) -> bool:
    """Whether the target compresses what is written to it."""
    setting = case.target.compression if case.target else None
    return setting not in (None, "", "off", "none", "no")


def flows(case: Case) -> tuple[Flow, ...]:
    """Every direction that has to be in order for the figure to be proven."""
    return tuple(flow for flow in (cold_reads(case), writes(case), writes_at_end(case)) if flow)


def proves(case: Case) -> bool:
    """Whether the account proves the figure: something was moved, and every direction that counts is in order."""
    found = account(case)
    if found is None or not found.fio_read_bytes + found.fio_write_bytes:
        return False
    return all(flow.in_order for flow in flows(case))
