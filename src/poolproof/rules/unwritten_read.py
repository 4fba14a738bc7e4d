"""Reads of blocks that are on no disk: holes, unwritten extents, fresh volumes."""

from poolproof.rules.flow import compresses, lost_reads
from poolproof.rules.model import Case, Findings, Rule, finding, fio_issue, fio_source, linux_source, suspects
from poolproof.rules.path import all_go_past_ram
from poolproof.rules.proof import OF_READS
from poolproof.units import format_size


def _never_written(case: Case) -> tuple[int | None, int]:
    """Return how many bytes of the files are on no disk, and the total size of the files.

    Up to 5 % of the total counts as 0. Returns None and 0 if the files were not checked.
    """
    checked = all(file.hole_bytes is not None or file.unwritten_bytes is not None for file in case.files)
    if not case.files or not checked:
        return None, 0
    empty = sum((file.hole_bytes or 0) + (file.unwritten_bytes or 0) for file in case.files)
    total = sum(file.size_bytes for file in case.files)
    return (empty if empty > 0.05 * total else 0), total


def _in_job(case: Case) -> Findings:
    empty, total = _never_written(case)
    if empty and case.load.reads:
        yield suspects(
            f"{format_size(empty)} of the {format_size(total)} to read was never written: the file system returns "
            "zeros without reading a disk",
            weight=85,
        )


def _in_result(case: Case) -> Findings:
    flow, (empty, total) = lost_reads(case), _never_written(case)
    if flow is None:
        return
    if empty:
        why = f"{format_size(empty)} of the {format_size(total)} in the files was never written"
    elif empty is None and all_go_past_ram(case) and not compresses(case):
        why = "direct=1 bypasses RAM, so the missing blocks were never on a disk: holes or unwritten extents"
    else:
        return
    message = f"fio read {flow.moved}; the disks read {flow.counted_share}: {why}"
    yield finding(flow.effect, message, weight=95, metrics=OF_READS)


RULE = Rule(
    title="Reading what was never written",
    wrong="The file has its full size, but not its data: it was made by truncate, by fallocate or by a write job that "
    "stopped at its runtime (fio reserves the full size first), or it is on a fresh zvol or thin volume. No disk is "
    "read.",
    shows="Before the run: holes or unwritten extents. In the counters: too few reads, although direct=1 bypassed RAM.",
    error="Too high, by a factor of 10 to 100. Measured: 2636 MB/s reported by fio, 64 MB/s read from the disk.",
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
    explains_lost={"read": "never written: zeros from no disk"},
    prepare="rm -f trap; fio --name=prior --filename=trap --rw=write --bs=1m --size=2g --runtime=1 --rate=50m "
    "--end_fsync=1",
    commands="fio --rw=randread --bs=4k --size=2g --direct=1 --ioengine=libaio --iodepth=32 --runtime=3 --time_based",
)
