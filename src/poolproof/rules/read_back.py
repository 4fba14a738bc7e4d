"""Determines whether fio reads back what a job wrote, to verify it."""

from poolproof.load.model import LoadPart
from poolproof.load.outcome import Outcome
from poolproof.rules.fio_job import fio_job
from poolproof.rules.reported import fio_release

_PREPARES_REQUESTS = ("libaio", "io_uring", "io_uring_cmd", "sg")
_READS_BACK_SINCE = (3, 42)


def reads_back(job: LoadPart) -> bool:
    """True if fio goes through the data a second time to verify it.

    fio skips this if do_verify=0 is set, and if a time_based job, which uses up its runtime, has no verify_backlog.
    """
    fio = fio_job(job)
    return fio.flag("do_verify") and (not job.time_based or bool(fio.number("verify_backlog")))


def may_write_twice(job: LoadPart) -> bool:
    """True if fio before 3.42 writes a job's data a second time instead of reading it back.

    With experimental_verify, do_verify() in fio's backend.c turns each write into a read. Engines that have already
    prepared their request by then still write (fio_libaio_prep() in engines/libaio.c). fio 3.42 prepares it again.
    """
    is_prepared = fio_job(job).flag("experimental_verify") and fio_job(job).engine in _PREPARES_REQUESTS
    return job.verifies and job.writes and is_prepared and reads_back(job)


def writes_twice(job: LoadPart, outcome: Outcome | None) -> bool:
    """True if the fio that produced the outcome wrote the job's data twice."""
    release = fio_release(outcome)
    return may_write_twice(job) and release is not None and release < _READS_BACK_SINCE
