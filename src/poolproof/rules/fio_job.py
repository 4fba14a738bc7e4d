"""Gives rules about fio access to the fio job of a load part.

If another load generator runs the part, this job has no options.
"""

from poolproof.load.fio.job import Job
from poolproof.load.fio.load import job_of as fio_job
from poolproof.load.model import LoadPart

__all__ = ["fio_job", "is_fio_job"]


def is_fio_job(part: LoadPart) -> bool:
    """True if fio runs the part, in which case fio's defaults apply to any unset options."""
    return isinstance(part.source, Job)
