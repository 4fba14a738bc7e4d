"""direct=1 with blocks that are not whole sectors."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Findings, Rule, suspects
from poolproof.units import canonical_size

_SECTOR = 512
_PAGE = 4096


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.direct]
    jobs = [job for job in jobs if job.block_bytes % _SECTOR or fio_job(job).flag("bs_unaligned")]
    if case.outcome is None and jobs:
        yield suspects(
            f"{case.who(jobs)} sets direct=1 with blocks of {jobs[0].block_bytes} bytes: direct I/O needs whole "
            f"sectors of at least {_SECTOR} bytes, and most file systems return EINVAL",
            weight=60,
        )


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    """Return no direct=1 if each write is committed, because it is not needed then; otherwise return whole pages."""
    if job.commits_each_write:
        return {"direct": None, "buffered": None}
    block = -(-job.max_block_bytes // _PAGE) * _PAGE
    return {"bs": canonical_size(block).lower(), "bsrange": None, "bssplit": None, "bs_unaligned": None}


RULE = Rule(
    title="direct=1 with unaligned blocks",
    wrong="O_DIRECT moves whole sectors. With bs=2300, fio fails, or the file system silently goes through RAM.",
    shows="In a job: direct=1 and a block size that is not a multiple of 512, or bs_unaligned.",
    error="The run fails or is buffered.",
    fix="bs=4k (note that fio reads `4KiB` as 4000 bytes), or direct=0 with fdatasync=1",
    sources=("man 2 open (O_DIRECT)",),
    in_job=_in_job,
    options=("bs", "bsrange", "bssplit", "bs_unaligned", "direct"),
    fixed_options=_fixed_options,
    commands="fio --rw=write --bs=2300 --size=22m --direct=1 --fdatasync=1 || true",
)
