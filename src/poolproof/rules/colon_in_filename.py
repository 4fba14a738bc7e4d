"""File names that fio splits at a colon."""

import re
from collections.abc import Sequence

from poolproof.rules.fio_job import fio_job, is_windows_path
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes

_NUMBER = re.compile(r"\d+")


def _in_job(case: Case) -> Findings:
    for job in case.jobs if case.outcome is None else ():
        names = fio_job(job).filenames
        if len(names) > 1 and not _are_separate(names):
            divided = job.size_bytes and not fio_job(job).text("filesize")
            yield notes(
                f"filename={fio_job(job).filename} opens {len(names)} files ({', '.join(names)})"
                + (", and the size is divided between them" if divided else ""),
                weight=20,
            )


def _are_separate(names: Sequence[str]) -> bool:
    """True if the names are obviously those of several files: absolute paths, or names that differ only in a number."""
    if all(name.startswith("/") or is_windows_path(name) for name in names):
        return True
    forms = {_NUMBER.sub("", name) for name in names}
    return len(forms) == 1 and any(map(str.isalpha, forms.pop()))


RULE = Rule(
    title="A colon separates files",
    wrong=(
        "fio splits the value of filename at each colon. If the parts of a by-path name or PCI address can be opened "
        "as files, fio tests each of these parts instead of the device."
    ),
    shows=(
        "In a job: a filename with a colon that is not escaped with a backslash. Lists of absolute paths "
        "(/dev/sda:/dev/sdb), and of names that differ only in a number (file1:file2), are not reported, because their "
        "colons are intended as separators."
    ),
    error="fio tests a different target than intended.",
    fix="escape each colon that is part of a name (a PCI address or a by-path name) as \\:",
    sources=(
        fio_source("3.42", "options.c", "get_next_str, str_filename_cb"),
        fio_source("3.42", "filesetup.c", "setup_files (size / nr_files unless filesize is set)"),
        fio_doc("filename"),
    ),
    in_job=_in_job,
    options=("filename",),
    commands="fio --name=trap --filename=trap-a:trap-b --rw=write --bs=4k --size=1m; ls -l trap-a trap-b",
)
