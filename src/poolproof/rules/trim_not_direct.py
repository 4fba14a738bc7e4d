"""Jobs that trim and write, whose direct=1 or syncs old releases of fio ignore."""

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Findings, Rule, fio_source, notes, suspects
from poolproof.rules.proof import OF_WRITES, SYNCS
from poolproof.rules.reported import fio_release

_FLAGS_SINCE = (3, 34)
_SYNCS_SINCE = (3, 38)


def _in_job(case: Case) -> Findings:
    if case.outcome is None and (message := _ignored(case)):
        yield notes(message, weight=55)


def _in_result(case: Case) -> Findings:
    if case.outcome is not None and (message := _ignored(case)):
        yield suspects(message, weight=83, metrics=(*OF_WRITES, *SYNCS))


def _ignored(case: Case) -> str:
    """Return which options fio ignores, as a message, or an empty string."""
    release = fio_release(case.outcome)
    writers = [job for job in case.jobs if job.trims and job.writes]
    opened = [job for job in writers if job.direct or job.writes_are_synchronous]
    synced = [job for job in writers if job.sync_every]
    if opened and (release is None or release < _FLAGS_SINCE):
        return (
            f"{case.who(opened)} trims and writes: fio before 3.34 ignores {_flags(opened)} in such a job, so its "
            "writes return when their data is in RAM"
        )
    if synced and (release is None or release < _SYNCS_SINCE):
        return (
            f"{case.who(synced)} trims and writes: fio before 3.38 ignores fsync and fdatasync in such a job, so its "
            "writes are not committed one by one"
        )
    return ""


def _flags(jobs: list[LoadPart]) -> str:
    names = ["direct=1"] * any(job.direct for job in jobs)
    names += ["sync"] * any(job.writes_are_synchronous for job in jobs)
    return " and ".join(names)


RULE = Rule(
    title="fio ignores direct=1 or syncs in a job that trims",
    wrong=(
        "With rw=trimwrite and randtrimwrite, fio before 3.34 opens the device without O_DIRECT and O_SYNC, and fio "
        "before 3.38 never calls fsync or fdatasync between the writes. The latency of a write is then that of a copy "
        "into RAM, and much of the data is written only when fio closes the device, after it has stopped its clock."
    ),
    shows=(
        "In a job or a result: a job that trims and writes, with direct=1 or sync, if fio is older than 3.34, or with "
        "fsync or fdatasync, if fio is older than 3.38. If the release is unknown, a job gets a note."
    ),
    error=(
        "Latency too low, and rates too high. Measured with fio 3.33 on an emulated hard disk: a median of 3.2 µs and "
        "3,413 IOPS with fdatasync=1, although such a disk completes 120 commits per second."
    ),
    fix="use fio 3.38 or later, or measure writes and trims in separate jobs",
    sources=(
        fio_source("3.33", "filesetup.c", "generic_open_file (skip_flags)"),
        fio_source("3.34", "filesetup.c", "generic_open_file (commit 85c1cf35)"),
        fio_source("3.38", "io_u.c", "set_rw_ddir (commit cf168c5b)"),
        "measured: strace of fio 3.33 with rw=trimwrite, direct=1 and fdatasync=1 shows neither O_DIRECT nor fdatasync",
    ),
    in_job=_in_job,
    in_result=_in_result,
    options=("rw", "direct", "sync", "fsync", "fdatasync"),
    cleared_by_byte_count=False,
    needs="This needs a block device whose data may be lost: replace trap with its path.",
    commands="fio --rw=randtrimwrite --bs=4k --size=64m --direct=1 --fdatasync=1 --time_based --runtime=2",
)
