"""A device given as the job name."""

from collections.abc import Iterable

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        if not job.name.startswith("/") or fio_job(job).filename is not None:
            continue
        is_device = job.name.startswith("/dev/")
        what = (
            "fio uses that device if it exists, and otherwise creates a file with a name derived from it"
            if is_device
            else "a job name is not a target, so fio creates a file named after it in the directory where it runs"
        )
        yield Finding(
            rule="device-in-name",
            effect="notes" if is_device else "suspects",
            message=f"the job is named {job.name} and has no filename: {what}",
            fix=f"--name=test --filename={job.name}",
            weight=65,
        )


def _mended(_case: Case, job: LoadPart) -> Changes:
    return {"filename": job.name}


RULE = Rule(
    id="device-in-name",
    title="The device is only the job's name",
    wrong="--name=/srv/file names the job. Without filename, fio creates a file in the current directory and tests "
    "that. The one exception is a device that exists: fio uses it.",
    shows="In a job: a name that starts with a slash, and no filename.",
    error="fio tests a different target than intended.",
    fix="Add --filename=/dev/disk/by-id/….",
    sources=(
        "https://fio.readthedocs.io/en/latest/fio_doc.html (name, filename)",
        "measured with fio 3.33: --name=/dev/loop0 reads that device",
    ),
    pitfall_numbers="#34",
    in_job=_in_job,
    options=("name",),
    fixed_options=_mended,
    cleared_by_byte_count=False,
    reproduce=script("fio --name=/trap --rw=write --bs=4k --size=1m; ls -l"),
)
