"""Presets: predefined workloads that imitate the I/O of real programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from poolproof.campaign.model import JobSpec
from poolproof.metrics import MetricId


@dataclass(frozen=True)
class Preset:
    """fio jobs that imitate the I/O of a real program. `source`: a reference for the numbers used."""

    name: str
    summary: str
    jobs: tuple[JobSpec, ...]
    metric: MetricId
    source: str


def _job(name: str, **options: str) -> JobSpec:
    return JobSpec(name, tuple(options.items()))


_BACKUP = Preset(
    # borg writes segments of up to 500 MiB (max_segment_size = 524288000) and restic pack files of 16 MiB, one after
    # the other, all of them new. Both sync their files, and so do most copies that are followed by `sync`. With
    # end_fsync=1, this last sync counts in the bandwidth. The tools write through the page cache. This job bypasses it,
    # with eight I/Os in flight as in writeback: writing a file inside the page cache would measure RAM. It
    # overwrites one file, because new blocks would make the eight writes wait for each other (ext4 and xfs allocate
    # under a lock). A copy-on-write layout allocates new blocks anyway.
    name="backup",
    summary="a backup: one large sequential write in 1 MiB blocks, synced at the end",
    jobs=(_job("backup", rw="write", bs="1m", size="1g", iodepth="8", end_fsync="1"),),
    metric="bandwidth",
    source=(
        "borg, internals, data structures "
        "(https://borgbackup.readthedocs.io/en/stable/internals/data-structures.html) and restic, tuning "
        "(https://restic.readthedocs.io/en/stable/047_tuning_backup_parameters.html)"
    ),
)

_ETCD = Preset(
    # etcd (the store of Kubernetes) appends every proposal to its log and calls fdatasync, so its cluster is only as
    # fast as that call. The authors of the article traced etcd and found writes of 2300 bytes on average. They accept a
    # disk if the 99th percentile of fdatasync is below 10 ms, so the metric is `sync_p99`. etcd allocates each segment
    # of its log, 64 MB, before it writes to it (SegmentSizeBytes in server/storage/wal/wal.go, and Preallocate in
    # client/pkg/fileutil). So does this job: fio allocates a new file for each trial (its default `fallocate`), and
    # removes it at the end (`unlink`). Neither etcd nor this job reads anything: overwriting a file would read each
    # page that a block covers only in part. Two things differ from the command in the article. Its 22 MiB are 10,030
    # commits, which take a good SSD a second. This job therefore starts again at the beginning of its file until its
    # time is over. And direct=0 is explicit: 2300 bytes are not a multiple of a sector, so etcd writes through the page
    # cache, and fdatasync writes the data to the disk.
    name="etcd",
    summary="etcd's write-ahead log: 2300-byte appends to a new file, each followed by fdatasync",
    jobs=(_job("etcd", rw="write", bs="2300", size="64m", ioengine="sync", direct="0", fdatasync="1", unlink="1"),),
    metric="sync_p99",
    source=(
        "M. Olivi and M. Spreitzer, IBM, 2019: "
        "https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd; "
        "etcd 3.5, server/storage/wal (https://github.com/etcd-io/etcd/tree/v3.5.0/server/storage/wal)"
    ),
)

_FILESERVER = Preset(
    # Filebench's file server has threads that each write a whole file (mean 128 KiB), append to one (mean 16 KiB) and
    # read one whole: two writes for each read, in blocks of 128 KiB and 16 KiB. This job reads and writes such blocks
    # at random offsets in large files, with 16 clients instead of 50. It does not create, delete or look up files, so
    # it does not show whether a layout is slow at metadata.
    name="fileserver",
    summary="sixteen clients of a file server: 128 KiB reads and writes, mixed with 16 KiB appends",
    jobs=(
        _job(
            "fileserver",
            rw="randrw",
            rwmixread="33",
            bssplit="128k/100,128k/50:16k/50",
            size="64m",
            ioengine="psync",
            numjobs="16",
        ),
    ),
    metric="iops",
    source="filebench, workloads/fileserver.f (https://github.com/filebench/filebench)",
)

_MEDIA = Preset(
    # Filebench's video server reads its videos in blocks of 256 KiB, one thread per viewer; this job has four viewers.
    # Filebench limits each viewer to the rate of a video. Here they read as fast as the disks allow, so the bandwidth
    # divided by the rate of one video is the number of viewers. On a rotational disk the streams compete for the
    # heads, which a single sequential read does not show.
    name="media",
    summary="four viewers of a media server, each reading a different large file sequentially",
    jobs=(_job("media", rw="read", bs="256k", size="512m", ioengine="psync", numjobs="4"),),
    metric="bandwidth",
    source="filebench, workloads/videoserver.f (https://github.com/filebench/filebench)",
)

_POSTGRES = Preset(
    # Commits are 8 KiB blocks (XLOG_BLCKSZ) appended to the log, each followed by fdatasync, the default
    # `wal_sync_method` on Linux. Segments of 16 MB are recycled, so the log overwrites existing files, as the job does.
    # Backends that miss shared_buffers read 8 KiB pages (BLCKSZ) at random, and each waits for its page: four readers
    # at depth 1, with direct I/O, because a database worth measuring is larger than RAM. On a real server, readers slow
    # down the commits; pg_test_fsync alone does not have any readers. `sync_p99` is the wait of the slowest commit in
    # 100.
    name="postgres",
    summary="PostgreSQL: 8 KiB commits to the log with fdatasync, while four readers read random 8 KiB pages",
    jobs=(
        _job("wal", rw="write", bs="8k", size="256m", ioengine="psync", direct="0", fdatasync="1"),
        _job("pages", rw="randread", bs="8k", size="256m", ioengine="psync", numjobs="4"),
    ),
    metric="sync_p99",
    source=(
        "PostgreSQL manual, wal_sync_method (https://www.postgresql.org/docs/current/runtime-config-wal.html) and "
        "pg_test_fsync (https://www.postgresql.org/docs/current/pgtestfsync.html)"
    ),
)

_VM = Preset(
    # 70% random reads of about 8 KiB with 8 I/Os in flight: Microsoft's VMFleet calls this its general profile,
    # and StorageReview runs it for virtual machines with HCIBench. Guests send more than one size, because their page
    # caches write back 4 KiB pages and merged runs of them. The split from 4 to 64 KiB is poolproof's own choice; no
    # trace confirms its exact shares. The four jobs are four guests, each with its own file instead of a disk image.
    name="vm",
    summary="four virtual machines: random I/O, 70% reads, 4 to 64 KiB blocks, 8 I/Os in flight each",
    jobs=(
        _job(
            "vm",
            rw="randrw",
            rwmixread="70",
            bssplit="4k/40:8k/30:16k/15:64k/15",
            size="256m",
            iodepth="8",
            numjobs="4",
        ),
    ),
    metric="iops",
    source=(
        "VMFleet's general profile (https://azurelocal.cloud/azurelocal-loadtools/tools/vmfleet/workload-profiles) and "
        "StorageReview's HCIBench profiles "
        "(https://itblog.sandisk.com/vmwares-suggestions-workload-configuration-vsan-performance-testbed/)"
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (_BACKUP, _ETCD, _FILESERVER, _MEDIA, _POSTGRES, _VM)}
)
"""All presets in alphabetical order, keyed by name."""
