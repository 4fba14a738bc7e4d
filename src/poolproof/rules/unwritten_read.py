"""Reads of blocks that are on no disk: holes, unwritten extents, fresh volumes."""

from collections.abc import Iterable

from poolproof.rules.flow import cold_reads, compresses
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.path import all_go_past_ram
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_ENOUGH = 0.05
_FIX = (
    "fill the whole file first, with a separate job without runtime: rw=write bs=1m refill_buffers=1 end_fsync=1, "
    "same filename and size; check with `filefrag -v FILE` that no extent is `unwritten`"
)


def _empty_and_whole(case: Case) -> tuple[int, int] | None:
    """Return the bytes of the files that are on no disk, and their total bytes; None if they were not checked."""
    files = list(case.evidence.files) if case.evidence else []
    known = [each for each in files if each.hole_bytes is not None or each.unwritten_bytes is not None]
    if not known or len(known) < len(files):
        return None
    empty = sum((each.hole_bytes or 0) + (each.unwritten_bytes or 0) for each in known)
    return empty, sum(each.size_bytes for each in known)


def _is_empty(found: tuple[int, int] | None) -> bool:
    return found is not None and found[0] > _ENOUGH * found[1]


def _in_job(case: Case) -> Iterable[Finding]:
    found = _empty_and_whole(case)
    if found is None or not _is_empty(found) or not case.load.reads:
        return
    empty, whole = found
    yield Finding(
        rule="unwritten-read",
        effect="suspects",
        message=f"{format_size(empty)} of the {format_size(whole)} to read were never written: the file system "
        "returns zeros without reading a disk",
        fix=_FIX,
        weight=85,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    flow, found = cold_reads(case), _empty_and_whole(case)
    if flow is None or flow.in_order:
        return
    if found is not None and _is_empty(found):
        empty, whole = found
        why = f"{format_size(empty)} of the {format_size(whole)} in the file were never written"
    elif found is None and all_go_past_ram(case) and not compresses(case):
        why = "direct=1 bypasses RAM, so the missing blocks were never on a disk: holes or unwritten extents"
    else:
        return
    yield Finding(
        rule="unwritten-read",
        effect=flow.effect,
        message=f"fio read {flow.moved}; the disks read {flow.counted} ({flow.share} of {flow.wanted}): {why}",
        fix=_FIX,
        weight=95,
    )


RULE = Rule(
    id="unwritten-read",
    title="Reading what was never written",
    wrong="The file has its full size but not all of its data: it was created by truncate or fallocate, by an "
    "earlier write job that stopped at its runtime (fio reserves the full size first), or it is on a fresh zvol or "
    "thin volume. Such reads return zeros without reading a disk.",
    shows="Before the run: holes or unwritten extents in the files. In the counters: the disks read less than fio "
    "did although direct=1 bypassed RAM.",
    error="High, 10 to 100 times. Measured: 2636 MB/s by fio, 64 MB/s by the disk.",
    fix=_FIX,
    sources=(
        "measured case L01",
        "https://github.com/axboe/fio/issues/719",
        "https://github.com/hpc/ior/issues/261",
        "https://github.com/spdk/spdk/issues/661",
    ),
    pitfall_numbers="#11, A1",
    in_job=_in_job,
    options=("filename", "directory", "rw"),
    in_result=_in_result,
    explains_lost={"read": "never written: zeros from no disk"},
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=randread --bs=4k --size=2g --direct=1 --ioengine=libaio "
        "--iodepth=32 --runtime=3 --time_based",
        before="rm -f trap; fio --name=prior --filename=trap --rw=write --bs=1m --size=2g --runtime=1 --rate=50m "
        "--end_fsync=1",
    ),
)
