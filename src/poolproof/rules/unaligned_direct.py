"""direct=1 with a block size that is not a multiple of the sector size."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, fio_doc, fio_source, linux_source, suspects
from poolproof.units import canonical_size

_SECTOR = 512
_PAGE = 4096


def _in_job(case: Case) -> Findings:
    jobs = [
        job
        for job in case.jobs
        if job.direct and (job.block_bytes % _SECTOR or fio_job(job).may_break_alignment(_SECTOR))
    ]
    if case.outcome is None and jobs:
        partial = jobs[0].block_bytes % _SECTOR
        blocks = f"blocks of {jobs[0].block_bytes} bytes" if partial else "bs_unaligned, which allows parts of sectors"
        yield suspects(
            f"{case.who(jobs)} sets direct=1 with {blocks}: direct I/O needs whole sectors of at least {_SECTOR} "
            "bytes; otherwise, most file systems return EINVAL",
            weight=60,
        )


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    """Return changes that set a block size of whole pages.

    If each write is committed, the changes remove direct=1 instead, because it then has no benefit.
    """
    if job.commits_each_write:
        return {"direct": None, "buffered": None}
    block = -(-job.max_block_bytes // _PAGE) * _PAGE
    return {"bs": canonical_size(block).lower(), "bsrange": None, "bssplit": None, "bs_unaligned": None}


RULE = Rule(
    title="direct=1 with unaligned blocks",
    wrong="O_DIRECT moves whole sectors. With bs=2300, fio fails, or the file system silently uses the page cache.",
    shows="In a job: direct=1 with a block size that is not a multiple of 512, or with bs_unaligned and a bsrange.",
    error="The run fails, or its I/O is buffered.",
    fix="set bs=4k (fio reads `4KiB` as 4000 bytes) without bs_unaligned, or direct=0 with fdatasync=1",
    sources=(
        fio_source("3.42", "io_u.c", "get_next_buflen"),
        linux_source("6.12", "block/fops.c", "blkdev_dio_invalid"),
        "man 2 open (O_DIRECT)",
        fio_doc("blocksize_unaligned"),
    ),
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "bs_unaligned", "direct"),
    fixed_options=_fixed_options,
    commands="fio --rw=write --bs=2300 --size=22m --direct=1 --fdatasync=1 || true",
)
