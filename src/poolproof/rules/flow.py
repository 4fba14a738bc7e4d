"""Byte accounting for the rules: compares the bytes moved by fio, expected at the disks and counted at the disks.

`tolerances.py` defines the lowest acceptable ratios of counted to expected bytes, and the ratio below which a result is
refuted.
"""

from dataclasses import dataclass, replace

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.left_in_ram import why_little_is_left
from poolproof.rules.model import Case, Effect
from poolproof.rules.path import commits_writes, may_leave_dirty, writes_go_past_ram
from poolproof.rules.reported import Kind, each_sync_has_data, parts, remembered
from poolproof.rules.stored_share import least_stored_share, stored_share, written_share
from poolproof.rules.tolerances import IN_DRAIN, READ, REFUTED, WRITTEN, WRITTEN_IN_TIME
from poolproof.units import format_number, format_size

_LAST_UNSYNCED = 0.05


@dataclass(frozen=True)
class Flow:
    """The byte accounting of reads or of writes: bytes moved by fio, expected at the disks, and counted at the disks.

    `least`: the lowest acceptable ratio of counted to expected bytes.
    `of_all_work`: True if the accounting compares two points in time: everything written by the end of the final flush
    is expected, and the bytes written by the end of the load are counted.
    `is_bound`: True if the counted bytes are an upper bound.
    """

    moved_bytes: int
    expected_bytes: float
    counted_bytes: float
    least: float
    of_all_work: bool = False
    is_bound: bool = False

    @property
    def ratio(self) -> float:
        return self.counted_bytes / self.expected_bytes

    @property
    def in_order(self) -> bool:
        return self.ratio >= self.least

    @property
    def effect(self) -> Effect:
        """The effect of a finding that reports that the ratio is too low."""
        return "refutes" if self.ratio < REFUTED else "suspects"

    @property
    def moved(self) -> str:
        return format_size(self.moved_bytes)

    @property
    def counted(self) -> str:
        return f"{'at most ' if self.is_bound else ''}{format_size(self.counted_bytes)}"

    @property
    def expected(self) -> str:
        """The expected bytes as text.

        If fio moved a different number of bytes, the text also shows the factor between the two: `4.00 GiB (2 × 2.00
        GiB)`.
        """
        if self.of_all_work:
            return f"the {format_size(self.expected_bytes)} that they had written by the end of the final flush"
        if round(self.expected_bytes) == self.moved_bytes:
            return self.moved
        factor = format_number(self.expected_bytes / self.moved_bytes, 3)
        return f"{format_size(self.expected_bytes)} ({factor} × {self.moved})"

    @property
    def share(self) -> str:
        """The ratio of counted to expected bytes as text: `17%`, `2.4%`, `2.2 times`."""
        if self.ratio >= 2:
            return f"{format_number(self.ratio)} times"
        return f"{100 * self.ratio:.0f}%" if self.ratio >= 0.1 else f"{100 * self.ratio:.2g}%"

    @property
    def counted_share(self) -> str:
        """The counted bytes and their share of the expected bytes as text: `512 MiB (25% of 2.00 GiB)`."""
        return f"{self.counted} ({self.share} of {self.expected})"


@remembered
def account(case: Case) -> Account | None:
    """Return the byte accounting, or None if it is missing or the I/O of some leaf device was not counted.

    Writes to devices that store only copies are excluded. Writes with which a write-back cache moved data to the slow
    disks are excluded too, because the writes to its fast device include this data.
    """
    found = case.evidence.account if case.evidence and case.leaves and not uncounted(case) else None
    names = copy_devices(case)
    copies = [leaf for leaf in case.leaves if leaf.device in names]
    moved_by_end, moved = _written_back_bytes(case)
    if found is None or not (copies or moved):
        return found
    at_end = sum(leaf.write_bytes for leaf in copies) + moved_by_end
    drained = sum(leaf.drained_write_bytes for leaf in copies) + moved
    return replace(
        found,
        leaf_write_bytes=max(0, found.leaf_write_bytes - at_end),
        leaf_drained_write_bytes=max(0, found.leaf_drained_write_bytes - drained),
    )


def _written_back_bytes(case: Case) -> tuple[int, int]:
    """Return how many bytes LVM's write-back caches moved to the slow disks: by the end of the load, and in total.

    They are what the fast devices read. The final flush also moves what an earlier load left in the cache. If the load
    itself reads, the number is unknown, and 0 is returned. Older runs lack the reads of the final flush.
    """
    if case.load.reads or case.target is None:
        return 0, 0
    names = frozenset(case.target.cache_devices) - copy_devices(case)
    caches = [leaf for leaf in case.leaves if leaf.device in names]
    totals = (leaf.read_bytes if leaf.drained_read_bytes is None else leaf.drained_read_bytes for leaf in caches)
    return sum(leaf.read_bytes for leaf in caches), sum(totals)


def has_parity(case: Case) -> bool:
    """True if the layout stores parity, so that a write to a part of a stripe reads the rest and writes more.

    Older runs have only the write amplification, which is a whole number for raid6 over four disks too.
    """
    found = case.evidence.account if case.evidence else None
    return bool(case.target and case.target.has_parity) or (found is not None and found.write_factor % 1 != 0)


def copy_devices(case: Case) -> frozenset[str]:
    """Return the names of the cache devices that store only copies of data that other disks store too.

    These are ZFS's cache devices, and the fast devices of LVM caches that write through.
    """
    of_zfs = case.zfs.cache_devices if case.zfs else ()
    return frozenset((*of_zfs, *(case.target.copy_devices if case.target else ())))


@remembered
def uncounted(case: Case) -> tuple[str, ...]:
    """Return the names of the leaf devices whose I/O the kernel does not count."""
    switched_off = case.target.not_counted if case.target else ()
    return tuple(leaf.device for leaf in case.leaves if not leaf.counted or leaf.device in switched_off)


@remembered
def reads(case: Case) -> Flow | None:
    """Compare the bytes that fio read with the bytes that the leaf devices read.

    If the load rewrites its files with data that compresses better, the expected number of bytes is a lower bound.
    Returns None if fio read nothing or a leaf device's I/O was not counted.
    """
    return _reads(case, least_stored_share(case))


def reads_as_filled(case: Case) -> Flow | None:
    """Make the same comparison as `reads`, but expect the bytes that the files had before the load rewrote them."""
    return _reads(case, stored_share(case))


def _reads(case: Case, share: float) -> Flow | None:
    found = account(case)
    if found is None or not found.fio_read_bytes:
        return None
    expected = found.fio_read_bytes * share
    return Flow(found.fio_read_bytes, expected, found.leaf_read_bytes, READ, is_bound=_is_bound(case))


def cold_reads(case: Case) -> Flow | None:
    """Return the same comparison as `reads`, or None if RAM is part of the measurement."""
    return reads(case) if case.cold else None


def lost_reads(case: Case) -> Flow | None:
    """Make the same comparison as `cold_reads`, but return None unless the ratio is too low."""
    flow = cold_reads(case)
    return flow if flow and not flow.in_order else None


@remembered
def writes(case: Case) -> Flow | None:
    """Compare the bytes that the leaf devices should have written with those written by the end of the final flush.

    The expected number is the bytes written by fio times the write amplification. Writes to log vdevs are excluded,
    because log records are not pool data. If all data was synced when fio ended, the intent log on the pool's own disks
    is excluded as well. Returns None if fio wrote nothing or a leaf device's I/O was not counted.
    """
    found = account(case)
    return _writes(case, found, found.leaf_drained_write_bytes - _log_bytes(case, found)) if found else None


def lost_writes(case: Case) -> Flow | None:
    """Make the same comparison as `writes`, but return None unless the ratio is too low."""
    flow = writes(case)
    return flow if flow and not flow.in_order else None


@remembered
def writes_at_end(case: Case) -> Flow | None:
    """Make the same comparison as `writes`, but count only the bytes that the leaf devices had written when fio ended.

    On ZFS, a committed write counts as soon as all copies of the intent log contain it, because the log keeps it
    durable until its transaction group is written (zil_commit() in OpenZFS 2.1). The same applies to data that is
    committed only by a final sync. This matters if the log has fewer copies than the data, because it is on log vdevs
    or the dataset has copies=2.
    """
    found = account(case)
    if found is None:
        return None
    if not commits_each_write(case) or not (_has_log(case) or found.commit_factor):
        return _writes(case, found, _durable_at_end(case, found))
    factor = min(found.commit_factor or 1.0, found.write_factor)
    return _writes(case, replace(found, write_factor=factor), found.leaf_write_bytes)


@remembered
def deferred_writes(case: Case) -> Flow | None:
    """Compare what the leaf devices had written when fio ended with everything that they wrote on fio's behalf.

    This detects deferred work. With write amplification, the disks may have written as many bytes as fio when fio
    ended, and still have most of their work ahead of them. Background writes are subtracted. Data that ZFS has
    committed to its intent log does not count as deferred, although its transaction group writes it again.

    Returns None if fio wrote nothing, if a leaf device's I/O was not counted, or if each write had left RAM when it
    returned. Also returns None if all data was synced when fio ended, because only the file system's own metadata is
    written after that. ZFS is an exception, because its synced data may still be only in the intent log.
    """
    found = account(case)
    writers = [job for job in case.jobs if job.writes]
    if found is None or not found.fio_write_bytes:
        return None
    if all(commits_writes(case, job) or writes_go_past_ram(case, job) is True for job in writers):
        return None
    if ends_durable(case) and case.zfs is None:
        return None
    background = found.idle_write_bytes_per_s * found.drain_s
    log = _log_bytes(case, found) if ends_durable(case) else 0.0
    work = max(found.leaf_drained_write_bytes - log - background, found.leaf_write_bytes - log)
    if work <= 0:
        return None
    return Flow(found.fio_write_bytes, work, _durable_at_end(case, found), WRITTEN_IN_TIME, of_all_work=True)


def late_writes(case: Case) -> Flow | None:
    """Return the comparison from `writes_at_end` or `deferred_writes` whose ratio is too low, or None if neither is.

    If both are too low, that from `writes_at_end` is returned. However, `writes_at_end` is considered only if more than
    5% of the bytes were written after fio ended. These writes were late rather than lost, because the final flush wrote
    them.
    """
    at_end, drained, deferred = writes_at_end(case), writes(case), deferred_writes(case)
    if at_end is None or drained is None:
        return None
    if not at_end.in_order and at_end.counted_bytes < IN_DRAIN * drained.counted_bytes:
        return at_end
    return deferred if deferred is not None and not deferred.in_order else None


def commits_each_write(case: Case) -> bool:
    """True if every write is durable when it completes, or is synced before its clone starts the next one.

    False if the load does not write.
    """
    writers = [job for job in case.jobs if job.writes]
    return bool(writers) and all(commits_writes(case, job) for job in writers)


def ends_durable(case: Case) -> bool:
    """True if (nearly) all data was synced when fio ended, by a final sync or by frequent syncs during the run."""
    writers = [job for job in case.jobs if job.writes]
    return bool(writers) and all(
        commits_writes(case, job) or job.syncs_at_end or _leaves_few_unsynced(case, job) for job in writers
    )


def flushed_by_close(case: Case) -> list[LoadPart]:
    """Return the jobs whose data may have reached the disks only when fio closed the block device.

    When the last program closes a block device, the kernel writes its dirty pages (blkdev_put_whole() in block/bdev.c,
    Linux 6.12). fio closes its files after it has stopped its clock (thread_main() in backend.c, fio 3.42), but before
    it ends. The counters read after fio's end therefore include this data, although fio's rates do not include the
    time that it took. With `loops`, fio also closes the device after each loop.
    """
    return [
        job
        for job in case.jobs
        if job.writes
        and is_on_devices(job)
        and may_leave_dirty(job, case.target)
        and writes_go_past_ram(case, job) is not True
        and not (commits_writes(case, job) or _leaves_few_unsynced(case, job) or why_little_is_left(case))
        and not _waits_for_ranges(case, job)
    ]


def _waits_for_ranges(case: Case, job: LoadPart) -> bool:
    """True if sync_file_range wrote at least 95% of the job's data and waited until the device had it.

    This is not a sync, because the device's cache is not flushed, but the time that it takes is part of the rates. It
    writes nothing without `write`: `wait_after` alone only waits for writes that the kernel has already started
    (ksys_sync_file_range() in fs/sync.c, Linux 6.12).
    """
    flags, _, number = (fio_job(job).text("sync_file_range") or "").replace(" ", "").rpartition(":")
    words, every = set(flags.split(",")), int(number) if number.isdecimal() else 0
    if not every or "write" not in words or not words & {"wait_before", "wait_after"}:
        return False
    return every * job.clones <= _LAST_UNSYNCED * _ios_written(case, job)


def _ios_written(case: Case, job: LoadPart) -> int:
    written = [part for part in parts(case.outcome) if part.kind == "write" and part.job.name == job.name]
    return sum(part.figures.ios or 0 for part in written)


def _leaves_few_unsynced(case: Case, job: LoadPart) -> bool:
    """True if at most 5% of the job's writes came after the last sync of their clone.

    That is certain if N × clones is at most 5%, with a sync after every N writes. With fewer writes, the counted syncs
    show how many writes they cover, provided that each of them followed N writes.
    """
    if not job.sync_every:
        return False
    written, every = _ios_written(case, job), job.sync_every
    unsynced = every * job.clones
    if each_sync_has_data(case, job):
        synced = [part for part in case.outcome.parts if part.name == job.name] if case.outcome else []
        counted = sum(max(part.syncs or 0, (part.sync.samples or 0) if part.sync else 0) for part in synced)
        unsynced = min(unsynced, max(0, written - every * counted))
    return unsynced <= _LAST_UNSYNCED * written


def _durable_at_end(case: Case, found: Account) -> float:
    """Return the number of bytes that the leaf devices had written when fio ended.

    If everything was synced by then, the bytes of the intent log are replaced with the number of bytes that the
    transaction groups will later write for them.
    """
    if not (_has_log(case) or found.commit_factor) or not ends_durable(case):
        return found.leaf_write_bytes
    copies = found.commit_factor or 1.0
    devices = case.zfs.log_devices if case.zfs else ()
    logged = float(sum(leaf.write_bytes for leaf in case.leaves if leaf.device in devices))
    use = case.evidence.zfs if case.evidence else None
    if use is not None and not devices:
        logged = ((use.zil_slog_bytes if _has_log(case) else use.zil_normal_bytes) or 0) * copies
    logged = min(logged, found.leaf_write_bytes)
    return found.leaf_write_bytes + logged * (found.write_factor / copies - 1)


def _has_log(case: Case) -> bool:
    return case.zfs is not None and case.zfs.has_log


def _log_bytes(case: Case, found: Account) -> float:
    """Return the number of bytes of log records that the leaf devices wrote, final flush included, or 0 if unknown."""
    use = case.evidence.zfs if case.evidence else None
    devices = case.zfs.log_devices if case.zfs else ()
    logged = float(sum(leaf.drained_write_bytes for leaf in case.leaves if leaf.device in devices))
    if use is not None and not devices and _has_log(case):
        logged = (use.zil_slog_bytes or 0) * (found.commit_factor or 1.0)
    if use is not None and ends_durable(case):
        copies = found.write_factor if _has_log(case) else found.commit_factor or found.write_factor
        logged += (use.zil_normal_bytes or 0) * copies
    return min(logged, found.leaf_drained_write_bytes)


def _is_bound(case: Case) -> bool:
    return case.quoted is not None and case.quoted.counts_at_most


def _writes(case: Case, found: Account, counted_bytes: float) -> Flow | None:
    if not found.fio_write_bytes:
        return None
    expected = found.fio_write_bytes * found.write_factor * written_share(case)
    return Flow(found.fio_write_bytes, expected, counted_bytes, WRITTEN, is_bound=_is_bound(case))


@remembered
def bytes_prove(case: Case, kind: Kind | None = None, *, of_commits: bool = False) -> bool:
    """True if the byte accounting proves that the data came from or reached the disks.

    fio must have moved data, and the ratios must be high enough for all writes, and for the reads that caches should
    not have served.

    `kind`: check only the reads or only the writes; None checks both.
    `of_commits`: if every write is committed, require only that the writes were durable when fio ended. A later write
    may replace such data in RAM before the pool stores it.
    """
    found = account(case)
    if found is None or not found.fio_read_bytes + found.fio_write_bytes:
        return False
    read = (cold_reads(case),) if kind != "write" else ()
    drained = () if of_commits and commits_each_write(case) else (writes(case),)
    wrote = (*drained, writes_at_end(case), deferred_writes(case)) if kind != "read" else ()
    return all(flow.in_order for flow in (*read, *wrote) if flow)
