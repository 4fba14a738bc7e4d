"""What the options of fio jobs mean: jobs as the parts of a load. The one place that knows how options interact.

Extents, measured with fio 3.33: a job with `offset` and `size` covers [offset, offset + size); `size` is split evenly
over the files of a job; `filesize` times the number of files caps `size`; with `offset_increment` clone i starts i
increments later. `io_size` changes how much is moved, not where.
"""

import math
from functools import partial

from poolproof.load.extents import Extent
from poolproof.load.fio import engines, quantity
from poolproof.load.fio.blocks import DEFAULT_BLOCK, block_sizes
from poolproof.load.fio.job import Job, JobFile
from poolproof.load.fio.quantity import attempt
from poolproof.load.model import Load, LoadPart

_MOST_CLONES = 4096  # fio's own limit, REAL_MAX_JOBS


def load_of(jobs: JobFile) -> Load:
    """Return the jobs as a load, one part for each."""
    return Load(tuple(map(part_of, jobs.jobs)))


def jobs_of(load: Load) -> JobFile:
    """Return the fio jobs of a load."""
    return JobFile(tuple(map(job_of, load.parts)))


def job_of(part: LoadPart) -> Job:
    """Return the fio job of a part; a job without options if it comes from another generator."""
    return part.source if isinstance(part.source, Job) else Job(part.name, {})


def part_of(job: Job) -> LoadPart:
    """Return the job as a part of a load."""
    reads, writes = _reads(job), _writes(job)
    spans = _block_spans(job, reads=reads, writes=writes)
    clones = min(max(1, job.number("numjobs") or 1), _MOST_CLONES)
    depth = max(1, job.number("iodepth") or 1)
    is_synchronous = job.engine in engines.SYNCHRONOUS
    has_one = is_synchronous and job.text("io_submit_mode") != "offload"
    sync_counts = [count for name in ("fsync", "fdatasync") if (count := job.number(name))]
    sync_every = min(sync_counts, default=None)
    syncs_at_end = job.flag("end_fsync") or job.flag("fsync_on_close")
    writes_are_synchronous = _writes_are_synchronous(job)
    verifies = (job.text("verify") or "0").strip() not in ("0", "none")
    return LoadPart(
        name=job.name,
        reads=reads,
        writes=writes,
        trims="trim" in job.rw,
        is_random=job.rw.startswith("rand") and job.number("percentage_random") != 0,
        block_bytes=min(span.low for span in spans),
        max_block_bytes=max(span.high for span in spans),
        size_bytes=job.number("size") or None,
        io_size_bytes=job.number("io_size") or None,
        runtime_s=job.seconds("runtime") or None,
        ramp_s=job.seconds("ramp_time") or 0.0,
        time_based=job.flag("time_based"),
        waits_for_previous=job.flag("stonewall"),
        clones=clones,
        depth=depth,
        queue=clones * (1 if has_one else depth),
        is_synchronous=is_synchronous,
        files=_files_each(job),
        extents=_extents(job, clones),
        direct=_direct(job),
        may_use_page_cache=job.engine in engines.PAGE_CACHE,
        syncs=syncs_at_end or bool(sync_every) or writes_are_synchronous or bool(job.text("sync_file_range")),
        syncs_at_end=syncs_at_end,
        sync_every=sync_every,
        writes_are_synchronous=writes_are_synchronous,
        verifies=verifies,
        refills_buffers=_refills_buffers(job) or verifies,
        zero_buffers=_writes_zeros(job),
        compress_percentage=job.number("buffer_compress_percentage"),
        repeats_offsets=job.flag("randrepeat"),
        invalidates_cache=job.flag("invalidate"),
        rate_limited=_is_rate_limited(job),
        thinks=bool(attempt(lambda text: quantity.parse_time_us(text, 1), job.text("thinktime") or "0")),
        measures_latency=not (job.flag("gtod_reduce") or job.flag("disable_clat")),
        source=job,
    )


def _reads(job: Job) -> bool:
    return job.rw in ("read", "randread") or (job.rw in ("rw", "randrw") and _read_share(job) > 0)


def _writes(job: Job) -> bool:
    if job.rw in ("write", "randwrite", "trimwrite", "randtrimwrite"):
        return True
    return job.rw in ("rw", "randrw") and _read_share(job) < 100


def _read_share(job: Job) -> int:
    reads, writes = job.number("rwmixread"), job.number("rwmixwrite")
    if reads is not None:
        return reads
    return 50 if writes is None else 100 - writes


def _block_spans(job: Job, *, reads: bool, writes: bool) -> tuple[quantity.SizeRange, ...]:
    """Return the block sizes of the directions used; that of trims if it neither reads nor writes."""
    sizes = block_sizes(job.options, job.kb_base)
    used = [sizes.read] if reads else []
    used += [sizes.write] if writes else []
    return tuple(span if span and span.low > 0 else DEFAULT_BLOCK for span in used or [sizes.trim])


def _direct(job: Job) -> bool:
    """True if O_DIRECT is requested by `atomic`, `direct` or `buffered=0`; the later of the last two wins."""
    if job.flag("atomic"):
        return True
    for name in reversed(list(job.options)):
        if name == "direct":
            return job.flag("direct")
        if name == "buffered":
            return not job.flag("buffered")
    return False


def _writes_are_synchronous(job: Job) -> bool:
    """True if every write has O_SYNC or O_DSYNC."""
    value = (job.text("sync") or "0").strip()
    return value in ("sync", "dsync", "1") or (value not in ("none", "0") and bool(job.number("sync")))


def _refills_buffers(job: Job) -> bool:
    chosen = job.number("buffer_compress_percentage") or job.number("dedupe_percentage")
    return job.flag("refill_buffers") or bool(chosen)


def _writes_zeros(job: Job) -> bool:
    pattern = job.text("buffer_pattern")
    all_zeros = pattern is not None and bool(pattern) and not pattern.lower().removeprefix("0x").strip('0"')
    return job.flag("zero_buffers") or all_zeros


def _is_rate_limited(job: Job) -> bool:
    names = ("rate", "rate_iops")
    return any(job.bytes_in(name, part) for name in names for part in job.options.get(name, "0").split(","))


def _files_each(job: Job) -> int:
    """Return the number of files of each clone: the names given, or `nrfiles`."""
    return len(job.filenames) or max(1, job.number("nrfiles") or 1)


def _filesize_bytes(job: Job) -> int | None:
    """Return the size of one file, its upper end if it is a range."""
    value = job.text("filesize")
    parse = partial(quantity.parse_range, kb_base=job.kb_base("filesize"))
    span = None if value is None else attempt(parse, value)
    return (span.high or None) if span else None


def _extents(job: Job, clones: int) -> tuple[Extent, ...]:
    scale, offset, increment, length = _region(job)
    return tuple(
        Extent(file, start, start + length, scale)
        for clone in range(clones)
        for start in (offset + clone * increment if clone else offset,)
        for file in _files(job, clone)
    )


def _region(job: Job) -> tuple[str, float, float, float]:
    """Return the scale, the offset, the increment, and the length for each file. Offsets in percent and sizes in bytes
    cannot be compared, so each such offset is its own scale: extents that start at the same percentage may overlap.
    """
    offset_percent, increment_percent = job.percent("offset"), job.percent("offset_increment")
    length_percent = job.percent("size")
    if offset_percent is None and increment_percent is None:
        if length_percent is not None and not _offset(job, "offset_increment"):
            return ("percent", 0.0, 0.0, float(length_percent)) if not _offset(job, "offset") else _unknown(job)
        return "bytes", float(_offset(job, "offset")), float(_offset(job, "offset_increment")), _length(job)
    if length_percent is not None and not _offset(job, "offset") and not _offset(job, "offset_increment"):
        return "percent", float(offset_percent or 0), float(increment_percent or 0), float(length_percent)
    return _unknown(job)


def _offset(job: Job, name: str) -> int:
    return job.number(name) or 0


def _unknown(job: Job) -> tuple[str, float, float, float]:
    """Return a scale of its own; with an increment, clones do not overlap."""
    moves = bool(job.percent("offset_increment") or _offset(job, "offset_increment"))
    return f"from {job.text('offset')}, {job.text('size')}", 0.0, math.inf if moves else 0.0, math.inf


def _length(job: Job) -> float:
    """Return the bytes of each file that a clone covers; of all its files if it creates its own."""
    parts = len(job.filenames) or 1
    sizes = []
    size_bytes, filesize_bytes = job.number("size"), _filesize_bytes(job)
    if size_bytes:
        sizes.append(size_bytes / parts)
    if filesize_bytes is not None:
        sizes.append(filesize_bytes * _files_each(job) / parts)
    return min(sizes) if sizes else math.inf


def _files(job: Job, clone: int) -> list[str]:
    """Return the files of one clone. Without `filename`, a name is the job's name and the clone's number."""
    directory = (job.directory or "").rstrip("/")
    if job.filenames:
        return [_joined(directory, name) for name in job.filenames]
    shared = job.text("filename_format") is not None and "$jobnum" not in (job.text("filename_format") or "")
    owner = job.name if shared else f"{job.name}.{clone}"
    return [_joined(directory, owner)]


def _joined(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name
