"""Syncs in a job that only reads."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes
from poolproof.units import format_list

_OPTIONS = ("sync", "fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync_file_range")
_DIRECT = "set direct=1 if the reads should bypass RAM"


def _in_job(case: Case) -> Findings:
    if case.load.writes:
        return  # the options are meant for the jobs that write; the other jobs inherit them from [global]
    if jobs := [job for job in case.jobs if job.reads and not job.writes and job.syncs]:
        names = [name for name in _OPTIONS if any(name in fio_job(job).options for job in jobs)]
        remove = f"remove {format_list(names)}" if names else ""
        fix = remove if all(job.direct for job in jobs) or not remove else f"{remove}; {_DIRECT}"
        options = (
            f"{format_list(names)}, which has" if len(names) == 1 else f"{format_list(names) or 'syncs'}, which have"
        )
        yield notes(f"{case.who(jobs)} only reads, but sets {options} no effect on reads", weight=15, fix=fix)


RULE = Rule(
    title="Syncs in a job that only reads",
    wrong="sync=1, fsync and end_fsync apply to writes. They have no effect on reads and do not drop caches.",
    shows="In a job: rw=read or randread with one of these options, and no job that writes.",
    error="The result itself is correct, but it may be mistaken for a result of synchronous or uncached reads.",
    fix=f"remove sync, fsync, fdatasync and end_fsync; {_DIRECT}",
    fix_if_direct="remove sync, fsync, fdatasync and end_fsync",
    sources=(
        fio_source("3.42", "fio.h", "should_fsync"),
        fio_source("3.42", "filesetup.c", "generic_open_file (O_SYNC)"),
        fio_doc("sync"),
    ),
    in_job=_in_job,
    options=_OPTIONS,
    fixed_options=dict.fromkeys(_OPTIONS),
    commands="for sync in 0 1; do fio --rw=read --bs=1m --size=256m --sync=$sync; done",
)
