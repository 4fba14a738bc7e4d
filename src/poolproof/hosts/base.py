"""What every host can do: the only interface to a host that the rest of the code knows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from poolproof.errors import HostError
from poolproof.process import Completed


class FileMissing(HostError):
    """The file does not exist on the host, or may not be read."""


class HostUnreachable(HostError):
    """The connection to the host broke or was never made; the state of the host is unknown."""


@dataclass(frozen=True)
class Tick:
    """The contents of files at one moment. `at_s`: the host's own clock, in seconds since 1970.

    A file that could not be read is an empty string.
    """

    at_s: float
    texts: tuple[str, ...]


class Host(Protocol):
    """A machine on which commands run."""

    @property
    def name(self) -> str:
        """Return `local`, or the destination as given to --on."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        """Run a program and return when it has ended.

        Raises:
            ProgramMissing, CommandFailed, CommandTimedOut: as `process.run`.
        """

    def read(self, path: str) -> str:
        """Return the whole text of a file; bytes that are not UTF-8 are replaced.

        Raises:
            FileMissing: the file does not exist, or may not be read.
        """

    def read_files(self, paths: Sequence[str]) -> Tick:
        """Return the contents of small files of /proc and /sys at this moment, in one command. Not for /proc/sys.

        Raises:
            HostUnreachable: the connection broke.
        """

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        """Read the files every `interval_s` seconds until the context ends; the iterator then ends too."""


@dataclass(frozen=True)
class Hosts:
    """The hosts of a run. Steps, changes and leaf devices without a host name are on `main`."""

    main: Host
    others: Mapping[str, Host] = field(default_factory=dict)


def host_named(hosts: Host | Hosts, name: str) -> Host:
    """Return the host of that name; an empty name is the run's one host. `hosts` may be that single host.

    Raises:
        HostError: the run has no host of that name.
    """
    main, others = (hosts.main, hosts.others) if isinstance(hosts, Hosts) else (hosts, {})
    if name in ("", main.name):
        return main
    if name not in others:
        known = ", ".join((main.name, *others))
        raise HostError(f"this run has no host {name}", f"its hosts are: {known}")
    return others[name]
