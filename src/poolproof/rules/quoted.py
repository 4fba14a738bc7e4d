"""Facts from the text around a result, used by rules that judge results from other people."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class QuotedLink:
    """The link of the storage: its rate, its name (`a SATA link`), and a quotation with its line number.

    `iops`: the I/Os per second that the link allows, or 0 if unknown.
    """

    bytes_per_s: float = 0.0
    name: str = ""
    words: str = ""
    iops: float = 0.0


NO_LINK = QuotedLink()
"""An unknown link."""


@dataclass(frozen=True)
class QuotedBase:
    """The reads or writes of the underlying drive: their rate, their IOPS, and a quotation of a heading.

    A rate is 0 if it is unknown.
    """

    direction: str
    bytes_per_s: float = 0.0
    iops: float = 0.0
    words: str = ""


@dataclass(frozen=True)
class Quoted:
    """Facts from the text around a result. Unknown facts are None, False or empty.

    `laid_out_bytes`: the size of the test files, from fio's message that it is laying them out.
    `shared_file_bytes`: the size of the only file that all clones of the job use, or 0 if unknown.
    `assumed`: the job's options that the text does not show, and whose values the audit assumed.
    `memory`: a quotation, with its line number, that names RAM as the target or as the cache.
    `memory_heading`: a quotation, with its line number, of a heading above the result that names only memory as the
    target.
    `memory_target`: a quotation, with its line number, of a statement that the tested device is in memory.
    `cached_heading`: a quotation, with its line number, of a heading above the result that says that the data is read
    from RAM.
    `host_cached`: a quotation, with its line number, of a heading or a name that says that a virtual disk uses the page
    cache of the host.
    `compressed`: the output of a program that shows that the test file occupies less space on disk than its size.
    `guest`: a quotation, with its line number, of output that shows that the machine is a virtual machine.
    `busy`: a quotation, with its line number, that says that an array was rebuilding, resyncing or scrubbing.
    `buffered`: a quotation, with its line number, that says that the reads or writes are buffered.
    `has_fast_media`: True if the text mentions media that respond within 10 µs, such as Optane or persistent memory.
    `has_persistent_memory`: True if the text mentions persistent memory, which responds within 1 µs.
    `same_file_read`: the mean latency in nanoseconds of random reads of the same file in another test of the same
    script, and a clause that says so; 0 if unknown.
    `unfilled`: a clause that describes the only earlier job that wrote the file, if it wrote only part of it.
    `just_written`: a clause that describes the earlier job or command that wrote the file through the page cache.
    `is_macos`: True if the text mentions macOS. There, fio's direct=1 sets F_NOCACHE, with which reads can still be
    served from pages that are already cached.
    `ignores_direct`: a clause that says why the file system of the files ignores direct=1.
    `measures_memory`: an explanation of why the value is, by definition, the speed of memory.
    `stopped_by`: the event that ended the run early, such as a signal. Empty if none is known.
    `depths`: the queue depths that the author claims near the result, each mapped to a quotation with its line number.
    `stated_depth`: the queue depth that the text gives for a result whose job is unknown, and a clause that says where;
    0 if unknown.
    `without_barriers`: a quotation, with its line number, that says that the file system is mounted without barriers.
    `without_flush`: a clause that says why the syncs did not flush the drive's cache.
    `hard_disks`: a quotation of the line that names hard disks as the target.
    `hard_disk_count`: the number of these hard disks, or 0 if unknown.
    `sata_drive`: a quotation, with its line number, that says that the run was on one SATA drive.
    `link`: the link of the storage that the text names near the result, such as that of a SATA or USB drive.
    `bases`: the values that the same test reached on the underlying drive.
    `iops_limit`: the I/Os per second to which the text limits the storage, and a quotation; 0 if unknown.
    `has_log_device`: True if the line that names hard disks also names flash as their log device (SLOG).
    `served_without_sync`: a quotation that says that a server of NFS or iSCSI has sync=disabled.
    `honours_direct`: True if a heading above the result names only file systems that honour O_DIRECT, or a raw device.
    `shares_statistics`: True if fio's disk statistics also include the I/O of other results of the same run.
    `counts_at_most`: True if the counters are upper bounds for the work of the disks.
    `is_moment`: True if the rates are those of a moment while the load ran, not those of a whole run.
    """

    laid_out_bytes: int | None = None
    shared_file_bytes: int = 0
    assumed: frozenset[str] = frozenset()
    memory: str = ""
    memory_heading: str = ""
    memory_target: str = ""
    cached_heading: str = ""
    host_cached: str = ""
    compressed: str = ""
    guest: str = ""
    busy: str = ""
    has_fast_media: bool = False
    has_persistent_memory: bool = False
    same_file_read: tuple[float, str] = (0.0, "")
    unfilled: str = ""
    just_written: str = ""
    is_macos: bool = False
    ignores_direct: str = ""
    measures_memory: str = ""
    stopped_by: str = ""
    buffered: str = ""
    without_barriers: str = ""
    without_flush: str = ""
    hard_disks: str = ""
    hard_disk_count: int = 0
    sata_drive: str = ""
    link: QuotedLink = NO_LINK
    bases: tuple[QuotedBase, ...] = ()
    iops_limit: tuple[float, str] = (0.0, "")
    has_log_device: bool = False
    served_without_sync: str = ""
    honours_direct: bool = False
    shares_statistics: bool = False
    counts_at_most: bool = False
    is_moment: bool = False
    stated_depth: tuple[int, str] = (0, "")
    depths: Mapping[int, str] = field(default_factory=dict)


UNQUOTED = Quoted()
"""A `Quoted` without any facts, for results without surrounding text."""
