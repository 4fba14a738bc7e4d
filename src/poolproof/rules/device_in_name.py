"""A device given as the name of the job."""

from collections.abc import Iterable

from poolproof.fio.job import Job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.job.jobs:
        if job.name.startswith("/") and job.filename is None:
            yield Finding(
                rule="device-in-name",
                effect="suspects",
                message=f"the job is named {job.name} and has no filename: a name is no target, fio makes a file "
                "called after it in the directory where it runs",
                fix=f"--name=test --filename={job.name}",
                weight=65,
            )


def _mended(_case: Case, job: Job) -> Changes:
    return {"filename": job.name}


RULE = Rule(
    id="device-in-name",
    title="The device is only the job's name",
    wrong="--name=/dev/sdb names the job. Without filename fio makes a file in the current directory and tests that.",
    shows="In a job: a name that begins with a slash, and no filename.",
    error="Another target than the reader thinks.",
    mend="--filename=/dev/disk/by-id/… as well.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (name, filename)",),
    catalogue="#34",
    in_job=_in_job,
    options=("name",),
    mended=_mended,
    settled_by_account=False,
    reproduce=script("fio --name=/trap --rw=write --bs=4k --size=1m; ls -l"),
)
