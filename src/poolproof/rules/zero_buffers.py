"""Writes that contain only zeros."""

from collections.abc import Iterable

from poolproof.rules.fixes import always
from poolproof.rules.flow import compresses, writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script

_FIX = "refill_buffers=1 instead of zero_buffers or buffer_pattern=0"


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.writes and job.zero_buffers]
    if not jobs:
        return
    squeezes = compresses(case)
    where = (
        "this target compresses to almost nothing" if squeezes else "a thin volume or a compressing drive may not store"
    )
    yield Finding(
        rule="zero-buffers",
        effect="suspects" if squeezes else "notes",
        message=f"{who(case, jobs)} writes only zeros, which {where}",
        fix=_FIX,
        weight=75,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    flow = writes(case)
    if flow is None or flow.in_order or not any(job.writes and job.zero_buffers for job in case.load.parts):
        return
    yield Finding(
        rule="zero-buffers",
        effect=flow.effect,
        message=f"fio wrote {flow.moved} of zeros; the disks wrote {flow.counted} ({flow.share} of {flow.wanted}): "
        "zeros are not stored",
        fix=_FIX,
        weight=93,
    )


RULE = Rule(
    id="zero-buffers",
    title="Only zeros are written",
    wrong="Zeros compress to almost nothing, and ZFS, thin volumes and some drives do not store them at all.",
    shows="In a job: zero_buffers or buffer_pattern=0. In the counters: after the final flush, the disks have "
    "written less than fio did.",
    error="High. Measured: 250 times with lz4; with zstd on btrfs, 256 MiB became 8 MiB.",
    fix=_FIX,
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (zero_buffers)",),
    pitfall_numbers="#10, A3",
    in_job=_in_job,
    options=("zero_buffers", "buffer_pattern"),
    fixed_options=always(zero_buffers=None, buffer_pattern=None, refill_buffers="1"),
    in_result=_in_result,
    explains_lost={"write": "nothing but zeros: not stored"},
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=256m --zero_buffers --end_fsync=1",
        needs="Shows on btrfs mounted with compress=zstd:3, or on ZFS with compression=on.",
    ),
)
