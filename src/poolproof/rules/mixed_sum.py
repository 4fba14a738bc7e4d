"""A sum of reads and writes quoted as a single rate."""

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_source, notes


def _in_job(case: Case) -> Findings:
    jobs = [job for job in case.jobs if job.is_mixed and _is_summed(job)]
    if jobs:
        yield notes(
            f"{case.who(jobs)} reports one combined rate for reads and writes (unified_rw_reporting): rwmixread ties "
            "the two rates together, so the slower of them limits both, and the sum hides which one is slower",
            weight=15,
        )


def _is_summed(job: LoadPart) -> bool:
    return (fio_job(job).text("unified_rw_reporting") or "none").strip() in ("1", "mixed")


RULE = Rule(
    title="One combined rate for reads and writes",
    wrong=(
        "A mixed job keeps its ratio of reads to writes, so slow writes also slow down the reads. Some scripts print "
        "only the sum of both rates."
    ),
    shows="In a job: rw=rw or randrw with unified_rw_reporting=1, so that fio prints only the sum.",
    error="Too high if the sum is used as the rate of reads or of writes.",
    fix="remove unified_rw_reporting, and report the rates of reads and writes separately, together with the mix",
    sources=(
        fio_source("3.42", "io_u.c", "set_rwmix_bytes, get_rand_ddir"),
        fio_source("3.42", "stat.c", "add_ddir_status_json (unified_rw_reporting)"),
        "https://github.com/masonr/yet-another-bench-script",
    ),
    in_job=_in_job,
    options=("unified_rw_reporting", "rw"),
    fixed_options={"unified_rw_reporting": None},
    commands="fio --rw=randrw --rwmixread=70 --unified_rw_reporting=1 --bs=4k --size=256m --io_size=32m --direct=1",
)
