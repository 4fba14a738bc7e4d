"""The limits that rules share: the fraction of the expected work that the counters must show, with reasons.

Each limit is a fraction: counted work / expected work. Counters never match exactly. Some blocks are still in RAM from
earlier runs, the counters' window differs slightly from the load's run time, and statistics are read only a few times
per second. In all measured cases with a wrong result, the fraction is 0.25 or less. These cases are in
`tests/unit/rules/test_measured.py`, and docs/verdicts.md explains the limits to users.
"""

READ = 0.85
"""The fraction of the expected bytes that the disks must have read.

The limit must accept the fourth run of the measured case L08, whose result is valid at a fraction of 0.885. Three
earlier runs with other random offsets had left about an eighth of the file in RAM.
"""

ALL_READ = 0.95
"""If the disks read at least this fraction of the expected bytes, rules do not claim that some data came from RAM."""

WRITTEN = 0.9
"""The fraction of the expected bytes that the disks must have written.

The limit is stricter than the one for reads, because no cache can hold back writes after the final flush. The remaining
tenth allows for blocks that were written twice, and for I/O just before and after the counters' window.
"""

WRITTEN_IN_TIME = 0.75
"""The fraction of the disks' writes, including those of the final flush, that must be complete when the load ends.

With write amplification, the bytes written when the load ends can look sufficient although most of the work comes
later. The remaining quarter allows for the file system's own writes after a load: its journal, metadata or a
transaction group.
"""

IN_DRAIN = 0.95
"""If the disks had written less than this fraction of their bytes when the load ended, the writes were late."""

REQUESTS = 0.85
"""The fraction of I/Os for which the disks must have done separate work, such as a request.

It is the same as `READ`, because a block that is read from RAM causes no request either. The limit also applies to
fio's disk statistics.
"""

REQUESTS_OF_EACH = 0.95
"""The fraction of I/Os for which the disks must have done separate work before IOPS and latencies count as proven.

If a twentieth of the I/Os took no time, the IOPS are 5% too high.
"""

REQUESTS_IF_UNEVEN = 0.9
"""If at least this fraction of the I/Os caused a separate request, an uneven rate is attributed to the disk."""

REFUTED = 0.5
"""The fraction below which a result is refuted, because the disks did less than half of the work.

Above it, but below the limit for reads or writes, a result is suspect.
"""

FLUSHED = 0.5
"""The fraction of syncs that must have caused a flush or a write-through.

The fraction is low because a single flush may serve the syncs of several clones.
"""

STORED_BY_SYNCS = 0.9
"""Of the blocks that syncs had to store, the fraction that must have reached the disks.

It has the same tolerance as `WRITTEN`.
"""


RAMP_END_S = 0.1
"""The time in seconds by which the counters at the end of a ramp may differ from those at its actual end.

fio's reports show the end to within a few milliseconds, but the counters are read only ten times per second.
"""


def percent(share: float) -> str:
    """Format a limit as a percentage for the description of a rule, e.g. `85%`."""
    return f"{100 * share:.0f}%"
