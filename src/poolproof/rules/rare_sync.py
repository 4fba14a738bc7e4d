"""A sync too rare to matter."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fixes import always
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.path import may_end_in_ram
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_RARE = 100


def _writes_of_clone(job: LoadPart) -> int | None:
    size = job.io_size_bytes or job.size_bytes
    return size // job.max_block_bytes if size else None


def _is_rare(case: Case, job: LoadPart) -> bool:
    every, writes = job.sync_every, _writes_of_clone(job)
    if not job.writes or every is None or every < _RARE or not may_end_in_ram(job, case.target):
        return False
    if job.syncs_at_end or job.writes_are_synchronous:
        return False
    return writes is None or job.time_based or writes % every != 0


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        if not _is_rare(case, job):
            continue
        every = job.sync_every or 0
        yield Finding(
            rule="rare-sync",
            effect="suspects",
            message=f"{who(case, [job])} syncs after every {every} writes: up to "
            f"{format_size(every * job.max_block_bytes)} per numjobs clone are still in RAM when fio ends, and no "
            "commit latency is measured",
            fix="end_fsync=1 in addition, for throughput; fdatasync=1 for commit latency",
            weight=45,
        )


RULE = Rule(
    id="rare-sync",
    title="Infrequent syncs",
    wrong="fsync=10000 makes a job look synced. The writes after the last sync are still in RAM when fio ends, and "
    "the time of a commit is spread over ten thousand writes.",
    shows="In a job: fsync or fdatasync of 100 or more, and no end_fsync.",
    error="Too high, by the share of bytes that were never synced.",
    fix="end_fsync=1 or fdatasync=1.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (fsync)",),
    pitfall_numbers="#19",
    in_job=_in_job,
    options=("fsync", "fdatasync"),
    fixed_options=always(end_fsync="1"),
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=4k --size=256m --fsync=60000"),
)
