"""Compares the number of flushes that reached the disks with the number of syncs that fio counted."""

from dataclasses import dataclass

from poolproof.load.outcome import PartOutcome
from poolproof.rules.flow import uncounted
from poolproof.rules.model import Case
from poolproof.rules.path import writes_are_synchronous
from poolproof.rules.reported import each_sync_has_data


@dataclass(frozen=True)
class Commits:
    """The number of syncs that had data to write, and the number of requests that made data durable.

    `needed`: the minimum number of durable requests for these syncs. With several clones, it is lower than `syncs`,
    because a single flush can serve one sync from each clone.
    `durable`: the counted durable requests, or None if the kernel does not count the flushes of some disk.
    """

    syncs: int
    needed: float
    durable: int | None

    @property
    def ratio(self) -> float | None:
        """The fraction of needed durable requests that was counted. None if not counted or if nothing was synced."""
        return None if self.durable is None or not self.needed else self.durable / self.needed


def commits(case: Case) -> Commits | None:
    """Compare the number of syncs with the number of flushes that reached the disks.

    On a disk without a volatile write cache, the writes are counted instead, because such a disk gets no flushes and
    each write is durable as soon as it completes. Returns None if nothing was counted, or if it is unknown whether the
    disks have write caches.
    """
    if case.outcome is None or case.target is None or case.target.write_through is None:
        return None
    if not case.leaves or uncounted(case):
        return None
    syncs = sum(_syncs(case, job) for job in case.outcome.parts)
    durable: int | None = 0
    for leaf in case.leaves:
        cached = leaf.device not in case.target.without_write_cache and not case.target.write_through
        done = leaf.flush_ios if cached else leaf.write_ios
        durable = None if done is None or durable is None else durable + done
    return Commits(syncs, syncs / max(case.load.clones, 1), durable)


def _syncs(case: Case, reported: PartOutcome) -> int:
    """Return the number of syncs that had data to write, or 0 if the job requests no syncs.

    fio 3.x can report 0 syncs for psync, so the number of sync latency samples is used if it is higher. If some syncs
    may have had nothing to write, at most one sync is counted for every `sync_every` × queue depth writes. If the
    writes themselves are synchronous, no sync is counted.
    """
    syncs = max(reported.syncs or 0, (reported.sync.samples or 0) if reported.sync else 0)
    job = case.job_named(reported.name)
    if job is not None and not job.syncs:
        return 0  # fio also reports times for sync_file_range, which makes nothing durable
    if job is None or each_sync_has_data(case, job):
        return syncs
    if writes_are_synchronous(case, job):
        return 0
    writes = (reported.write.ios or 0) if reported.write else 0
    return min(syncs, writes // (job.sync_every or 1) // max(job.queue_each, 1))
