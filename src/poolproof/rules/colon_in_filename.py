"""File names that fio splits at a colon."""

from collections.abc import Iterable

from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        names = fio_job(job).filenames
        if len(names) > 1 and case.outcome is None:
            yield Finding(
                rule="colon-in-filename",
                effect="notes",
                message=f"filename={fio_job(job).filename} opens {len(names)} files ({', '.join(names)}), and the size "
                "is divided between them",
                fix="write \\: if the colon is part of the name (PCI addresses, by-path names)",
                weight=20,
            )


RULE = Rule(
    id="colon-in-filename",
    title="A colon separates files",
    wrong="fio splits filename at every colon. A by-path name or a PCI address becomes two names; if both can be "
    "opened, fio tests both.",
    shows="In a job: a filename with a colon that is not preceded by a backslash.",
    error="fio tests a different target than intended.",
    fix="Escape the colon: \\:",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (filename)",),
    pitfall_numbers="#34",
    in_job=_in_job,
    options=("filename",),
    reproduce=script("fio --name=trap --filename=trap-a:trap-b --rw=write --bs=4k --size=1m; ls -l trap-a trap-b"),
)
