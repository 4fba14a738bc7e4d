"""Writes that contain only zeros."""

from poolproof.load.model import LoadPart
from poolproof.rules.earlier import prepared_by, was_filled
from poolproof.rules.fio_job import is_on_devices
from poolproof.rules.flow import lost_writes
from poolproof.rules.model import Case, Findings, Rule, finding, fio_doc, fio_source, suspects, zfs_source
from poolproof.rules.stored_share import compresses, stays_uncompressed


def _writers(case: Case) -> list[LoadPart]:
    return [job for job in case.jobs if job.writes and job.zero_buffers]


def _may_be_laid_out(case: Case, job: LoadPart) -> bool:
    """True if fio may have to create the job's files before it reads them."""
    return not is_on_devices(job) and job.may_use_page_cache and not was_filled(case, job)


def _fix(case: Case) -> str:
    """Return the fix for programs without these options, or an empty string for fio."""
    return "" if case.generator == "fio" else "write data that does not compress, as fio does with refill_buffers=1"


def _in_job(case: Case) -> Findings:
    if jobs := _writers(case):
        shrinks, others = (
            "this target compresses to almost nothing",
            "a thin volume or a compressing drive may not store",
        )
        shrink = compresses(case) and not all(stays_uncompressed(case, job) for job in jobs)
        yield finding(
            "suspects" if shrink else "notes",
            f"{case.who(jobs)} writes only zeros, which {shrinks if shrink else others}",
            weight=75,
            fix=_fix(case),
        )
    elif jobs := [job for job in case.jobs if job.reads and job.zero_buffers and _may_be_laid_out(case, job)]:
        shrinks = "this target compresses to almost nothing"
        others = "a thin volume or a compressing drive may not store"
        written = (
            "a file. If fio has to create this file, it fills it with zeros (zero_buffers),"
            if case.generator == "fio"
            else f"zeros that {case.generator} has written,"
        )
        yield finding(
            "suspects" if compresses(case) else "notes",
            f"{case.who(jobs)} reads {written} which {shrinks if compresses(case) else others}",
            weight=60,
            fix=_fix(case),
        )
    for job in case.jobs:
        program = prepared_by(job, case.zeros)
        if program and job.reads and compresses(case) and not was_filled(case, job):
            yield suspects(
                f"{case.who([job])} reads zeros that `{program}` wrote, of which this target stores almost nothing"
            )


def _in_result(case: Case) -> Findings:
    flow = lost_writes(case)
    if flow and _writers(case):
        yield finding(
            flow.effect,
            f"{case.generator} wrote {flow.moved} of zeros; the disks wrote {flow.counted_share}: zeros are not stored",
            weight=93,
            fix=_fix(case),
        )


RULE = Rule(
    title="Only zeros are written",
    wrong="Zeros compress to almost nothing. ZFS with compression, thin volumes and some drives do not store them at "
    "all.",
    shows="In a job: zero_buffers or buffer_pattern=0. This includes jobs that only read, because fio writes zeros "
    "into a file that it has to create. Also, on a compressing target: a read of a file that the script filled with "
    "dd from /dev/zero. In a text that names TrueNAS and does not mention compression, all pools (/mnt/…) "
    "compress. On btrfs, direct writes count as uncompressed, except those of more than 4 KiB since Linux 6.15. In the "
    "counters: after the flush, the disks have written less than fio.",
    error="Too high. Measured: a factor of 250 with lz4; with zstd on btrfs, 256 MiB became 8 MiB.",
    fix="use refill_buffers=1 instead of zero_buffers or buffer_pattern=0",
    sources=(
        fio_source("3.42", "io_u.c", "fill_io_buffer"),
        fio_source("3.42", "filesetup.c", "extend_file"),
        zfs_source("2.3.0", "module/zfs/zio.c", "zio_write_compress"),
        fio_doc("zero_buffers"),
        "truenas/middleware src/middlewared/middlewared/plugins/pool_/pool.py, do_create (compression: lz4)",
    ),
    in_job=_in_job,
    options=("zero_buffers", "buffer_pattern"),
    fixed_options={"zero_buffers": None, "buffer_pattern": None, "refill_buffers": "1"},
    in_result=_in_result,
    explains_lost={"write": "only zeros, which are not stored"},
    needs="Run this on btrfs mounted with compress=zstd:3, or on ZFS with compression=on.",
    commands="fio --rw=write --bs=1m --size=256m --zero_buffers --end_fsync=1",
)
