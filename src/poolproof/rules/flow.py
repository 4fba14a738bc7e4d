"""Byte accounting for the rules: the bytes that fio moved, and those that the disks should have moved and did move.

The ratio of counted to expected bytes is within bounds from 0.9 upwards. A ratio below 0.5 refutes the result. Between
these limits, the result is suspect. For reads, 0.85 is enough: a valid run among the measured cases (the fourth run of
L08) has 0.885, because some blocks from earlier runs were still in RAM. Every invalid run among the measured cases has
a ratio of at most 0.25.
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
    """One direction of the byte accounting: bytes moved by fio, expected at the leaves, and counted at the leaves.

    `least` is the lowest ratio of counted to expected bytes that is within bounds.
    """

    moved_bytes: int
    expected_bytes: float
    counted_bytes: float
    least: float

    @property
    def ratio(self) -> float:
        return self.counted_bytes / self.expected_bytes

    @property
    def in_order(self) -> bool:
        return self.ratio >= self.least

    @property
    def effect(self) -> Effect:
        """The effect of the finding if the ratio is too low."""
        return "refutes" if self.ratio < BROKEN else "suspects"

    @property
    def moved(self) -> str:
        return format_size(self.moved_bytes)

    @property
    def counted(self) -> str:
        return format_size(self.counted_bytes)

    @property
    def expected(self) -> str:
        """The expected bytes as text.

        Contains the factor if fio moved a different number of bytes: `4.00 GiB (2 × 2.00 GiB)`.
        """
        if round(self.expected_bytes) == self.moved_bytes:
            return self.moved
        return f"{format_size(self.expected_bytes)} ({self.expected_bytes / self.moved_bytes:.3g} × {self.moved})"

    @property
    def share(self) -> str:
        """The ratio as text: `17 %`, `2.4 %`, `2.2 times`."""
        if self.ratio >= 2:
            return f"{self.ratio:.2g} times"
        return f"{100 * self.ratio:.0f} %" if self.ratio >= 0.1 else f"{100 * self.ratio:.2g} %"

    @property
    def counted_share(self) -> str:
        """The counted bytes and the ratio as text: `512 MiB (25 % of 2.00 GiB)`."""
        return f"{self.counted} ({self.share} of {self.expected})"


def account(case: Case) -> Account | None:
    """Return the byte accounting; None if there is no evidence, or if no leaf was counted."""
    return case.evidence.account if case.evidence and case.evidence.leaves else None


def reads(case: Case) -> Flow | None:
    """Compare what fio read with what the leaves read; None if fio read nothing or no leaf was counted."""
    found = account(case)
    if found is None or not found.fio_read_bytes:
        return None
    expected = found.fio_read_bytes * _stored_share(case)
    return Flow(found.fio_read_bytes, expected, found.leaf_read_bytes, READ_IN_ORDER)


def cold_reads(case: Case) -> Flow | None:
    """Return `reads`; None if RAM is part of what is measured."""
    return reads(case) if case.cold else None


def lost_reads(case: Case) -> Flow | None:
    """Return `cold_reads` if its ratio is too low, otherwise None."""
    flow = cold_reads(case)
    return flow if flow and not flow.in_order else None


def writes(case: Case) -> Flow | None:
    """Compare the writes expected at the leaves with what the leaves had written after the flush.

    The expected bytes are fio's writes × the expected write amplification. None if fio wrote nothing or no leaf was
    counted.
    """
    found = account(case)
    return _writes(case, found, found.leaf_drained_write_bytes) if found else None


def lost_writes(case: Case) -> Flow | None:
    """Return `writes` if its ratio is too low, otherwise None."""
    flow = writes(case)
    return flow if flow and not flow.in_order else None


def writes_at_end(case: Case) -> Flow | None:
    """Like `writes`, but with what the leaves had written when fio ended."""
    found = account(case)
    return _writes(case, found, found.leaf_write_bytes) if found else None


def late_writes(case: Case) -> Flow | None:
    """Return `writes_at_end` if its ratio is too low and more than 5 % of the data was written late; otherwise None.

    Late data is written by the final flush after fio has ended, and is not lost.
    """
    at_end, drained = writes_at_end(case), writes(case)
    if at_end is None or drained is None or at_end.in_order:
        return None
    return at_end if at_end.counted_bytes < _LOST * drained.counted_bytes else None


def _writes(case: Case, found: Account, counted_bytes: int) -> Flow | None:
    if not found.fio_write_bytes:
        return None
    expected = found.fio_write_bytes * found.write_factor * _stored_share(case)
    return Flow(found.fio_write_bytes, expected, counted_bytes, WRITE_IN_ORDER)


def _stored_share(case: Case) -> float:
    """Return the fraction of fio's bytes that the target should store.

    The fraction is below 1 only if the target compresses and all jobs use compressible data
    (buffer_compress_percentage).
    """
    if not compresses(case) or not case.load.parts:
        return 1.0
    return max(1 - min(job.compress_percentage or 0 for job in case.load.parts) / 100, 0.01)


def compresses(case: Case) -> bool:
    """True if the target compresses what is written to it."""
    return case.target is not None and case.target.compression not in (None, "", "off", "none", "no")


def proves(case: Case) -> bool:
    """True if the byte accounting proves the result.

    Data must have been moved, and the ratios of all writes and of the reads that should be cold must be within bounds.
    """
    found = account(case)
    if found is None or not found.fio_read_bytes + found.fio_write_bytes:
        return False
    flows = (cold_reads(case), writes(case), writes_at_end(case))
    return all(flow.in_order for flow in flows if flow)
