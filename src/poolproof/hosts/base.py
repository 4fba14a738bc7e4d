"""The interface of a host. The rest of the code uses hosts only through this interface."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from poolproof.errors import HostError
from poolproof.process import Completed


class FileMissing(HostError):
    """The file does not exist on the host or cannot be read."""


class HostUnreachable(HostError):
    """The connection to the host broke or could not be established. The state of the host is unknown."""


@dataclass(frozen=True)
class Tick:
    """The contents of several files at one moment. The text of a file that could not be read is empty.

    `at_s` is the time of reading by the host's clock, in seconds since 1970.
    """

    at_s: float
    texts: tuple[str, ...]


class Host(Protocol):
    """A machine that runs commands."""

    @property
    def name(self) -> str:
        """`local`, or the ssh destination that was given to --on."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        """Run a program and wait for it to end. Return its output and exit code.

        Raises:
            ProgramMissing, CommandFailed, CommandTimedOut: as in `process.run`.
            HostUnreachable: the connection broke.
        """

    def read(self, path: str) -> str:
        """Return the text of a file. Bytes that are not valid UTF-8 are replaced.

        Raises a FileMissing if the file does not exist or cannot be read, and a HostUnreachable if the connection
        broke.
        """

    def read_files(self, paths: Sequence[str]) -> Tick:
        """Return the current contents of small files in /proc or /sys, read by one command.

        Files in /proc/sys are not supported.

        Raises a HostUnreachable if the connection broke.
        """

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        """Read the files every `interval_s` seconds while the context lasts.

        The iterator ends when the context ends.
        """


@dataclass(frozen=True)
class Hosts:
    """All hosts of a run. The object can be used like the main host, because its methods run on `main`.

    Steps, changes and leaf devices can name another host. `host_named` finds that host by its name.
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
    """Return the names of a run's hosts: an empty string for the main host, then the names of the others."""
    return ("", *(host.others if isinstance(host, Hosts) else ()))


def host_named(host: Host, name: str) -> Host:
    """Return the host with this name. An empty name or the main host's name returns `host` itself.

    Raises a HostError if the run has no host with this name.
    """
    if name in ("", host.name):
        return host
    others = host.others if isinstance(host, Hosts) else {}
    if name not in others:
        raise HostError(f"this run has no host `{name}`", f"its hosts are: {', '.join((host.name, *others))}")
    return others[name]


def text_of(host: Host, path: str) -> str:
    """Return the text of a file. Empty if the file does not exist or cannot be read."""
    try:
        return host.read(path)
    except FileMissing:
        return ""
