"""Sequential I/O on a file that ZFS prefetches because of the hint that fio gives."""

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job, is_fio_job
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, zfs_source
from poolproof.rules.path import release_of
from poolproof.rules.proof import OF_READS, OF_WRITES, SYNCS
from poolproof.units import format_size

_SINCE = (2, 2, 0)
_MANY = 0.5
_FEW = 0.05
_MOST_OF_FILE = 128 << 20  # dmu_prefetch_max


def _in_result(case: Case) -> Findings:
    found, release, zfs = account(case), release_of(case.zfs), case.zfs
    if found is None or zfs is None or zfs.is_zvol or (release is not None and release < _SINCE):
        return
    yield from _of_reads(case, found) if case.load.reads else _of_writes(case, found)


def _of_writes(case: Case, found: Account) -> Findings:
    hinting = [job for job in case.jobs if job.writes and _hints(job)]
    size = sum(file.size_bytes for file in case.files)
    read, wrote = found.leaf_read_bytes, found.leaf_drained_write_bytes
    if not hinting or _MANY * size > read or not read or not size or read < _FEW * wrote:
        return
    yield finding(
        "suspects",
        f"fio wrote {format_size(found.fio_write_bytes)} and read nothing, but the disks read {format_size(read)} of "
        f"the {format_size(size)} in fio's files: fio announces sequential I/O when it opens a file (fadvise_hint), "
        "and ZFS then reads up to 128 MiB of the file into the ARC, which delays the first writes",
        weight=68,
        metrics=(*OF_WRITES, *SYNCS),
    )


def _of_reads(case: Case, found: Account) -> Findings:
    """Yield a finding if fio read less than half of what the disks read because of its hint.

    ZFS's own prefetch also reads ahead, but stays close to the reads.
    """
    readers = [job for job in case.jobs if job.reads]
    hinted = sum(min(file.size_bytes, _MOST_OF_FILE) for file in case.files)
    moved, read = found.fio_read_bytes, found.leaf_read_bytes
    if not all(map(_hints, readers)) or not hinted or _MANY * hinted > read or moved >= _MANY * read:
        return
    yield finding(
        "suspects",
        f"fio read {format_size(moved)}, but the disks read {format_size(read)}: fio announces sequential I/O when it "
        "opens a file (fadvise_hint), and ZFS then reads up to 128 MiB of the file into the ARC. The first reads wait "
        "for this, so the rate is lower and the latency is higher than those of the disks",
        weight=68,
        metrics=OF_READS,
    )


def _hints(job: LoadPart) -> bool:
    """True if fio advises the kernel to expect sequential access to the job's files (fadvise_hint)."""
    hint = fio_job(job).options.get("fadvise_hint", "1")
    return is_fio_job(job) and not job.is_random and hint not in ("0", "none", "random")


RULE = Rule(
    title="ZFS reads the whole file first",
    wrong="fio calls posix_fadvise(POSIX_FADV_SEQUENTIAL) when it opens a file for sequential I/O, including writes. "
    "OpenZFS 2.2 and 2.3 then read up to 128 MiB (dmu_prefetch_max) of each file into the ARC. The first reads "
    "or writes wait for this, which can take most of the time of a short test.",
    shows=(
        "In the counters: fio only writes, sequentially, to existing files on ZFS, but the disks read at least half as "
        "many bytes as the files contain, and at least 5% as many bytes as they wrote. Or all of fio's reads are "
        "sequential, and it reads less than half of what the disks read, which is at least half of the files (or of "
        "the first 128 MiB of each)."
    ),
    error=(
        "Too low. In one measured case, a direct write of 128 KiB took 2.5 s, while the disk read all 64 MiB of the "
        "file. In another, fio read 128 KiB in 2.6 s, while the disk read all 48 MiB."
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
