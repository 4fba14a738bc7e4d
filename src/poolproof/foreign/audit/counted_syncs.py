"""Find out from fio's counts how often a job synced, if the text does not show its options."""

from collections.abc import Iterable

from poolproof.load.outcome import PartOutcome

_FEWEST = 10
_NEAR = 0.02


def writes_per_sync(jobs: Iterable[PartOutcome]) -> int | None:
    """Return after how many writes these clones of a job synced, such as 1, or None if they did not sync regularly.

    The counts of fsync, fdatasync and sync_file_range are the same number in fio's output. A single sync at the end of
    each clone (`end_fsync`) does not count as regular.
    """
    clones = list(jobs)
    writes = sum((job.write.ios or 0) if job.write else 0 for job in clones)
    syncs = sum(max(job.syncs or 0, (job.sync.samples or 0) if job.sync else 0) for job in clones)
    if not syncs or syncs < _FEWEST * sum(job.clones for job in clones) or writes < (1 - _NEAR) * syncs:
        return None
    interval = max(1, round(writes / syncs))
    return interval if abs(writes / interval / syncs - 1) <= _NEAR else None
