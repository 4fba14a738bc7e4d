"""Files that were removed, or not yet created, when a job opens them."""

from poolproof.rules.earlier import writers_of
from poolproof.rules.fio_job import fio_job, is_on_devices
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes, suspects


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        if not job.reads or job.writes or not job.may_use_page_cache or is_on_devices(job):
            continue
        if fio_job(job).flag("create_on_open") and not list(writers_of(case, job)):
            yield suspects(
                f"{case.who([job])} sets create_on_open=1, so fio does not lay out the file: a new file is then empty, "
                "and there is nothing to read",
                weight=60,
            )
        writers = list(writers_of(case, job))
        if writers and fio_job(writers[-1]).flag("unlink"):
            yield notes(
                f"job `{writers[-1].name}` removes the file when it ends (unlink=1): {case.who([job])} reads a file "
                "that fio lays out anew, not the one that was written",
                weight=40,
            )


RULE = Rule(
    title="The file is gone, or not there yet",
    wrong="unlink=1 removes a job's files when the job ends, so a later read job gets a new file. create_on_open=1 "
    "creates a file only when fio opens it, without laying it out, so a read job finds it empty.",
    shows="In a job: a read of a file that an earlier job removed with unlink=1, or a job that only reads and sets "
    "create_on_open=1.",
    error="fio tests a different file than intended, or nothing.",
    fix="remove unlink from the writing job and create_on_open from the reading job",
    sources=(
        fio_source("3.42", "filesetup.c", "setup_files (create_on_open skips the layout)"),
        fio_source("3.42", "filesetup.c", "close_files, td_io_unlink_file (unlink)"),
        fio_doc("unlink, create_on_open"),
    ),
    in_job=_in_job,
    options=("create_on_open", "filename", "unlink"),
    fixed_options={"create_on_open": None},
    cleared_by_byte_count=False,
    commands="rm -f trap; fio --rw=read --bs=4k --size=64m --create_on_open=1 || true; ls -l trap",
)
