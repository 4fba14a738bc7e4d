"""The fio job of a load part, for rules about fio itself; they report nothing for other generators."""

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of
from poolproof.load.model import LoadPart


def fio_job(part: LoadPart) -> Job:
    """Return the fio job of a part, or a job without options if another generator runs it."""
    return job_of(part)
