"""Percentiles merged over different jobs."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.reproduction import script

_FIX = (
    "remove group_reporting and unified_rw_reporting, or set new_group=1 between different jobs; --output-format=json+"
)


def _in_job(case: Case) -> Iterable[Finding]:
    grouped = [job for job in case.load.parts if fio_job(job).flag("group_reporting")]
    merged = grouped and not any(
        fio_job(job).flag("new_group") or job.waits_for_previous for job in case.load.parts[1:]
    )
    kinds = {(fio_job(job).rw, job.block_bytes, job.max_block_bytes) for job in case.load.parts}
    if merged and len(kinds) > 1:
        yield _finding(f"group_reporting merges {len(kinds)} different jobs into one set of percentiles, true of none")
    unified = (fio_job(job).text("unified_rw_reporting") for job in case.load.parts if job.is_mixed)
    if any(value in ("1", "mixed") for value in unified):
        yield _finding(
            "unified_rw_reporting merges reads and writes into one set of percentiles, which describes neither"
        )


def _finding(message: str) -> Finding:
    return Finding("merged-percentiles", "notes", message, _FIX, 35)


def _mended(_case: Case, job: LoadPart) -> Changes:
    return {"unified_rw_reporting": None} if job.is_mixed else {"new_group": "1"}


RULE = Rule(
    id="merged-percentiles",
    title="One set of percentiles for different jobs",
    wrong="group_reporting puts the latencies of all jobs into one histogram. If the jobs differ in block size or "
    "direction, its percentiles describe none of them, and a slow job is hidden.",
    shows="In a job: group_reporting over sections that differ in rw or bs, or unified_rw_reporting in a mixed job.",
    error="Too high or too low.",
    fix=_FIX,
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (group_reporting)",),
    pitfall_numbers="#31",
    in_job=_in_job,
    options=("unified_rw_reporting", "group_reporting"),
    fixed_options=_mended,
    cleared_by_byte_count=False,
    reproduce=script(
        "fio --group_reporting --filename=trap --size=256m --direct=1 --time_based --runtime=3 --name=a --rw=randread "
        "--bs=4k --name=b --rw=randread --bs=1m"
    ),
)
