"""thinktime_spin, after which fio may sleep for ever."""

from poolproof.rules.fio_job import SPIN_FIXED_IN, spins
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_issue, fio_source, notes
from poolproof.rules.reported import fio_release


def _in_job(case: Case) -> Findings:
    release, jobs = fio_release(case.outcome), [job for job in case.jobs if spins(job)]
    if jobs and (release is None or release < SPIN_FIXED_IN):
        yield notes(
            f"{case.who(jobs)} sets thinktime_spin: if another program gets the CPU while fio spins, fio before 3.36 "
            "sleeps until the end of the runtime, and before 3.34 until it is killed",
            weight=45,
        )


RULE = Rule(
    title="fio sleeps after spinning for too long",
    wrong=(
        "With thinktime_spin, fio spins for a part of thinktime and sleeps for the rest. If the spin takes longer than "
        "thinktime, because another program or virtual machine gets the CPU, the rest is negative, and fio before "
        "3.36 treats it as a very long time. fio 3.34 and 3.35 sleep until the end of the runtime, and earlier "
        "releases until they are killed."
    ),
    shows=(
        "In a job: thinktime and thinktime_spin are set, and fio is older than 3.36 or its release is unknown. "
        "`poolproof run` rejects such a job if the host's fio is older than 3.36."
    ),
    error=(
        "Too low, or there is no result. Measured with fio 3.33 on two busy processors: with thinktime=1000, "
        "thinktime_spin=500 and runtime=1, fio did 7 I/Os and was still sleeping after 25 s."
    ),
    fix="use fio 3.36 or later, or remove thinktime_spin",
    sources=(
        fio_source("3.33", "backend.c", "handle_thinktime"),
        fio_source("3.42", "backend.c", "handle_thinktime (commits f9fc7a27 in 3.34 and 14adf6e3 in 3.36)"),
        fio_issue(1588),
        fio_doc("thinktime, thinktime_spin"),
    ),
    in_job=_in_job,
    options=("thinktime_spin", "thinktime"),
    fixed_options={"thinktime_spin": None},
    cleared_by_byte_count=False,
    commands=(
        "timeout 30 fio --rw=randread --bs=4k --size=256m --direct=1 --thinktime=1000 --thinktime_spin=1000 "
        "--time_based --runtime=1"
    ),
)
