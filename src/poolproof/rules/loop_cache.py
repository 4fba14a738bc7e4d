"""Loop devices that cache their backing file."""

from collections.abc import Iterator

from poolproof.evidence.model import Account
from poolproof.load.model import LoadPart
from poolproof.rules.flow import Flow, account
from poolproof.rules.model import Case, Findings, Rule, finding, linux_source, suspects
from poolproof.rules.stored_share import stored_share
from poolproof.rules.tolerances import READ, WRITTEN, percent

_SOME = 0.05


def _flows_below(case: Case, *, skip_loops: bool = False) -> Iterator[tuple[str, str, Flow]]:
    """Compare the bytes that loop devices moved with the bytes that the disk below them moved.

    Yields a `Flow` for the reads and one for the writes of each disk that stores backing files. Each comes with two
    phrases that name its two sides, e.g. "loop0 read" and "sda, the disk below, read". Loop devices on the same disk
    are added up, because the disk's counters cover all of them. Reads or writes are left out if the loop devices moved
    at most 5% of fio's bytes. Reads are also left out if RAM is part of the measurement, and disks are left out if the
    kernel does not count their I/O.

    `skip_loops`: leave out disks that are loop devices, because their own backing file may be in the page cache.
    """
    found = account(case)
    disks = sorted({leaf.below_device for leaf in case.leaves if leaf.below_device})
    for disk in disks if found else ():
        if (skip_loops and disk.startswith("loop")) or (case.target and disk in case.target.backing.not_counted):
            continue
        above = [leaf for leaf in case.leaves if leaf.below_device == disk]
        names, below = ", ".join(leaf.device for leaf in above), f"{disk}, the disk below,"
        read = sum(leaf.read_bytes for leaf in above)
        wrote = sum(leaf.drained_write_bytes for leaf in above)
        if case.cold and found and read > _SOME * found.fio_read_bytes > 0:
            below_read = max(leaf.below_read_bytes or 0 for leaf in above)
            own = _read_for_load(case, found, read)
            who = f"{names} read" if own == read else f"{case.generator} read, through {names},"
            yield who, f"{below} read", Flow(own, own, below_read, READ)
        if found and wrote > _SOME * found.fio_write_bytes > 0:
            below_wrote = max(leaf.below_drained_write_bytes or 0 for leaf in above)
            yield f"{names} wrote", f"{below} wrote", Flow(wrote, wrote, below_wrote, WRITTEN)


def _read_for_load(case: Case, found: Account, read: int) -> int:
    """Return how much of what loop devices read must have come from the disk below them, in bytes.

    If the load also writes, they also read the rest of each stripe, page or record that it changes in part. In a sparse
    backing file, much of this rest is a hole, which is read without disk I/O. The test files, in contrast, were filled,
    so fio itself never reads holes. Without direct I/O on the loop device, the missing bytes may be in RAM instead.
    """
    cached = case.target is None or case.target.loop_without_direct
    if cached or not case.load.writes or not found.leaf_read_bytes:
        return read
    return min(read, round(found.fio_read_bytes * stored_share(case) * read / found.leaf_read_bytes))


def _in_job(case: Case) -> Findings:
    loops = case.target.loop_without_direct if case.target else ()
    if loops and (case.cold or case.load.writes):
        yield suspects(
            f"the I/O of {', '.join(loops)} goes through the page cache of the backing file: direct=1 has no effect "
            "below the loop device, and RAM caches the file",
            weight=80,
        )


def _in_result(case: Case) -> Findings:
    yield from _compressed_below(case)
    loops = ", ".join(case.target.loop_without_direct) if case.target else ""
    if loops:
        yield from _hidden(case, f"the I/O of {loops} goes through the page cache of the backing file")
    why = "the page cache of the backing file" if loops else "RAM or holes in the backing file"
    for above, below, flow in _flows_below(case):
        if not flow.in_order:
            yield finding(
                flow.effect,
                f"{above} {flow.moved}; {below} {flow.counted} ({flow.share}): the rest is in {why}",
                weight=95,
            )


def _compressed_below(case: Case) -> Findings:
    """Yield a finding if the backing file may be compressed, which makes direct I/O on the loop device impossible.

    The file system then reads a whole compressed extent into the page cache for each miss, so bytes prove nothing.
    """
    loops = ", ".join(case.target.compressed_below) if case.target else ""
    jobs = [job for job in case.jobs if _can_be_compressed(job)]
    if loops and jobs and case.evidence is not None and (case.cold or case.load.writes):
        yield suspects(
            f"the backing file of {loops} is on a file system with compression, and {case.who(jobs)} uses data that it "
            "can compress: compressed data is read and written through the page cache, even if the loop device "
            "uses direct I/O",
            weight=80,
            fix="put the backing file in a directory without compression (chattr +C DIRECTORY before you create the "
            "file), or use incompressible data (refill_buffers=1 without buffer_compress_percentage and patterns)",
        )


def _can_be_compressed(job: LoadPart) -> bool:
    return not job.refills_buffers or bool(job.compress_percentage) or job.repeats_pattern or job.zero_buffers


def _hidden(case: Case, cached: str) -> Findings:
    """Yield findings if the counters of the disk cannot show which I/O the backing file's page cache served.

    The byte accounting of the leaf devices cannot show it either, because the loop devices are the leaf devices, and
    the cache is below them.
    """
    flows = list(_flows_below(case, skip_loops=True))
    for above, below, flow in flows:
        if flow.ratio > 1.15:
            yield suspects(
                f"{cached}; {above} {flow.moved}, and {below} {flow.counted}: something else uses that disk, or the "
                "cache read ahead, so the disk's counters cannot show which I/O was served from RAM",
                weight=80,
            )
    found = account(case)
    moves = found and ((case.cold and found.leaf_read_bytes) or found.leaf_drained_write_bytes)
    if (moves and not flows) or (found and _has_uncounted_cache(case, found)):
        yield suspects(f"{cached}, and the I/O of the disk below was not counted", weight=80)


def _has_uncounted_cache(case: Case, found: Account) -> bool:
    """True if a loop device with a cache moved at least 5% of fio's bytes, and no disk below it was counted.

    The disks below other loop devices do not show what its cache served. An example is a journal whose file is in RAM.
    """
    cached = case.target.loop_without_direct if case.target else ()
    alone = [leaf for leaf in case.leaves if leaf.below_device is None and f"/dev/{leaf.device}" in cached]
    read = sum(leaf.read_bytes for leaf in alone) if case.cold else 0
    wrote = sum(leaf.drained_write_bytes for leaf in alone)
    return read > _SOME * found.fio_read_bytes > 0 or wrote > _SOME * found.fio_write_bytes > 0


RULE = Rule(
    title="A loop device with a cache below it",
    wrong="Without direct I/O, a loop device uses the page cache of its backing file, so even I/O with direct=1 may "
    "stay in RAM.",
    shows=(
        "Before the run: /sys/block/loopN/loop/dio is 0. In the counters: the disk that stores the backing file read "
        f"less than {percent(READ)} of the bytes that the loop device read, or wrote less than {percent(WRITTEN)} of "
        "the bytes that the loop device wrote. If the job also writes to a loop device with direct I/O, only the bytes "
        "that fio read are compared, because the rest of a changed stripe may be a hole in the backing file. On a loop "
        "device without direct I/O, the result is also suspect if that disk moved more than 115% of these bytes, or if "
        "its I/O was not counted. The latter includes files in RAM. If the backing file is on a file system with "
        "compression, results with compressible data are suspect."
    ),
    error=(
        "Too high. Measured: 1,236 MB/s without any reads on the disk, but only 377 MB/s with direct I/O on the loop "
        "device."
    ),
    fix="put the backing file on a disk, run losetup --direct-io=on LOOP FILE, and fill the file so that it has no "
    "holes",
    sources=(
        "measured cases L09, L10",
        linux_source("6.12", "drivers/block/loop.c", "__loop_update_dio, lo_rw_aio"),
        "https://github.com/longhorn/longhorn-engine/issues/207",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    in_result=_in_result,
    needs="Needs root.",
    prepare="fio --name=fill --filename=trap --rw=write --bs=1m --size=64m --refill_buffers --end_fsync=1\n"
    "loop=$(losetup -f --show --direct-io=off trap)",
    commands="fio --name=trap --filename=$loop --rw=randread --bs=4k --size=64m --direct=1 --ioengine=libaio "
    "--iodepth=16\nlosetup -d $loop",
)
