"""Translate fio jobs into a load, which requires a model of how fio's options interact.

A job with `offset` and `size` covers [offset, offset + size). `size` is divided evenly among the job's files, and is
limited to `filesize` times the number of files. fio creates each file with `filesize` bytes, even if `size` is smaller.
With `offset_increment`, clone i starts i increments further into the file. `io_size` changes the number of bytes
transferred, but not the range that they cover. These rules were measured with fio 3.33.
"""

import math
import re
from collections import defaultdict
from functools import partial

from poolproof.load.fio import option_names, quantity
from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.quantity import attempt
from poolproof.load.model import Extent, Load, LoadPart

SPIN_FIXED_IN = (3, 36)
"""The first release of fio that does not sleep for too long after thinktime_spin (backend.c, handle_thinktime)."""

HINT_FIXED_IN = (3, 37)
"""The first release of fio that can set write_hint with direct=1 on current kernels (ioengines.c, td_io_open_file)."""

HINT_REMOVED_IN = (5, 18)
"""The Linux release that removed the command with which older releases of fio set write_hint with direct=1."""

_MOST_CLONES = 4096  # fio's own limit, REAL_MAX_JOBS


def load_of(jobs: Jobs) -> Load:
    """Return the jobs as a load with one part per job."""
    return Load(tuple(map(part_of, jobs)))


def jobs_of(load: Load) -> Jobs:
    """Return a load's fio jobs."""
    return tuple(map(job_of, load.parts))


def job_of(part: LoadPart) -> Job:
    """Return a part's fio job, or a job without options if another load generator runs the part."""
    return part.source if isinstance(part.source, Job) else Job(part.name, {})


def groups_in_ratio(load: Load) -> tuple[tuple[LoadPart, ...], ...]:
    """Return the groups of parts whose I/Os fio keeps in a ratio (flow). Parts of a group have the same flow_id.

    A group has at least two clones: a clone without others never has to wait (flow.c, flow_threshold_exceeded).
    """
    groups: dict[int, list[LoadPart]] = defaultdict(list)
    for part in load.parts:
        job = job_of(part)
        if job.text("flow") and job.number("flow") != 0:
            groups[job.number("flow_id") or 0].append(part)
    return tuple(tuple(group) for group in groups.values() if sum(part.clones for part in group) > 1)


def spins(part: LoadPart) -> bool:
    """True if fio spins during a part of `thinktime`."""
    return part.thinks and bool(job_of(part).seconds("thinktime_spin", bare_us=1))


def stays_in_first_file(part: LoadPart) -> bool:
    """True if fio does all random I/O of a clone in its first file, although the clone has several.

    With file_service_type=sequential, fio goes on to the next file once each block of a file was used. It never does so
    for a random job that may use blocks again (seen with fio 3.33 in write_iolog).
    """
    job = job_of(part)
    order = (job.text("file_service_type") or "").partition(":")[0].strip()
    distribution = (job.text("random_distribution") or "random").partition(":")[0].strip()
    repeats = part.time_based or job.flag("norandommap") or distribution != "random"
    return order == "sequential" and part.files > 1 and part.is_random and repeats


def hints_direct_writes(part: LoadPart) -> bool:
    """True if fio sets write_hint on files that it opens for direct I/O. Reads and `write_hint=none` count too."""
    return part.direct and "write_hint" in job_of(part).options


def part_of(job: Job) -> LoadPart:
    """Return the part of a load that a job describes."""
    reads, writes = _directions(job)
    spans = _block_spans(job, reads=reads, writes=writes)
    clones = min(max(1, job.number("numjobs") or 1), _MOST_CLONES)
    depth = max(1, job.number("iodepth") or 1)
    is_synchronous = job.engine in option_names.SYNCHRONOUS
    # vsync gathers up to `iodepth` adjacent I/Os into one call (engines/sync.c, fio_vsyncio_queue)
    submits_one = is_synchronous and job.engine != "vsync" and job.text("io_submit_mode") != "offload"
    sync_every = min((count for name in ("fsync", "fdatasync") if (count := job.number(name))), default=None)
    syncs_at_end = job.flag("end_fsync") or job.flag("fsync_on_close")
    writes_are_synchronous = _writes_are_synchronous(job)
    verifies = (job.text("verify") or "0").strip() not in ("0", "none")
    compresses = job.number("buffer_compress_percentage") or job.number("dedupe_percentage")
    pattern = (job.text("buffer_pattern") or "").strip().lower()
    is_zero = job.flag("zero_buffers") or (bool(pattern) and not pattern.removeprefix("0x").strip('0"'))
    is_pattern = (bool(pattern) or "verify_pattern" in job.options) and not compresses
    return LoadPart(
        name=job.name,
        reads=reads,
        writes=writes,
        trims="trim" in job.rw,
        is_random=job.rw.startswith("rand") and not _is_never_random(job),
        random_share=_random_share(job),
        block_bytes=min(span.low for span in spans),
        max_block_bytes=max(span.high for span in spans),
        size_bytes=_size_bytes(job),
        io_size_bytes=job.number("io_size") or None,
        runtime_s=job.seconds("runtime") or None,
        ramp_s=job.seconds("ramp_time") or 0.0,
        time_based=job.flag("time_based"),
        starts_late="startdelay" in job.options,
        waits_for_previous=job.flag("stonewall") or bool(job.text("wait_for")),
        clones=clones,
        depth=depth,
        queue=clones * (1 if submits_one else depth),
        is_synchronous=is_synchronous,
        locked_bytes=job.number("lockmem") or 0,
        buffer_bytes=max(span.high for span in _block_spans(job, reads=True, writes=True, trims=True)),
        files=_files_each(job),
        file_bytes=_filesize(job),
        makes_new_files=writes and not reads and job.flag("unlink") and not job.flag("overwrite"),
        extents=_extents(job, clones),
        direct=_direct(job),
        may_use_page_cache=job.engine in option_names.PAGE_CACHE and not _is_character_device(job),
        # sync_file_range is not a sync: it flushes no drive cache and writes no metadata (man 2 sync_file_range)
        syncs=syncs_at_end or bool(sync_every) or writes_are_synchronous,
        syncs_at_end=syncs_at_end,
        sync_every=sync_every,
        writes_are_synchronous=writes_are_synchronous,
        verifies=verifies,
        only_verifies=verifies and job.flag("verify_only"),
        refills_buffers=not is_pattern and (job.flag("refill_buffers") or bool(compresses) or verifies),
        zero_buffers=is_zero,
        compress_percentage=job.number("buffer_compress_percentage"),
        repeats_pattern=is_pattern and not is_zero,
        repeats_offsets=job.flag("randrepeat"),
        invalidates_cache=job.flag("invalidate"),
        rate_limited=any(
            job.bytes_in(name, rate) for name in ("rate", "rate_iops") for rate in job.options.get(name, "0").split(",")
        ),
        thinks=bool(attempt(partial(quantity.parse_time_us, bare_us=1), job.text("thinktime") or "0")),
        measures_latency=_measures_latency(job),
        source=job,
    )


def _directions(job: Job) -> tuple[bool, bool]:
    """Return two flags: True if the job reads, and True if it writes."""
    if job.rw in ("rw", "randrw"):
        reads, writes = job.number("rwmixread"), job.number("rwmixwrite")
        share = reads if reads is not None else 50 if writes is None else 100 - writes
        return share > 0, share < 100
    return job.rw in ("read", "randread"), job.rw in ("write", "randwrite", "trimwrite", "randtrimwrite")


def _measures_latency(job: Job) -> bool:
    """True if fio prints percentiles of clat or lat for the job (io_u.c, account_io_completion)."""
    lat = job.flag("lat_percentiles") and not job.flag("disable_lat")
    clat = job.flag("clat_percentiles") and not job.flag("disable_clat")
    return not job.flag("gtod_reduce") and (lat or clat)


def _is_never_random(job: Job) -> bool:
    """True if `percentage_random` is 0 for all I/Os. With `0,100`, reads are sequential and writes are random."""
    values = (job.text("percentage_random") or "").split(",")
    return all(job.bytes_in("percentage_random", value) == 0 for value in values)


def _random_share(job: Job) -> float:
    """Return the fraction of a random job's I/Os that start at a new random offset, or 1 for a sequential job.

    With `rw=randread:8`, every eighth I/O starts at a new offset (io_u.c, get_next_block; HOWTO, rw).
    `percentage_random` is the probability that this offset is actually random (io_u.c, should_do_random).
    """
    if not job.rw.startswith("rand"):
        return 1.0
    every = attempt(quantity.parse_bytes, (job.text("rw") or "").partition(":")[2]) or 1
    percent = job.number("percentage_random")
    return (100 if percent is None else min(percent, 100)) / 100 / max(every, 1)


def _block_spans(job: Job, *, reads: bool, writes: bool, trims: bool = False) -> tuple[quantity.SizeRange, ...]:
    """Return the block sizes of the job's reads, writes and trims, or only of its trims if none is chosen.

    With bs_is_seq_rand, the sizes of reads and of writes are those of sequential and of random I/O instead.
    """
    sizes = quantity.block_sizes(job.options, job.kb_base)
    if job.flag("bs_is_seq_rand"):
        reads = writes = True
    used = [sizes.read] * reads + [sizes.write] * writes + [sizes.trim] * trims
    return tuple(span if span and span.low > 0 else quantity.DEFAULT_BLOCK for span in used or [sizes.trim])


def _is_character_device(job: Job) -> bool:
    """True if all files are NVMe or SCSI generic character devices, which bypass the page cache."""
    return bool(job.filenames) and all(re.match(r"/dev/(?:ng\d|sg\d)", name) for name in job.filenames)


def _direct(job: Job) -> bool:
    """True if the job requests O_DIRECT, which `atomic` implies.

    If both `direct` and `buffered` are set, the last one wins.
    """
    if job.flag("atomic"):
        return True
    last = next((name for name in reversed(list(job.options)) if name in ("direct", "buffered")), None)
    return last is not None and job.flag(last) == (last == "direct")


def _writes_are_synchronous(job: Job) -> bool:
    """True if each write returns after its data is on the disk. O_SYNC has no effect on a mapped file."""
    if job.engine == "mmap":
        return False
    value = (job.text("sync") or "0").strip()
    return value in ("sync", "dsync", "1") or (value not in ("none", "0") and bool(job.number("sync")))


def _size_bytes(job: Job) -> int | None:
    """Return the total size of one clone's files in bytes, or None if it is not set.

    The size is set by `size`, or for each file by `filesize`.
    """
    filesize = _filesize(job)
    return job.number("size") or (filesize * _files_each(job) if filesize and job.percent("size") is None else None)


def _filesize(job: Job) -> int:
    """Return the largest file size in bytes that `filesize` allows, or 0 if it is not set."""
    sizes = attempt(partial(quantity.parse_range, kb_base=job.kb_base("filesize")), job.text("filesize") or "")
    return sizes.high if sizes else 0


def _files_each(job: Job) -> int:
    return len(job.filenames) or max(1, job.number("nrfiles") or 1)


def _extents(job: Job, clones: int) -> tuple[Extent, ...]:
    scale, offset, increment, length = _region(job)
    starts = [offset, *(offset + clone * increment for clone in range(1, clones))]  # avoids 0 * infinity
    return tuple(
        Extent(file, start, start + length, scale) for clone, start in enumerate(starts) for file in _files(job, clone)
    )


def _region(job: Job) -> tuple[str, float, float, float]:
    """Return the scale, the offset, the increment per clone, and the length per file.

    A percentage and a number of bytes cannot be compared. Extents that combine them therefore get a separate scale. On
    that scale, jobs with equal offset and size overlap, and so do clones without an increment.
    """
    offset, increment = job.number("offset") or 0, job.number("offset_increment") or 0
    offset_percent, increment_percent, length_percent = map(job.percent, ("offset", "offset_increment", "size"))
    is_in_bytes = offset_percent is None and increment_percent is None
    if is_in_bytes and (length_percent is None or increment):
        return "bytes", float(offset), float(increment), _length(job)
    if length_percent is not None and not offset and not increment:
        return "percent", float(offset_percent or 0), float(increment_percent or 0), float(length_percent)
    moves = bool(increment_percent or increment)
    return f"from {job.text('offset')}, {job.text('size')}", 0.0, math.inf if moves else 0.0, math.inf


def _length(job: Job) -> float:
    """Return the number of bytes that a clone covers in each named file, or in all its files if they have no names."""
    parts = len(job.filenames) or 1
    sizes = []
    if size_bytes := job.number("size"):
        sizes.append(size_bytes / parts)
    if filesize := _filesize(job):
        sizes.append(filesize * _files_each(job) / parts)
    return min(sizes, default=math.inf)


def _files(job: Job, clone: int) -> list[str]:
    """Return the paths of a clone's files.

    If the job has no `filename`, a file's name consists of the job's name and the clone's number. The number is omitted
    if `filename_format` is set and does not contain `$jobnum`.
    """
    names = list(job.filenames)
    if not names:
        format_ = job.text("filename_format")
        names = [job.name if format_ is not None and "$jobnum" not in format_ else f"{job.name}.{clone}"]
    folders = job.directories or ("",)
    directory = folders[0 if job.filenames else clone % len(folders)].rstrip("/")
    return [f"{directory}/{name}" if directory else name for name in names]
