"""The fio job of a load part, for rules about fio itself. It has no options if another load generator runs the part."""

from poolproof.load.fio.load import job_of as fio_job

__all__ = ["fio_job"]
