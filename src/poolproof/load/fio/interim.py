"""Reports of `--status-interval`: fio prints the same run again and again, each time with the figures so far.

The last report holds the whole run. Clones that report one by one look alike, but end at about the same time.
"""

from collections.abc import Sequence

from poolproof.load.outcome import Direction, Outcome, PartOutcome

_GROWTH = 1.05  # of run time, from the first report to the last


def is_interim(before: Outcome, after: Outcome) -> bool:
    """`before` is a report of the run that `after` ends, which began before it was printed, by fio's time stamps."""
    if not _same_jobs(before.parts, after.parts) or before.timestamp_ms is None or after.timestamp_ms is None:
        return False
    runtimes = [part.runtime_ms or 0 for job in after.parts for part in _parts(job) if part]
    return 0 <= after.timestamp_ms - before.timestamp_ms < max(runtimes, default=0)


def has_grown(before: Outcome, after: Outcome) -> bool:
    """The same jobs, each further on: for results that are known to be of one process."""
    return _same_jobs(before.parts, after.parts) and all(map(_is_further, before.parts, after.parts))


def last_reports(jobs: Sequence[PartOutcome]) -> tuple[PartOutcome, ...]:
    """The last report of each job among results that follow each other without anything between them."""
    for width in range(1, len(jobs) // 2 + 1):
        if len(jobs) % width == 0 and _are_reports(jobs, width):
            return tuple(jobs[-width:])
    return tuple(jobs)


def _are_reports(jobs: Sequence[PartOutcome], width: int) -> bool:
    """Each job went on from one report of all `width` jobs to the next, and all in all by more than clones differ."""
    if not all(_is_same(jobs[place - width], jobs[place]) for place in range(width, len(jobs))):
        return False
    if not all(_is_further(jobs[place - width], jobs[place]) for place in range(width, len(jobs))):
        return False
    first, last = jobs[:width], jobs[-width:]
    return all(_longest_ms(late) >= _GROWTH * _longest_ms(early) for early, late in zip(first, last, strict=True))


def _same_jobs(before: Sequence[PartOutcome], after: Sequence[PartOutcome]) -> bool:
    return [job.name for job in before] == [job.name for job in after]


def _is_same(before: PartOutcome, after: PartOutcome) -> bool:
    return (before.name, before.group, before.clones) == (after.name, after.group, after.clones)


def _is_further(before: PartOutcome, after: PartOutcome) -> bool:
    """Each direction ran longer and moved more; one that had begun is there still."""
    pairs = [(early, late) for early, late in zip(_parts(before), _parts(after), strict=True) if early is not None]
    return bool(pairs) and all(late is not None and _goes_on(early, late) for early, late in pairs)


def _goes_on(early: Direction, late: Direction) -> bool:
    if early.runtime_ms is None or late.runtime_ms is None or early.io_bytes is None or late.io_bytes is None:
        return False
    return early.runtime_ms < late.runtime_ms and early.io_bytes <= late.io_bytes


def _longest_ms(job: PartOutcome) -> int:
    return max((part.runtime_ms or 0 for part in _parts(job) if part), default=0)


def _parts(job: PartOutcome) -> tuple[Direction | None, ...]:
    return job.read, job.write, job.trim, job.mixed
