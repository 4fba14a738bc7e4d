"""Syncs in a job that only reads."""

from collections.abc import Iterable

from poolproof.rules.fixes import always
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.naming import who
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    jobs = [job for job in case.load.parts if job.reads and not job.writes and job.syncs]
    if jobs:
        yield Finding(
            rule="sync-on-reads",
            effect="notes",
            message=f"{who(case, jobs)} only reads, but sets sync options: they have no effect on reads",
            fix="remove sync, fsync, fdatasync and end_fsync; direct=1 is what makes reads bypass RAM",
            weight=15,
        )


RULE = Rule(
    id="sync-on-reads",
    title="Syncs in a job that only reads",
    wrong="sync=1, fsync and end_fsync apply to writes. They have no effect on reads, and do not drop caches.",
    shows="In a job: rw=read or randread together with one of these options.",
    error="None in the result; it may be mistaken for synchronous or uncached reads.",
    fix="Remove the option, and use direct=1.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (sync)",),
    pitfall_numbers="#19",
    in_job=_in_job,
    options=("sync", "fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync_file_range"),
    fixed_options=always(
        sync=None, fsync=None, fdatasync=None, end_fsync=None, fsync_on_close=None, sync_file_range=None
    ),
    reproduce=script(
        "for sync in 0 1; do fio --name=trap --filename=trap --rw=read --bs=1m --size=256m --sync=$sync; done"
    ),
)
