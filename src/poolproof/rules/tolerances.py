"""The limits that rules share: the fraction of the expected work that the counters must show, and the reasons for it.

Each limit is a fraction: counted work / expected work. Counters never match exactly, because some blocks are still in
RAM from earlier runs, the counters' window differs slightly from the load's, and statistics are read only a few times
per second. In all measured cases with a wrong result, the fraction is 0.25 or less. These cases are in
`tests/unit/rules/test_measured.py`, and docs/verdicts.md explains the limits to users.
"""

READ = 0.85
"""The fraction of the bytes that the disks must have read.

The limit admits a valid result with a fraction of 0.885, the fourth run of the measured case L08. Three earlier runs
with other random offsets had left an eighth of the file in RAM.
"""

ALL_READ = 0.95
"""If the disks read at least this fraction of the bytes, rules do not report that some of the data came from RAM."""

WRITTEN = 0.9
"""The fraction of the bytes that the disks must have written.

This limit is stricter than the one for reads, because no cache can hold back writes after the flush. The remaining
tenth allows for blocks that were written twice and for the edges of the window.
"""

WRITTEN_IN_TIME = 0.75
"""The fraction of all the disks' writes, including the final flush, that must be complete when the load ends.

With write amplification, the bytes written by then can look sufficient although most of the work comes later. The
remaining quarter allows for a file system's own writes after a load: its journal, metadata or a transaction group.
"""

IN_DRAIN = 0.95
"""If the disks had written less than this fraction of their bytes when the load ended, the writes were late."""

REQUESTS = 0.85
"""The fraction of I/Os that must have caused a request or other work of their own at the disks.

It equals `READ`, because a block that is read from RAM needs no request either. The same limit applies to fio's disk
statistics.
"""

REQUESTS_OF_EACH = 0.95
"""The fraction of I/Os that must have caused work of their own at the disks to prove IOPS and latencies.

If a twentieth of the I/Os took no time, the IOPS are 5 % too high.
"""

REQUESTS_IF_UNEVEN = 0.9
"""If at least this fraction of the I/Os caused a request of their own, an uneven rate is attributed to the disk."""

REFUTED = 0.5
"""The fraction below which a result is refuted, because the disks did not do most of the work.

Between this fraction and the limit for reads or writes, a result is suspect.
"""

FLUSHED = 0.5
"""The fraction of syncs that must have caused a flush or a write-through.

It is low because a single flush may serve the syncs of several clones.
"""

STORED_BY_SYNCS = 0.9
"""The fraction of the blocks to be stored by syncs that must have reached the disks.

The tolerance is the same as for `WRITTEN`.
"""


def percent(share: float) -> str:
    """Format a limit as a percentage for a rule's description, e.g. `85 %`."""
    return f"{100 * share:.0f} %"
