"""Determines whether a job's I/O bypasses RAM."""

import re

from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.model import Case
from poolproof.rules.tolerances import REQUESTS_OF_EACH

_FUSE = ("fuse", "mergerfs", "autotier")
_PASSES_DIRECT_ON = ("fuse.mergerfs", "mergerfs", "fuse.autotier", "autotier")
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_DAX = {"dax", "dax=always"}
_HONOURS_DIRECT = (2, 3, 0)
_JOURNALS_DATA = {"data=journal"}
_PAGE = 4096
_KEEPS_DATA = re.compile(r"/dev/(?:zvol/|zd\d|shm(?:/|$)|z?ram\d)")
_DROPS_DATA = re.compile(r"/dev/(?:null|zero|full|nullb\d+)")
_MEMORY_ENGINES = ("libpmem", "dev-dax", "pmemblk")
_NETWORK = ("nfs", "cifs", "smb", "ceph", "9p", "virtiofs", "glusterfs", "lustre")


def is_zfs(target: Target | None) -> bool:
    """True if the files are on ZFS, including a zvol with another file system on it."""
    return target is not None and (target.zfs is not None or target.file_system in ("zfs", "zvol"))


def is_zvol(target: Target | None) -> bool:
    """True if the files are on a zvol, directly or through another file system on it."""
    return target is not None and (target.file_system == "zvol" or (target.zfs is not None and target.zfs.is_zvol))


def is_block_device(target: Target | None) -> bool:
    """True if the target is a block device without a file system."""
    return target is not None and target.file_system in ("block device", "zvol")


def release_of(zfs: ZfsFacts | None) -> tuple[int, int, int] | None:
    """Return the OpenZFS release, e.g. (2, 3, 1), or None if unknown. A missing third number counts as 0."""
    found = _RELEASE.search(zfs.version or "") if zfs else None
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def is_fuse(target: Target | None) -> bool:
    """True if the files are on a FUSE file system, i.e. one that is implemented by a user-space process."""
    return target is not None and target.file_system.startswith(_FUSE)


def is_network(target: Target | None) -> bool:
    """True if the files are on a network file system, whose server also has a cache."""
    return target is not None and target.file_system.startswith(_NETWORK)


def goes_past_ram(job: LoadPart, target: Target | None) -> bool | None:
    """True if the job's I/O reaches the disks without passing through a page cache; None if unknown.

    For direct I/O on ZFS, the answer is unknown: releases up to 2.2 ignore O_DIRECT, and later ones honour it only for
    aligned I/O on datasets. It is also unknown for FUSE programs, which may open the underlying file without O_DIRECT.
    With data=journal, ext4 accepts O_DIRECT but does buffered I/O (ext4_should_use_dio() in fs/ext4/file.c, Linux
    6.12). On a network file system, only the client's cache is considered; the `network-target` rule covers the
    server's cache. Reads of mapped files never bypass the page cache (`_reads_a_mapping`).
    """
    if not job.direct or _reads_a_mapping(job):
        return False
    if target is None or target.file_system in ("", "unknown"):
        return None
    if target.volatile or target.loop_without_direct or _JOURNALS_DATA & set(target.mount_options):
        return False
    may_strip = is_fuse(target) and not target.file_system.startswith(_PASSES_DIRECT_ON)
    return None if is_zfs(target) or may_strip else True


def may_end_in_ram(job: LoadPart, target: Target | None) -> bool:
    """True if the engine can use the page cache and the job's I/O probably passes through it."""
    is_expected = is_direct_on_unknown(job, target) or is_direct_on_zfs(job, target)
    is_expected = is_expected and not _reads_a_mapping(job)
    return job.may_use_page_cache and not goes_past_ram(job, target) and not (is_expected or drops_data(job))


def _reads_a_mapping(job: LoadPart) -> bool:
    """True if the job reads mapped files.

    With direct=1, fio then only advises the kernel to drop the pages after each I/O (fio_mmapio_queue() in
    engines/mmap.c), and glibc's posix_madvise() ignores POSIX_MADV_DONTNEED. Writes are synced one by one (msync).
    """
    return job.reads and fio_job(job).engine == "mmap"


def drops_data(job: LoadPart) -> bool:
    """True if the job's files are devices such as /dev/null, which have no data and no page cache."""
    names = fio_job(job).filenames
    return bool(names) and all(map(_DROPS_DATA.fullmatch, names))


def is_direct_on_zfs(job: LoadPart, target: Target | None) -> bool:
    """True if ZFS should honour the job's direct I/O.

    The job must access a dataset on OpenZFS 2.3 or later, read whole pages and write whole records. Even then, ZFS may
    use the ARC, for example for blocks that are already in it. That is why `goes_past_ram` returns None for ZFS.
    """
    zfs, release = (target.zfs, release_of(target.zfs)) if target else (None, None)
    if target is None or zfs is None or release is None or not job.direct:
        return False
    if is_zvol(target) or zfs.direct == "disabled":
        return False
    if release < _HONOURS_DIRECT:
        return False
    unit = (target.record_bytes or _PAGE) if job.writes else _PAGE
    return job.block_bytes % unit == 0 and job.max_block_bytes % unit == 0


def writes_go_past_ram(case: Case, job: LoadPart) -> bool | None:
    """True if the job's writes reach the disks without passing through a cache; None if unknown.

    This is decided like `goes_past_ram`, except that dm-integrity's journal is a cache for writes: it completes a write
    when the data is in RAM, and is written when half of it is full, after 10 s, or for a flush (do_endio_flush() in
    drivers/md/dm-integrity.c, Linux 6.12). The result is also True if ZFS's counters show that nearly all of the load's
    writes were direct: dmu_write_abd() in OpenZFS 2.3 counts direct writes in the pool's iostats and waits until they
    are on the disks.
    """
    use = case.evidence.zfs if case.evidence else None
    account = case.evidence.account if case.evidence else None
    written = account.fio_write_bytes if account else 0
    direct = (use.direct_write_bytes or 0) if use and is_zfs(case.target) else 0
    if written and direct >= REQUESTS_OF_EACH * written:
        return True
    if case.target is not None and case.target.journals_in_ram:
        return False
    return goes_past_ram(job, case.target)


def writes_are_synchronous(case: Case, job: LoadPart) -> bool:
    """True if each of the job's writes is durable when it returns.

    The reason is O_SYNC, the mount option sync, or sync=always on ZFS.
    """
    return job.writes_are_synchronous or (case.target is not None and syncs_all_writes(case.target))


def syncs_all_writes(target: Target) -> bool:
    """True if the target makes each write durable before it returns, even if the job does not ask for it."""
    return "sync" in target.mount_options or (target.zfs is not None and target.zfs.sync == "always")


def commits_writes(case: Case, job: LoadPart) -> bool:
    """True if every write is durable when it returns, or is synced before its clone starts the next one."""
    return job.commits_each_write or writes_are_synchronous(case, job)


def may_leave_dirty(job: LoadPart, target: Target | None) -> bool:
    """True if data that the job wrote may still be dirty in the page cache when the job ends."""
    always = target is not None and syncs_all_writes(target)
    is_synced = job.syncs_at_end or job.writes_are_synchronous or job.sync_every == 1 or always
    return may_end_in_ram(job, target) and not is_synced


def is_uncached_when_closed(job: LoadPart, target: Target | None) -> bool:
    """True if the kernel writes back and drops the job's pages when the last program closes the files.

    It does so for block devices (blkdev_put_whole() in block/bdev.c, Linux 6.12), so a job finds no data there that an
    earlier job read or wrote. ZFS keeps the data of a zvol in the ARC.
    """
    names = fio_job(job).filenames
    return is_on_devices(job) and not is_zfs(target) and not any(map(_KEEPS_DATA.match, names))


def is_direct_on_unknown(job: LoadPart, target: Target | None) -> bool:
    """True if the job sets direct=1 on an unknown target.

    Most targets honour direct=1, so the I/O probably bypasses RAM.
    """
    return job.direct and (target is None or target.file_system in ("", "unknown"))


def is_persistent_memory(case: Case, job: LoadPart) -> bool:
    """True if the job's data is on persistent memory, which is faster than any disk.

    The evidence can be the target, the engine, the names of devices and directories, or the text around the result.
    """
    target = case.target
    if case.quoted is not None and case.quoted.has_persistent_memory:
        return True
    if target is not None and (target.persistent_memory or _DAX & set(target.mount_options)):
        return True
    fio = fio_job(job)
    paths = (*fio.filenames, fio.directory or "")
    return fio.engine in _MEMORY_ENGINES or any(word in path for path in paths for word in ("pmem", "/dev/dax"))


def all_go_past_ram(case: Case) -> bool:
    """True if every job is known to bypass RAM."""
    return bool(case.load.parts) and all(goes_past_ram(job, case.target) for job in case.load.parts)
