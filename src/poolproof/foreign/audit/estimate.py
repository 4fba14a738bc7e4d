"""The bounds of the honest rate, if arithmetic or quoted counters give any."""

from poolproof.foreign.audit.model import Estimate
from poolproof.rules.flow import cold_reads, writes
from poolproof.rules.judge import Judgement
from poolproof.rules.model import Case
from poolproof.rules.reported import Kind, bandwidth_bytes
from poolproof.units import format_number_of, format_rate

_NEGLIGIBLE = 0.02


def estimate_of(case: Case, judgement: Judgement) -> Estimate | None:
    """Return the bounds of the honest rate of a suspect or refuted result.

    None if the job both read and wrote, or if nothing limits the rate to less than the reported one.
    """
    kinds: list[Kind] = [kind for kind in ("read", "write") if bandwidth_bytes(case.outcome, kind)]
    if len(kinds) != 1 or judgement.verdict not in ("suspect", "refuted"):
        return None
    rate = bandwidth_bytes(case.outcome, kinds[0]) or 0.0
    rules = {finding.rule for finding in judgement.findings if finding.effect in ("refutes", "suspects")}
    return _from_counters(case, kinds[0], rate) or _from_arithmetic(
        case, kinds[0], rate, shared="shared-file-numjobs" in rules
    )


def _from_counters(case: Case, kind: Kind, rate: float) -> Estimate | None:
    """Return the rate that the disks counted, if it differs clearly from the one that fio reports."""
    flow = cold_reads(case) if kind == "read" else writes(case)
    if flow is None or flow.in_order:
        return None
    honest = rate * flow.ratio
    return Estimate(honest, honest, f"the disks transferred {flow.share} of it")


def _from_arithmetic(case: Case, kind: Kind, rate: float, *, shared: bool) -> Estimate | None:
    low, high, why = rate, rate, []
    if shared:
        low = rate / case.load.sharers
        why.append(
            f"{format_rate(rate)} / {format_number_of(case.load.sharers, 'job')} = {format_rate(low)} "
            "if each block was transferred once"
        )
    ceiling = _ceiling(case, kind)
    if ceiling is not None and ceiling < rate:
        high = ceiling
        low = min(low, high)
        why.append(f"{format_rate(ceiling)} is the most that the disks can do")
    if low >= (1 - _NEGLIGIBLE) * rate:
        return None
    return Estimate(low if shared else 0.0, high, "; ".join(why))


def _ceiling(case: Case, kind: Kind) -> float | None:
    if case.target is None:
        return None
    return case.target.ceiling_read_bytes_per_s if kind == "read" else case.target.ceiling_write_bytes_per_s
