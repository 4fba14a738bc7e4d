"""Why a figure can be more than its disks give alone: what the counters of its trials say of it."""

from collections.abc import Iterable

from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell

_MISSING = 0.1
_GATHERED = 1.5


def why_over(cell: Cell, bare: Iterable[Cell]) -> str:
    """One sentence, without its full stop: RAM took the bytes, requests were gathered, or neither.

    `bare`: its disks measured alone. Bytes are said to be in RAM where more than a tenth of those expected of the disks
    (F for reads, F × P for writes once drained) never moved; requests to be gathered where the mean request at the
    disks is 1.5 times that of the bare disks or more.
    """
    missing = _missing(cell)
    if missing > _MISSING:
        return f"{missing:.0%} of its bytes never came to or from a disk: it is RAM that was measured"
    made, alone = _request_bytes(cell.trials), _request_bytes(trial for each in bare for trial in each.trials)
    if made and alone and made >= _GATHERED * alone:
        sizes = f"{made / 1024:.3g} KiB a request where the bare disks moved {alone / 1024:.3g} KiB"
        return f"its disks moved {sizes}: the layout gathers requests"
    return (
        "all its bytes moved, in requests as small as on the bare disks: they came in a better order, closer together, "
        "or spread over several disks"
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


def _request_bytes(trials: Iterable[Trial]) -> float | None:
    """Bytes of the disks' mean request, flushes left out; None where none was counted."""
    leaves = [leaf for trial in trials if trial.verdict != "failed" for leaf in trial.leaves]
    moved = sum(leaf.read_bytes + leaf.write_bytes for leaf in leaves)
    requests = sum(leaf.read_ios + leaf.write_ios - leaf.flush_ios for leaf in leaves)
    return moved / requests if requests > 0 else None
