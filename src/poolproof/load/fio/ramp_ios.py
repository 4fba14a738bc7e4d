"""Count the I/Os that began during a ramp and ended after it.

fio counts the bytes and the latency of an I/O when it ends, but counts the I/O itself when it begins, and resets the
count at the end of the ramp (td_io_queue() in ioengines.c and reset_all_stats() in libfio.c, fio 3.42). With a deep
queue on a slow disk, its IOPS are clearly too low: 155 instead of 190, with 128 I/Os in flight on a hard disk.
"""

from collections.abc import Mapping
from dataclasses import replace

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of
from poolproof.load.outcome import Direction


def with_ramp_ios(ways: Mapping[str, Direction | None], options: Mapping[str, str]) -> dict[str, Direction | None]:
    """Return the I/O of a job in each direction, with the I/Os that its ramp left in flight.

    Verified jobs are returned unchanged, because their latencies may include those of the reads that verify.
    """
    job = Job("", options)
    if not job.seconds("ramp_time") or part_of(job).verifies:
        return dict(ways)
    return {name: each and _completed(each) for name, each in ways.items()}


def _completed(direction: Direction) -> Direction:
    ended = max((each.samples or 0 for each in (direction.clat, direction.lat) if each is not None), default=0)
    more = ended - (direction.ios or 0)
    if not direction.ios or not direction.iops or more <= 0:
        return direction
    return replace(direction, ios=ended, iops=direction.iops * ended / direction.ios, ramp_ios=more)
