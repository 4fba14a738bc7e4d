"""The fio that would run the jobs: what it knows and refuses beyond what the tables here do."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Protocol

from poolproof.errors import PoolproofError
from poolproof.foreign.lint.model import Unit
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.load.fio.complaints import Complaint, complaints
from poolproof.load.fio.job import Job
from poolproof.load.fio.option_names import JOB_OPTIONS, OTHER_RELEASES
from poolproof.load.fio.option_values import refusal
from poolproof.load.fio.options import known_options
from poolproof.load.fio.version import fio_version

_OF_JOBS = JOB_OPTIONS | OTHER_RELEASES
_VERSION_SAID = re.compile(r"\bfio[- /]?v?(?:ersion)?[- ]?(\d+\.\d+)", re.IGNORECASE)


class Fio(Protocol):
    """A fio, or none."""

    @property
    def version(self) -> str | None:
        """What it calls itself, `fio-3.33`; None where there is no fio."""

    def names(self, engine: str) -> frozenset[str] | None:
        """The options that it takes with that engine; None where that is not known."""

    def complaints(self, unit: Unit) -> tuple[Complaint, ...]:
        """What it has against values of the jobs of the unit."""


class NoFio:
    """No fio is there to be asked."""

    version = None

    def names(self, _engine: str) -> frozenset[str] | None:
        return None

    def complaints(self, _unit: Unit) -> tuple[Complaint, ...]:
        return ()


class FioThere:
    """The fio of a host. Where it is missing or does not answer, it knows nothing, and nothing is raised but:

    Raises:
        HostUnreachable: the link to the host broke.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.names = cache(self._names)
        self._version = cache(self._asked_version)

    @property
    def version(self) -> str | None:
        return self._version()

    def complaints(self, unit: Unit) -> tuple[Complaint, ...]:
        known = [self.names(job.engine) for job in unit.jobs.jobs]
        if not known or None in known:
            return ()
        try:
            return complaints(self._host, [_plain(job, self.names(job.engine)) for job in unit.jobs.jobs])
        except HostUnreachable:
            raise
        except PoolproofError:
            return ()

    def _names(self, engine: str) -> frozenset[str] | None:
        try:
            return known_options(self._host, [engine]).known(engine)
        except HostUnreachable:
            raise
        except PoolproofError:
            return None

    def _asked_version(self) -> str | None:
        try:
            return str(fio_version(self._host))
        except HostUnreachable:
            raise
        except PoolproofError:
            return None


def versions_said(text: str) -> Iterator[str]:
    """The releases of fio that a text names, as `3.41`."""
    return (match[1] for match in _VERSION_SAID.finditer(text))


def _plain(job: Job, names: frozenset[str] | None) -> Job:
    """With the options that are left to this fio: those of some fio, with values that are known and not refused yet.

    Options of other engines are left out: fio takes them from the globals of a job that has another engine.
    """
    judged = _OF_JOBS | (names or frozenset())
    return Job(
        job.name,
        {
            name: value
            for name, value in job.options.items()
            if name in judged and not UNKNOWN.search(value) and refusal(name, value) is None
        },
    )
