"""A test file from an earlier run."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_size


def _in_job(case: Case) -> Iterable[Finding]:
    files = case.evidence.files if case.evidence else ()
    if case.outcome is not None or not files or not (case.load.reads and not case.load.writes):
        return
    size = sum(each.size_bytes for each in files)
    yield Finding(
        rule="prior-file-reuse",
        effect="notes",
        message=f"{files[0].path} already exists ({format_size(size)}): fio reads it as it is, with the "
        "compressibility, fragmentation and holes left by whatever wrote it",
        fix="remove it, and fill it with a separate job: rw=write bs=1m refill_buffers=1 end_fsync=1",
        weight=25,
    )


RULE = Rule(
    id="prior-file-reuse",
    title="A file from an earlier run",
    wrong="fio uses an existing file of the right name and size as it is. The result depends on what wrote the file, "
    "and how.",
    shows="Before the run: the files of a read job already exist.",
    error="Too high or too low. Seen: 1150 against 635 MB/s.",
    fix="unlink=1 between runs, or a separate fill job.",
    sources=("fio filesetup.c",),
    pitfall_numbers="#35",
    in_job=_in_job,
    options=("filename", "directory"),
    reproduce=script(
        trap="fio --name=trap --filename=trap --rw=read --bs=1m --size=256m",
        before="fio --name=fill --filename=trap --rw=randwrite --bs=4k --size=256m --fallocate=none --end_fsync=1",
    ),
)
