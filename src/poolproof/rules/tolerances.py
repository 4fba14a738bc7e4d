"""The limits that rules share: how much of the expected work the counters must show, and the reasons for these values.

Each limit is a share: work that was counted / work that was expected. Counters never match exactly. Some blocks are
still in RAM from earlier runs, the window of the counters is not exactly that of the load, and statistics are read a
few times per second. In every measured case with a wrong result, the share is at most 0.25. The measured cases are in
`tests/unit/rules/test_measured.py`, and docs/verdicts.md explains the limits to users.
"""

READ = 0.85
"""The share of the bytes that the disks must have read.

The fourth run of the measured case L08 is valid with a share of 0.885: three earlier runs with other random offsets had
left an eighth of the file in RAM.
"""

ALL_READ = 0.95
"""If the disks read at least this share of the bytes, rules do not report that some data came from RAM."""

WRITTEN = 0.9
"""The share of the bytes that the disks must have written.

No cache can keep writes from the disks after the flush, so this limit is stricter than the one for reads. The remaining
tenth allows for blocks that were written twice and for the ends of the window.
"""

WRITTEN_IN_TIME = 0.75
"""The share of everything the disks wrote, final flush included, that must have been written by the end of the load.

With write amplification, the bytes written by then can look sufficient although most of the work came later. The
remaining quarter allows for what a file system writes on its own after a load: the journal, metadata, a transaction
group.
"""

IN_DRAIN = 0.95
"""Writes were late, not lost, if the disks had written less than this share of their bytes when the load ended."""

REQUESTS = 0.85
"""The share of I/Os that must have their own request or other work at the disks.

It equals `READ`, because a block that is read from RAM needs no request either. This is also the limit for fio's disk
statistics.
"""

REQUESTS_OF_EACH = 0.95
"""The share of I/Os that must have their own work at the disks to prove IOPS and latencies. If a twentieth of the
I/Os took no time, IOPS are 5 % too high."""

REQUESTS_IF_UNEVEN = 0.9
"""If at least this share of the I/Os has its own request, an uneven rate is blamed on the disk."""

REFUTED = 0.5
"""Below this share, a result is refuted, because the disks did not do most of the work.

Between this share and the limit of its direction, a result is suspect.
"""

FLUSHED = 0.5
"""The share of syncs that must have caused a flush or a write through the cache. One flush may serve the syncs of
several clones.
"""

STORED_BY_SYNCS = 0.9
"""The disks must have at least this share of the blocks that syncs had to store.

The tolerance is the same as for `WRITTEN`.
"""


def percent(share: float) -> str:
    """Format a limit for the text of a rule: `85 %`."""
    return f"{100 * share:.0f} %"
