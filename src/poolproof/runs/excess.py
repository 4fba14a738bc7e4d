"""Why a figure can be more than its disks give alone: what the counters of its trials say of it."""

from collections.abc import Iterable

from poolproof.runs.model import Trial
from poolproof.runs.summary import Cell

_MISSING = 0.1
_GATHERED = 1.5


def why_over(cell: Cell) -> str:
    """One sentence, without its full stop: RAM took the bytes, requests were gathered, or neither.

    Bytes are said to be in RAM where more than a tenth of those expected of the disks (F for reads, F × P for writes
    once drained) never moved; requests to be gathered where the disks' mean request is 1.5 times fio's or more.
    """
    missing = _missing(cell)
    if missing > _MISSING:
        return f"{missing:.0%} of its bytes never came to or from a disk: it is RAM that was measured"
    sizes = _request_sizes(cell.trials)
    if sizes is not None and sizes[1] >= _GATHERED * sizes[0]:
        asked, made = (f"{size / 1024:.3g} KiB" for size in sizes)
        return f"its disks moved {made} a request where fio asked for {asked}: the layout gathers them"
    return (
        "all its bytes moved, in requests no larger than fio's: they came in a better order, closer together, or with "
        "more of them under way than on the bare disk"
    )


def _missing(cell: Cell) -> float:
    """The share of the bytes expected of the disks that they did not move: of reads or writes, whichever lack more."""
    account = cell.account
    if account is None:
        return 0.0
    pairs = (
        (account.fio_read_bytes, account.leaf_read_bytes),
        (account.fio_write_bytes * account.write_factor, account.leaf_write_bytes),
    )
    moved = account.fio_read_bytes + account.fio_write_bytes
    return max((1 - got / wanted for wanted, got in pairs if wanted > _MISSING * moved), default=0.0)


def _request_sizes(trials: Iterable[Trial]) -> tuple[float, float] | None:
    """Bytes of fio's mean request and of the disks', flushes left out; None where one was not counted."""
    asked_bytes = asked = made_bytes = made = 0.0
    for trial in trials:
        if trial.verdict == "failed" or trial.figures is None:
            continue
        asked_bytes += trial.figures.bandwidth_bytes or 0.0
        asked += trial.figures.iops or 0.0
        made_bytes += sum(leaf.read_bytes + leaf.write_bytes for leaf in trial.leaves)
        made += sum(leaf.read_ios + leaf.write_ios - leaf.flush_ios for leaf in trial.leaves)
    return (asked_bytes / asked, made_bytes / made) if asked > 0 and made > 0 else None
