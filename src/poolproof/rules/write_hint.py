"""write_hint with direct=1, which old releases of fio cannot set on current kernels."""

from errno import EINVAL

from poolproof.load.outcome import PartOutcome
from poolproof.rules.fio_job import HINT_FIXED_IN, HINT_REMOVED_IN, hints_direct_writes
from poolproof.rules.model import Case, Findings, Rule, fails, fio_doc, fio_source, linux_source, notes
from poolproof.rules.reported import fio_release


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if hints_direct_writes(job)]
    if jobs and case.outcome is None and _may_fail(case):
        yield notes(
            f"{case.who(jobs)} sets write_hint with direct=1: on Linux 5.18 and later, fio before 3.37 fails with "
            "`Invalid argument` when it opens the file",
            weight=45,
        )


def _in_result(case: Case) -> Findings:
    if any(is_hint_refused(case, part) for part in (case.outcome.parts if case.outcome else ())):
        yield fails(
            "fio could not set write_hint and failed with `Invalid argument` before its first I/O: with direct=1, fio "
            "before 3.37 uses the command F_SET_FILE_RW_HINT, which was removed in Linux 5.18",
            weight=91,
        )


def is_hint_refused(case: Case, part: PartOutcome) -> bool:
    """True if a job failed because fio could not set its write_hint."""
    job = case.job_named(part.name)
    failed = part.error == EINVAL and not part.directions
    return failed and job is not None and hints_direct_writes(job) and _may_fail(case)


def _may_fail(case: Case) -> bool:
    release, kernel = fio_release(case.outcome), case.target.kernel if case.target else None
    return (release is None or release < HINT_FIXED_IN) and (kernel is None or kernel >= HINT_REMOVED_IN)


RULE = Rule(
    title="fio cannot set the write hint",
    wrong=(
        "With direct=1, fio before 3.37 sets write_hint with the command F_SET_FILE_RW_HINT, for reads too. Linux 5.18 "
        "removed this command, so fio fails with `Invalid argument` when it opens the file. The error looks like that "
        "of a disk or file system that does not accept direct I/O."
    ),
    shows=(
        "In a job: write_hint with direct=1, if fio is older than 3.37 and the kernel is 5.18 or later, as far as they "
        "are known. `poolproof run` and `poolproof check` reject such a job on such a host. In a result: this job "
        "ended with error 22 (EINVAL) and did no I/O."
    ),
    error="The job has no result, because fio stops before its first I/O.",
    fix="use fio 3.37 or later, or remove write_hint",
    sources=(
        "measured: fio 3.33 on Linux 6.18, on a loop device and on ext4: err=22, func=fcntl write hint",
        fio_source("3.33", "ioengines.c", "td_io_open_file"),
        fio_source("3.42", "ioengines.c", "td_io_open_file (falls back to F_SET_RW_HINT since commit 0cfea592)"),
        linux_source("6.12", "fs/fcntl.c", "do_fcntl (commit 7b12e49669c9 removed F_SET_FILE_RW_HINT)"),
        fio_doc("write_hint"),
    ),
    in_job=_in_job,
    options=("write_hint", "direct"),
    fixed_options={"write_hint": None},
    in_result=_in_result,
    cleared_by_byte_count=False,
    commands="fio --rw=write --bs=4k --size=4m --direct=1 --write_hint=short || true",
)
