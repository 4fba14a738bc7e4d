"""direct=1 on ZFS, which honours it only in some cases."""

from collections.abc import Iterator

from poolproof.load.model import LoadPart
from poolproof.rules.coverage import proves
from poolproof.rules.left_in_ram import why_little_is_left
from poolproof.rules.model import Case, Changes, Findings, Rule, fill, finding, notes, suspects, zfs_source
from poolproof.rules.path import is_zfs, release_of
from poolproof.units import format_size

_FIRST = (2, 3, 0)
_UNCACHED = (2, 4, 0)
_PAGE = 4096
_FIX_UNALIGNED = "use a bs that is a multiple of 4k, or leave out direct=1"


def _reasons(case: Case, job: LoadPart) -> Iterator[str]:
    """Yield explanations of why the job's O_DIRECT will not bypass the ARC.

    If OpenZFS 2.4 cannot do direct I/O on a dataset, it does uncached I/O instead: the data passes through the ARC, but
    does not stay there.
    """
    zfs, release = case.zfs, release_of(case.zfs)
    record = case.target.record_bytes if case.target else None
    through = "the I/O goes through the ARC"
    uncached = "OpenZFS 2.4 turns such I/O into uncached I/O, whose data the ARC does not keep"
    fallback = uncached if release is not None and release >= _UNCACHED else through
    if zfs and zfs.is_zvol:
        yield f"no OpenZFS release so far supports direct I/O on zvols: {through}"
    elif release is None:
        yield f"OpenZFS up to 2.2 ignores O_DIRECT: {through}"
    elif release < _FIRST:
        yield f"OpenZFS {release[0]}.{release[1]} ignores O_DIRECT (2.3 is the first release to honour it): {through}"
    elif zfs and zfs.direct == "disabled":
        yield f"the dataset has direct=disabled: {fallback}"
    elif job.block_bytes % _PAGE:
        if release >= _UNCACHED or (zfs and zfs.direct == "always"):
            yield f"blocks of {format_size(job.block_bytes)} are not whole pages: {fallback}"
        else:
            yield (
                f"OpenZFS 2.3 rejects blocks of {format_size(job.block_bytes)} with EINVAL, because they are not whole "
                "pages"
            )
    elif job.writes and record and job.block_bytes % record:
        yield f"blocks of {format_size(job.block_bytes)} are not whole {format_size(record)} records: {fallback}"


def _in_job(case: Case) -> Findings:
    if not is_zfs(case.target) or not (case.cold or case.load.writes):
        return
    # Writes that pass through the ARC are valid if nearly all of the data reached the disks.
    little = "" if case.load.reads else why_little_is_left(case)
    for job in case.jobs:
        for reason in _reasons(case, job) if job.direct else ():
            make = notes if "uncached" in reason or little else suspects
            yield make(
                f"{case.who([job])} sets direct=1 on ZFS, but {reason}" + (f". However, {little}" if little else ""),
                weight=70,
                fix=_FIX_UNALIGNED if "EINVAL" in reason else "",
            )


def _in_result(case: Case) -> Findings:
    use = case.evidence.zfs if case.evidence else None
    if use is None or use.direct_read_bytes is None or use.arc_read_bytes is None:
        return
    read = use.direct_read_bytes + use.arc_read_bytes
    always = case.zfs is not None and case.zfs.direct == "always"
    asked = any((job.direct or always) and job.reads for job in case.jobs)
    if read and case.cold and asked and use.direct_read_bytes < 0.95 * read:
        yield finding(
            "notes" if proves(case) else "suspects",
            f"{'direct=always is set' if always else 'direct=1 was requested'}, but only "
            f"{100 * use.direct_read_bytes / read:.0f}% of the {format_size(read)} that ZFS read bypassed the ARC",
            weight=70,
        )


def _fixed_options(case: Case, job: LoadPart) -> Changes:
    """Return changes that remove direct=1, because it has no effect.

    Returns no changes if the only problem is that writes do not cover whole records.
    """
    reasons = list(_reasons(case, job))
    return {"direct": None, "buffered": None} if reasons and "records" not in reasons[0] else {}


RULE = Rule(
    title="direct=1 that ZFS does not honour",
    wrong="ZFS supports O_DIRECT only since release 2.3, and only on datasets, not on zvols. The I/O must be a read "
    "of whole pages or a write of whole records. Release 2.3 rejects I/O that is not aligned to pages (EINVAL). If "
    "release 2.4 cannot perform an I/O directly, it performs it as uncached I/O, whose data the ARC does not keep.",
    shows="In a job: direct=1 on ZFS before 2.3, on a zvol, with direct=disabled, in blocks that are not whole pages, "
    "or for writes in blocks that are not whole records (only a note from 2.4 on, except on zvols, and for writes of "
    "which at most 15% can have been left in RAM). In the counters: according to the pool's iostats, less than 95% "
    "of the bytes read bypassed the ARC, although the job or the dataset (direct=always) requested it.",
    error="Too high for reads: the ARC serves them.",
    fix="use OpenZFS 2.3 or later, a dataset with direct=standard, and a bs that is a multiple of the recordsize; "
    "otherwise measure buffered I/O: make the file twice as large as zfs_arc_max, set end_fsync=1, and export and "
    "import the pool before reads",
    sources=(
        zfs_source("2.2.0", "module/os/linux/zfs/zpl_file.c", "zpl_open (ignores O_DIRECT)"),
        zfs_source("2.3.0", "module/zfs/zfs_vnops.c", "zfs_setup_direct"),
        zfs_source("2.4.0", "module/zfs/zfs_vnops.c", "zfs_setup_direct (uncached I/O, zfs_dio_strict)"),
        "man zfsprops (direct)",
        "https://github.com/openzfs/zfs/discussions/18507",
    ),
    in_job=_in_job,
    options=("direct", "buffered"),
    fixed_options=_fixed_options,
    in_result=_in_result,
    explains_lost={"read": "read from the ARC, in RAM"},
    needs="Run this on a ZFS dataset. Count with `zpool iostat -v 1` there, because findmnt shows no disk.",
    prepare=fill("256m"),
    commands="fio --rw=randread --bs=4k --size=256m --direct=1\n"
    "grep -h direct_read /proc/spl/kstat/zfs/*/iostats || true",
)
