"""A dataset with deduplication."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, finding, fio_source, zfs_source

_OFF = (None, "", "off", "none")
_FIX_OF_PATTERN = (
    "use a dataset with dedup=off, or remove buffer_pattern and verify_pattern (refill_buffers does not override them) "
    "and report that dedup was on"
)


def _in_job(case: Case) -> Findings:
    writers = [job for job in case.jobs if job.writes]
    if case.zfs is None or case.zfs.dedup in _OFF or not writers:
        return
    equal = [
        job for job in writers if job.zero_buffers or job.repeats_pattern or fio_job(job).number("dedupe_percentage")
    ]
    what = "identical blocks are stored only once" if equal else "each new block is looked up in the dedup table"
    yield finding(
        "suspects" if equal else "notes",
        f"{case.who(equal or writers)} writes to a dataset with dedup={case.zfs.dedup}: {what}",
        weight=70,
        fix=_FIX_OF_PATTERN if any(job.repeats_pattern for job in equal) else "",
    )


RULE = Rule(
    title="Deduplication is on",
    wrong=(
        "With dedup on, ZFS looks up the checksum of each new block in the dedup table, and stores identical blocks "
        "only once. Direct writes are not deduplicated."
    ),
    shows=(
        "Before the run: writes to a dataset on which dedup is on. The result is suspect if the job writes zeros or a "
        "pattern, or sets dedupe_percentage. Otherwise, the finding is a note."
    ),
    error="Too low for unique data, and too high for identical blocks.",
    fix="use a dataset with dedup=off, or set refill_buffers=1 and report that dedup was on",
    sources=(
        zfs_source("2.3.0", "module/zfs/zio.c", "zio_ddt_write"),
        fio_source("3.42", "io_u.c", "fill_io_buffer (dedupe_percentage)"),
    ),
    in_job=_in_job,
    options=("dedupe_percentage", "buffer_pattern", "zero_buffers", "filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run this on a dataset with dedup=on.",
    commands="fio --rw=write --bs=128k --size=256m --zero_buffers --end_fsync=1",
)
