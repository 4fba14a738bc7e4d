"""A device given as the job name."""

import re

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes

_PATH = re.compile(r"/|\$\{?\w+\}?/")  # /srv/file, and $DIR/file in a script
_ABSOLUTE = re.compile(r"(?:/[^/\s]+){2,}")
_RELATIVE = re.compile(r"[\w.-]+(?:/[\w.-]+)*")


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        if not _PATH.match(job.name):
            continue
        if (filename := fio_job(job).filename) is not None:
            if fio_job(job).directory is None and _is_elsewhere(job.name, filename):
                yield notes(
                    f"the job is named {job.name}, but its file is {filename} in fio's working directory: with "
                    "filename, a job name does not affect the path",
                    weight=65,
                    fix=f"set filename={job.name}, or directory=",
                )
            continue
        is_device = job.name.startswith("/dev/")
        device = f"fio uses that device if it exists, and otherwise the file {job.name}.0.0, which is in RAM"
        file = f"a job name is not a target, so fio uses another file, {job.name}.0.0"
        yield notes(
            f"the job is named {job.name} and has no filename: {device if is_device else file}",
            weight=65,
            fix=f"use --name=test --filename={job.name}",
        )


def _is_elsewhere(name: str, filename: str) -> bool:
    """True if the name is the path of a file in a directory, and the file is relative to the working directory."""
    return (
        name.startswith("/") and name.count("/") > 1 and " " not in name and _RELATIVE.fullmatch(filename) is not None
    )


RULE = Rule(
    title="The device is only the job's name",
    wrong=(
        "The option --name=/srv/file only names the job. Without filename, fio tests a new file, /srv/file.0.0. If the "
        "job has the same name as a device, fio tests that device. However, if the name of the device is misspelt, fio "
        "tests a new file in /dev, which is in RAM. With filename, the name does not affect the path at all."
    ),
    shows=(
        "In a job: a name that starts with a slash, or with a variable and a slash, and no filename; or a path "
        "as the name, and a filename without one, which is relative to fio's working directory. The finding is "
        "only a note, because fio creates the new file in the directory that the name points to."
    ),
    error="fio tests a different target than intended.",
    fix="add --filename=/dev/disk/by-id/…",
    sources=(
        fio_source("3.42", "init.c", "add_job, make_filename"),
        fio_doc("name, filename"),
        "measured with fio 3.33: --name=/dev/loop0 reads that device, --name=/tmp/d/file writes /tmp/d/file.0.0",
    ),
    in_job=_in_job,
    options=("name",),
    fixed_options=lambda _case, job: {} if "$" in job.name else {"filename": job.name},
    cleared_by_byte_count=False,
    commands="fio --name=/trap --rw=write --bs=4k --size=1m; ls -l",
)
