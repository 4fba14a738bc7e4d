"""The fio that would run the jobs: its options, and the values that it refuses, in addition to poolproof's tables."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Protocol

from poolproof.errors import PoolproofError
from poolproof.foreign.lint.model import Unit
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.hosts.base import Host, HostUnreachable
from poolproof.load.fio.installed import fio_version, known_options
from poolproof.load.fio.job import Job
from poolproof.load.fio.option_names import JOB_OPTIONS, OTHER_RELEASES
from poolproof.load.fio.option_values import refusal
from poolproof.load.fio.parse_only import Complaint, complaints

_KNOWN_OPTIONS = JOB_OPTIONS | OTHER_RELEASES
_VERSION = re.compile(r"\bfio[- /]?v?(?:ersion)?[- ]?(\d+\.\d+)", re.IGNORECASE)


class Fio(Protocol):
    """The fio that would run the jobs, if there is one."""

    @property
    def version(self) -> str | None:
        """Its version as it prints it, such as `fio-3.33`; None without a fio."""

    def names(self, engine: str) -> frozenset[str] | None:
        """Return its options with that engine; None if unknown."""

    def complaints(self, unit: Unit) -> tuple[Complaint, ...]:
        """Return its complaints about values in the unit's jobs."""


class NoFio:
    """No fio is available."""

    version = None

    def names(self, _engine: str) -> frozenset[str] | None:
        return None

    def complaints(self, _unit: Unit) -> tuple[Complaint, ...]:
        return ()


class InstalledFio:
    """The fio of a host. If it is missing or fails, its version and options are None, and it has no complaints.

    Raises:
        HostUnreachable: the connection to the host is lost.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.names = cache(self._names)
        self._version = cache(self._read_version)

    @property
    def version(self) -> str | None:
        return self._version()

    def complaints(self, unit: Unit) -> tuple[Complaint, ...]:
        known = [self.names(job.engine) for job in unit.jobs.jobs]
        if not known or None in known:
            return ()
        try:
            return complaints(self._host, [_options_to_check(job, self.names(job.engine)) for job in unit.jobs.jobs])
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

    def _read_version(self) -> str | None:
        try:
            return str(fio_version(self._host))
        except HostUnreachable:
            raise
        except PoolproofError:
            return None


def versions_in(text: str) -> Iterator[str]:
    """Return the fio releases named in a text, such as `3.41`."""
    return (match[1] for match in _VERSION.finditer(text))


def _options_to_check(job: Job, names: frozenset[str] | None) -> Job:
    """Return the job with the options that this fio still has to check: known values that the tables do not refuse.

    Options of other engines are omitted: fio accepts them from [global] in a job with another engine.
    """
    checked = _KNOWN_OPTIONS | (names or frozenset())
    return Job(
        job.name,
        {
            name: value
            for name, value in job.options.items()
            if name in checked and not UNKNOWN.search(value) and refusal(name, value) is None
        },
    )
