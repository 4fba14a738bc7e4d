"""What every host can do: the only interface to a host that the rest of the code knows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
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

        Raises a FileMissing if the file does not exist, or may not be read.
        """

    def read_files(self, paths: Sequence[str]) -> Tick:
        """Return the contents of small files of /proc and /sys at this moment, in one command. Not for /proc/sys.

        Raises a HostUnreachable if the connection broke.
        """

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        """Read the files every `interval_s` seconds until the context ends; the iterator then ends too."""


@dataclass(frozen=True)
class Hosts:
    """A run's hosts, as one value that can be used wherever its main host can: it does everything on `main`.

    Steps, changes and leaf devices that name a host are on that host: `host_named` finds it.
    """

    main: Host
    others: Mapping[str, Host]

    @property
    def name(self) -> str:
        return self.main.name

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        return self.main.run(argv, timeout_s=timeout_s, stdin=stdin, check=check)

    def read(self, path: str) -> str:
        return self.main.read(path)

    def read_files(self, paths: Sequence[str]) -> Tick:
        return self.main.read_files(paths)

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        return self.main.stream(paths, interval_s)


def host_names(host: Host) -> tuple[str, ...]:
    """Return the names of a run's hosts: an empty name for the main host, then the others."""
    return ("", *(host.others if isinstance(host, Hosts) else ()))


def host_named(host: Host, name: str) -> Host:
    """Return the host of that name: `host` itself for an empty name or its own, otherwise one of its `others`.

    Raises a HostError if the run has no host of that name.
    """
    if name in ("", host.name):
        return host
    others = host.others if isinstance(host, Hosts) else {}
    if name not in others:
        raise HostError(f"this run has no host {name}", f"its hosts are: {', '.join((host.name, *others))}")
    return others[name]


def text_of(host: Host, path: str) -> str:
    """Return the whole text of a file; empty if it does not exist, or may not be read."""
    try:
        return host.read(path)
    except FileMissing:
        return ""
