"""The fio job behind a part of a load: for rules about fio itself, which are silent about other generators."""

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of
from poolproof.load.model import LoadPart


def fio_job(part: LoadPart) -> Job:
    """Return the fio job of a part; a job without options if another generator runs it."""
    return job_of(part)
