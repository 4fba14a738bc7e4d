"""Writes that were still in a disk's internal buffer when the load ended."""

from poolproof.metrics import rates_of
from poolproof.rules.flow import account
from poolproof.rules.model import Case, Findings, Rule, linux_source, suspects
from poolproof.units import format_duration, format_rate

_SHARE, _LEAST_S, _LATE = 0.05, 0.05, 0.02
_RATES = rates_of("all", "write")


def _in_result(case: Case) -> Findings:
    found = account(case)
    writers = [job for job in case.jobs if job.writes]
    if found is None or not found.fio_write_bytes or found.window_s <= 0 or any(job.syncs for job in writers):
        return  # the result of a job that syncs includes the time to empty the buffer
    slowest = max(case.leaves, key=lambda leaf: leaf.drain_flush_s or 0.0)
    flush_s = slowest.drain_flush_s or 0.0
    late_bytes = slowest.drained_write_bytes - slowest.write_bytes
    if flush_s < max(_LEAST_S, _SHARE * found.window_s) or late_bytes > _LATE * slowest.drained_write_bytes:
        return
    rate = found.fio_write_bytes / (found.window_s + flush_s)
    yield suspects(
        f"after {case.generator} had ended, the disk {slowest.device} took {format_duration(flush_s)} to empty its own "
        f"buffer, without receiving any more data. With that time included, the write rate is {format_rate(rate)}",
        weight=73,
        metrics=_RATES,
    )


RULE = Rule(
    title="Writes left in a disk's buffer",
    wrong="A disk acknowledges writes as soon as they are in its own RAM. When fio ends, up to 256 MiB may not be on "
    "the medium yet. The disk has received all bytes, so the byte accounting shows nothing unusual.",
    shows="In a result: after fio had ended, a flush of a disk took at least 50 ms and 5% of the measured time, "
    "while the disk received no more data. Jobs that sync (fsync, end_fsync) are not reported, because their "
    "results include this time.",
    error="Too high. Measured: 226 MB/s on an emulated hard disk whose medium can write only 200 MB/s.",
    fix="add end_fsync=1, so that the rate includes the last flush, or measure longer",
    sources=(linux_source("6.12", "block/blk-flush.c", "blk_insert_flush"), "docs/emulated-disks.md"),
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=write --bs=1m --size=256m --direct=1 --ioengine=libaio --iodepth=8; time sync -f trap",
)
