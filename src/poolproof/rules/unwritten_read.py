"""Reads of blocks that are not stored on any disk, such as holes, unwritten extents and empty new volumes."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import (
    MANY_PASSES,
    creators_of,
    prepared_by,
    skips_blocks,
    was_filled,
    writers_of,
    writes_again,
)
from poolproof.rules.fio_job import is_on_devices
from poolproof.rules.flow import cold_reads, lost_reads
from poolproof.rules.model import Case, Findings, Rule, finding, fio_issue, fio_source, linux_source, suspects
from poolproof.rules.path import all_go_past_ram, is_zfs
from poolproof.rules.proof import OF_READS
from poolproof.rules.stored_share import compresses
from poolproof.units import format_duration, format_rate, format_size

_FAST_BYTES_PER_S = 500e6
_FILL_DEVICE = "fill the whole device first, with a separate job without runtime and size (rw=write bs=1m direct=1)"


def _never_written(case: Case) -> tuple[int | None, int]:
    """Return the number of the files' bytes that are not stored on any disk, and the total size of the files.

    The first number counts as 0 if it is at most 5% of the total. Returns None and 0 if the files were not checked.
    """
    checked = all(file.hole_bytes is not None or file.unwritten_bytes is not None for file in case.files)
    if not case.files or not checked:
        return None, 0
    empty = sum((file.hole_bytes or 0) + (file.unwritten_bytes or 0) for file in case.files)
    total = sum(file.size_bytes for file in case.files)
    return (empty if empty > 0.05 * total else 0), total


def _in_job(case: Case) -> Findings:
    empty, total = _never_written(case)
    if not case.files and case.cold:
        yield from _after_partial_writes(case)
        yield from _after_other_commands(case)
        yield from _after_creation(case)
    if empty and case.load.reads:
        yield suspects(
            f"{format_size(empty)} of the {format_size(total)} to read was never written: the file system returns "
            "zeros without reading a disk",
            weight=85,
        )


def _after_partial_writes(case: Case) -> Findings:
    """Yield a finding if an earlier job in the same input wrote only part of a file that a job reads."""
    for job in case.jobs:
        if not job.reads or job.writes or not job.may_use_page_cache or was_filled(case, job):
            continue
        writers = [part for part in writers_of(case, job) if not part.reads]
        if not writers or is_on_devices(job):
            continue
        last = writers[-1]
        is_repeated = skips_blocks(last) and writes_again(last)
        needed = _rate_to_finish(last, MANY_PASSES if is_repeated else 1)
        limit = format_duration(last.runtime_s or 0)
        if skips_blocks(last) and not is_repeated:
            why = "at random without tracking which blocks are already written, so some of them are never written"
        elif needed and is_repeated:
            why = (
                f"at random for {limit} without tracking which blocks are already written: at less than "
                f"{format_rate(needed)}, it leaves out more than 5% of them"
            )
        elif needed:
            why = f"for {limit}: at less than {format_rate(needed)}, it stops before the end of the file"
        else:
            continue
        yield suspects(
            f"{case.who([job])} reads a file that job `{last.name}` writes {why}. fio reserves the whole file first, "
            "and reads of the rest return zeros without reading a disk",
            weight=70,
        )


def _after_creation(case: Case) -> Findings:
    """Yield a finding if an earlier job in the same input only created a file that a job reads."""
    for job in case.jobs:
        if not job.reads or not job.may_use_page_cache or is_on_devices(job) or was_filled(case, job):
            continue
        creators = [] if any(writers_of(case, job)) else list(creators_of(case, job))
        if creators:
            yield suspects(
                f"{case.who([job])} reads a file that job `{creators[-1].name}` only creates (create_only=1): fio "
                "reserves the blocks of a file to be written, and reads return zeros without reading a disk",
                weight=80,
            )


def _after_other_commands(case: Case) -> Findings:
    """Yield a finding if another command in the same input left the file or device without data."""
    for job in case.jobs:
        program = prepared_by(job, case.empty)
        if program and job.reads and job.may_use_page_cache and not was_filled(case, job):
            yield suspects(
                f"{case.who([job])} reads blocks that `{program}` left empty: these reads return zeros and do not "
                "reach the medium",
                weight=85,
                fix=_FILL_DEVICE if is_on_devices(job) else "",
            )


def _rate_to_finish(part: LoadPart, passes: int) -> float | None:
    """Return the rate in bytes/s that a job needs to fill its file `passes` times within its time limit.

    Returns None if 500 MB/s would be enough, or if the job's size or time limit is unknown.
    """
    moved = part.size_bytes
    if not moved or not part.runtime_s:
        return None
    needed = passes * moved * part.clones / part.runtime_s
    return needed if needed > _FAST_BYTES_PER_S else None


def _in_result(case: Case) -> Findings:
    flow, (empty, total) = lost_reads(case), _never_written(case)
    if flow is None:
        yield from _few_holes(case)
        return
    if empty:
        why = f"{format_size(empty)} of the {format_size(total)} in the files was never written"
    elif empty is None and all_go_past_ram(case) and not compresses(case):
        why = "direct=1 bypasses RAM, so the missing blocks were never on a disk: holes or unwritten extents"
    else:
        return
    message = f"{case.generator} read {flow.moved}; the disks read {flow.counted_share}: {why}"
    yield finding(flow.effect, message, weight=95, metrics=OF_READS)


def _few_holes(case: Case) -> Findings:
    """Yield a finding if holes explain the missing bytes, though they are too few for the byte accounting to report."""
    flow, (empty, total) = cold_reads(case), _never_written(case)
    if flow is None or not empty or (compresses(case) and is_zfs(case.target)):  # ZFS stores compressed zeros as holes
        return
    share = empty / total
    # on a target with compression, the stored size does not include the holes either
    ratio = flow.counted_bytes / flow.moved_bytes if compresses(case) else flow.ratio
    if ratio < 1 - share / 2:
        yield suspects(
            f"{format_size(empty)} of the {format_size(total)} in the files was never written, and the disks read only "
            f"{flow.counted_share}: the result is up to {100 * share / (1 - share):.0f}% too high",
            weight=85,
            metrics=OF_READS,
        )


RULE = Rule(
    title="Reading data that was never written",
    wrong="The file has its full size, but not its data: it was made by truncate, by fallocate or by a write job that "
    "stopped at its runtime (fio reserves the full size first), or it is on a fresh zvol or thin volume. Reads of"
    " the missing data do not reach a disk.",
    shows="Before the run: holes or unwritten extents. In a job file or script: a read of a file that an earlier job "
    "left incomplete, because the runtime of that job was too short to write the file at 500 MB/s, or because it wrote "
    "at random with norandommap. (If the earlier job is time_based, it starts over until its runtime ends, so "
    "the read is reported only if three passes at 500 MB/s do not fit into this runtime.) The same applies if the "
    "earlier job only creates the file (create_only=1) and does not read. A read of a file or device that truncate, "
    "fallocate, qemu-img create, blkdiscard, nvme format, hdparm's security erase, or the creation of a thin volume or "
    "zvol left without data is reported too. In the counters: the disks read too little, and the files have holes or "
    "unwritten extents, or direct=1 bypassed RAM.",
    error="Too high by a factor of 10 to 100. Measured: 2,636 MB/s reported by fio, 64 MB/s read from the disk.",
    fix="fill the whole file first, with a separate job without runtime (rw=write bs=1m refill_buffers=1 end_fsync=1, "
    "same filename and size); check with `filefrag -v FILE` that no extent is `unwritten`",
    sources=(
        "measured case L01",
        fio_source("3.42", "filesetup.c", "extend_file, fallocate_file"),
        linux_source("6.12", "fs/ext4/inode.c", "ext4_iomap_begin"),
        fio_issue(719),
        "https://github.com/hpc/ior/issues/261",
        "https://github.com/spdk/spdk/issues/661",
    ),
    in_job=_in_job,
    options=("filename", "directory", "rw"),
    in_result=_in_result,
    explains_lost={"read": "never written, so returned as zeros"},
    prepare="rm -f trap; fio --name=prior --filename=trap --rw=write --bs=1m --size=2g --runtime=1 --rate=50m "
    "--end_fsync=1",
    commands="fio --rw=randread --bs=4k --size=2g --direct=1 --ioengine=libaio --iodepth=32 --runtime=3 --time_based",
)
