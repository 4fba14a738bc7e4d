"""Whether the bytes of a job bypass RAM or go through it."""

from poolproof.evidence.model import Target
from poolproof.load.model import LoadPart
from poolproof.rules.model import Case

_FUSE = ("fuse", "mergerfs", "autotier")
_NETWORK = ("nfs", "cifs", "smb", "ceph", "9p", "virtiofs", "glusterfs", "lustre")


def is_zfs(target: Target | None) -> bool:
    """True if the files are on ZFS, including a zvol with another file system on it."""
    return target is not None and (target.zfs is not None or target.file_system in ("zfs", "zvol"))


def is_fuse(target: Target | None) -> bool:
    """True if the files are on a FUSE file system, which runs as a user-space process."""
    return target is not None and target.file_system.startswith(_FUSE)


def is_network(target: Target | None) -> bool:
    """True if the files are on a network file system, whose server has a cache too."""
    return target is not None and target.file_system.startswith(_NETWORK)


def goes_past_ram(job: LoadPart, target: Target | None) -> bool | None:
    """True if the job's I/O reaches the disks without going through a page cache; None if unknown.

    None for direct I/O on ZFS: releases up to 2.2 ignore O_DIRECT, and later releases honour it only for aligned I/O
    on datasets.
    """
    if not job.direct:
        return False
    if target is None or target.file_system in ("", "unknown"):
        return None
    if target.volatile or target.loop_without_direct or is_network(target):
        return False
    return None if is_zfs(target) else True


def may_end_in_ram(job: LoadPart, target: Target | None) -> bool:
    """True if the engine can use the page cache and the job's I/O is not known to bypass it."""
    return job.may_use_page_cache and not goes_past_ram(job, target)


def is_direct_on_unknown(job: LoadPart, target: Target | None) -> bool:
    """True if the job sets direct=1 on an unknown target, which is likely to honour it: only ZFS is known not to."""
    return job.direct and goes_past_ram(job, target) is None and not is_zfs(target)


def all_go_past_ram(case: Case) -> bool:
    """True if every job is known to bypass RAM."""
    return bool(case.load.parts) and all(goes_past_ram(job, case.target) for job in case.load.parts)
