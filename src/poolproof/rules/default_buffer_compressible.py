"""fio's reused write buffers on a target that compresses."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fixes import always
from poolproof.rules.flow import compresses, writes
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_DEFAULT_RECORD_BYTES = 128 * 1024
_FIX = "refill_buffers=1 for data that does not compress, or buffer_compress_percentage=N for data like yours"


def _record_bytes(case: Case) -> int:
    return (case.target.record_bytes if case.target else None) or _DEFAULT_RECORD_BYTES


def _repeating(case: Case) -> list[LoadPart]:
    """Return the jobs whose buffers repeat within one record: fio has `iodepth` buffers of `bs` and fills each once."""
    if not compresses(case):
        return []
    return [
        job
        for job in case.load.parts
        if job.writes
        and not job.refills_buffers
        and not job.zero_buffers
        and job.block_bytes * (job.queue // job.clones) < _record_bytes(case)
    ]


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = _repeating(case)
    if not jobs or case.target is None:
        return
    buffers = jobs[0].block_bytes * (jobs[0].queue // jobs[0].clones)
    yield Finding(
        rule="default-buffer-compressible",
        effect="suspects",
        message=f"{who(case, jobs)} writes the same {format_size(buffers)} of buffers repeatedly to a target with "
        f"compression={case.target.compression}: a record of {format_size(_record_bytes(case))} holds each "
        f"{_record_bytes(case) / buffers:.0f} times and shrinks by about that factor",
        fix=_FIX,
        weight=75,
    )


def _in_result(case: Case) -> Iterable[Finding]:
    flow, jobs = writes(case), _repeating(case)
    if flow is None or flow.in_order or not jobs or case.target is None:
        return
    yield Finding(
        rule="default-buffer-compressible",
        effect=flow.effect,
        message=f"fio wrote {flow.moved}; compression={case.target.compression} reduced it to {flow.counted} on the "
        f"disks ({flow.share}): fio fills each buffer once and reuses it, so its data repeats",
        fix=_FIX,
        weight=92,
    )


RULE = Rule(
    id="default-buffer-compressible",
    title="fio's default data compresses well",
    wrong="fio fills each I/O buffer once and writes it repeatedly; scramble_buffers changes only a few bytes. On "
    "a target that compresses, a record holds many copies of the same block and shrinks to a few blocks.",
    shows="In a job: writes, a target that compresses, no refill_buffers, and bs × iodepth below the record. In "
    "evidence: the drained writes are less than 90 % of what fio wrote.",
    error="Too high. Measured with lz4 on 128 KiB records: 14.9 times at bs=4k, 4.7 times at 16k, none at 64k and "
    "above; "
    "zstd 26.7 times at 4k and still 2.2 times at 64k.",
    fix=_FIX,
    sources=(
        "measured cases L11, L12",
        "https://fio.readthedocs.io/en/latest/fio_doc.html (refill_buffers, scramble_buffers)",
    ),
    pitfall_numbers="#9, A3",
    in_job=_in_job,
    options=("bs", "iodepth", "rw"),
    fixed_options=always(refill_buffers="1"),
    in_result=_in_result,
    explains_lost={"write": "compressed away"},
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=4k --size=256m --end_fsync=1",
        needs="On btrfs mounted with compress=zstd:3, or on ZFS with compression=on.",
    ),
)
