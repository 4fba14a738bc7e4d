"""Access to the fio job that a part of the load describes, for rules that check fio's options.

If another load generator runs the part, the job has no options.
"""

from collections.abc import Iterable

from poolproof.load.fio.job import Job, is_windows_path
from poolproof.load.fio.load import (
    HINT_FIXED_IN,
    HINT_REMOVED_IN,
    SPIN_FIXED_IN,
    groups_in_ratio,
    hints_direct_writes,
    spins,
)
from poolproof.load.fio.load import job_of as fio_job
from poolproof.load.model import LoadPart

__all__ = [
    "HINT_FIXED_IN",
    "HINT_REMOVED_IN",
    "SPIN_FIXED_IN",
    "fio_job",
    "groups_in_ratio",
    "hints_direct_writes",
    "is_fio_job",
    "is_on_devices",
    "is_windows_path",
    "spins",
]


def is_fio_job(part: LoadPart) -> bool:
    """True if fio runs this part of the load. Options that are not set then have fio's defaults."""
    return isinstance(part.source, Job)


def has_copied_clock(parts: Iterable[LoadPart]) -> bool:
    """True if fio's jobs copy the time from another thread (gtod_cpu), so that latencies may be wrong by milliseconds.

    All jobs do so if one of them sets gtod_cpu (fio_gtod_offload in gettime-thread.c, fio 3.42).
    """
    return any(fio_job(part).text("gtod_cpu") is not None for part in parts)


def is_on_devices(part: LoadPart) -> bool:
    """True if the job names its targets, and all of them are in /dev."""
    names = fio_job(part).filenames
    return bool(names) and all(name.startswith("/dev/") for name in names)
