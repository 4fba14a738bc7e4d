"""Sequential writes to a file that ZFS prefetches because of the hint that fio gives."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, zfs_source
from poolproof.rules.path import release_of
from poolproof.rules.proof import OF_WRITES, SYNCS
from poolproof.units import format_size

_SINCE = (2, 2, 0)
_MANY = 0.5
_FEW = 0.05


def _in_result(case: Case) -> Findings:
    found, release, zfs = account(case), release_of(case.zfs), case.zfs
    hinting = [job for job in case.jobs if _hints(job)]
    if found is None or zfs is None or zfs.is_zvol or case.load.reads or not hinting:
        return
    if release is not None and release < _SINCE:
        return
    size = sum(file.size_bytes for file in case.files)
    read, wrote = found.leaf_read_bytes, found.leaf_drained_write_bytes
    if _MANY * size > read or not read or not size or read < _FEW * wrote:
        return
    yield finding(
        "suspects",
        f"fio wrote {format_size(found.fio_write_bytes)} and read nothing, but the disks read {format_size(read)} of "
        f"the {format_size(size)} in fio's files: fio announces sequential I/O when it opens a file (fadvise_hint), "
        "and ZFS then reads up to 128 MiB of the file into the ARC, which delays the first writes",
        weight=68,
        metrics=(*OF_WRITES, *SYNCS),
    )


def _hints(job: LoadPart) -> bool:
    """True if fio writes the file and advises the kernel to expect sequential access (fadvise_hint)."""
    hint = fio_job(job).options.get("fadvise_hint", "1")
    return is_fio_job(job) and job.writes and not job.is_random and hint not in ("0", "none", "random")


RULE = Rule(
    title="ZFS reads the file before it is written",
    wrong="fio calls posix_fadvise(POSIX_FADV_SEQUENTIAL) when it opens a file for sequential I/O, including writes. "
    "OpenZFS 2.2 and 2.3 then read up to 128 MiB (dmu_prefetch_max) of each file into the ARC. The first writes wait "
    "for these reads, which can take most of the time of a short test.",
    shows=(
        "In the counters: fio only writes, sequentially, to existing files on ZFS, but the disks read at least half as "
        "many bytes as the files contain, and at least 5% as many bytes as they wrote."
    ),
    error=(
        "Too low. In one measured case, a direct write of 128 KiB took 2.5 s, while the disk read all 64 MiB of the "
        "file."
    ),
    fix="set fadvise_hint=0",
    sources=(
        fio_source("3.42", "ioengines.c", "td_io_open_file (fadvise_hint)"),
        zfs_source("2.3.0", "module/os/linux/zfs/zpl_file.c", "zpl_fadvise"),
        zfs_source("2.3.0", "module/zfs/dmu.c", "dmu_prefetch_max"),
    ),
    in_result=_in_result,
    options=(),
    cleared_by_byte_count=False,
    needs="Run this on a dataset of OpenZFS 2.2 or 2.3, after you export and import the pool.",
    commands="fio --rw=write --bs=128k --size=64m --direct=1 --time_based --runtime=2",
)
