"""Percentiles that combine several different jobs."""

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes

_APART = (
    "remove group_reporting, or set new_group=1 in each job that differs from the one before it; use "
    "--output-format=json+"
)
_BY_DIRECTION = "remove unified_rw_reporting; use --output-format=json+"


def _in_job(case: Case) -> Findings:
    jobs = case.jobs
    kinds = {(fio_job(job).rw, job.block_bytes, job.max_block_bytes) for job in jobs}
    separated = any(fio_job(job).flag("new_group") or job.waits_for_previous for job in jobs[1:])
    if len(kinds) > 1 and not separated and any(fio_job(job).flag("group_reporting") for job in jobs):
        message = (
            f"group_reporting merges {len(kinds)} kinds of jobs into one set of percentiles, which describes none of "
            f"them"
        )
        yield notes(message, weight=35, fix=_APART)
    if any(job.is_mixed and fio_job(job).text("unified_rw_reporting") in ("1", "mixed") for job in jobs):
        message = (
            "unified_rw_reporting merges reads and writes into one set of percentiles, which describes neither of them"
        )
        yield notes(message, weight=35, fix=_BY_DIRECTION)


RULE = Rule(
    title="One set of percentiles for different jobs",
    wrong=(
        "group_reporting puts the latencies of all jobs into one histogram. If the jobs differ in block size or "
        "direction, the percentiles of this histogram describe none of them, and slow jobs remain hidden."
    ),
    shows="In a job: group_reporting for jobs that differ in rw or bs, or unified_rw_reporting in a mixed job.",
    error="Too high or too low.",
    fix="remove group_reporting and unified_rw_reporting, or set new_group=1 in each job that differs from the one "
    "before it; use --output-format=json+",
    sources=(
        fio_source("3.42", "stat.c", "sum_thread_stats, __show_run_stats"),
        fio_doc("group_reporting"),
    ),
    in_job=_in_job,
    options=("unified_rw_reporting", "group_reporting"),
    fixed_options=lambda _case, job: {"unified_rw_reporting": None} if job.is_mixed else {"new_group": "1"},
    cleared_by_byte_count=False,
    commands="fio --group_reporting --filename=trap --size=256m --direct=1 --time_based --runtime=3 --name=a "
    "--rw=randread --bs=4k --name=b --rw=randread --bs=1m",
)
