"""A test file left over from an earlier run."""

from poolproof.rules.model import Case, Findings, Rule, fio_source, notes
from poolproof.units import format_size


def _in_job(case: Case) -> Findings:
    largest, needed = max((file.size_bytes for file in case.files), default=0), case.load.end_bytes
    if largest < needed:
        return  # fio removes files that are too short for a reading job, and lays them out again
    if case.outcome is None and case.files and case.load.reads and not case.load.writes:
        size = sum(file.size_bytes for file in case.files)
        yield notes(
            f"{case.files[0].path} already exists ({format_size(size)}): fio reads it as it is, with the "
            "compressibility, fragmentation and holes left by whatever wrote it",
            weight=25,
        )


RULE = Rule(
    title="A file from an earlier run",
    wrong="If a file with the right name and size exists, fio uses it as it is. The result then depends on how that "
    "file was written.",
    shows="Before the run: the files of a read job already exist, and are large enough. (fio lays out files that are "
    "missing or too short.)",
    error="Too high or too low. Observed: 1,150 MB/s with one file and 635 MB/s with another.",
    fix="remove the file, and write it again with a separate job: rw=write bs=1m refill_buffers=1 end_fsync=1",
    sources=(
        fio_source("3.42", "filesetup.c", "setup_files (lays out only files that are too short)"),
        fio_source("3.42", "filesetup.c", "extend_file (first removes a file that is too short if the job reads)"),
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    prepare="fio --name=fill --filename=trap --rw=randwrite --bs=4k --size=256m --fallocate=none --end_fsync=1",
    commands="fio --rw=read --bs=1m --size=256m",
)
