"""The interface of a host, through which all other code accesses hosts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from poolproof.errors import HostError
from poolproof.process import Completed

LOCAL = "local"
"""The name of the machine on which poolproof itself runs."""


class FileMissing(HostError):
    """The file does not exist on the host or cannot be read."""


class HostUnreachable(HostError):
    """The connection to the host was lost or could not be established. The state of the host is unknown."""


@dataclass(frozen=True)
class Tick:
    """The contents of several files at one point in time.

    `at_s`: the time at which they were read, in seconds since 1970. It ignores later changes to the host's clock.
    `texts`: the contents of each file, with "" for a file that could not be read.
    """

    at_s: float
    texts: tuple[str, ...]


class Host(Protocol):
    """A machine that runs commands."""

    @property
    def name(self) -> str:
        """The host's name: `local`, or the ssh destination passed to --on."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        """Run a program, wait for it to exit, and return its output and exit code.

        Raises:
            ProgramMissing, CommandFailed, CommandTimedOut: as in `process.run`.
            HostUnreachable: the connection was lost.
        """

    def read(self, path: str) -> str:
        """Return the contents of a file as a string. Bytes that are not valid UTF-8 are replaced.

        Raises:
            FileMissing: the file does not exist or cannot be read.
            HostUnreachable: the connection was lost.
        """

    def read_files(self, paths: Sequence[str]) -> Tick:
        """Return the current contents of small files in /proc or /sys, using a single command.

        Files in /proc/sys are not supported. Raises a HostUnreachable if the connection was lost.
        """

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        """Read the files every `interval_s` seconds until the context ends. The iterator then ends too."""


@runtime_checkable
class Marked(Protocol):
    """A host on which poolproof has processes of its own for as long as it is connected.

    `mark`: a string that only their command lines contain.
    """

    mark: str


@dataclass(frozen=True)
class Hosts:
    """All hosts of a run. The object is itself a host, whose methods run on `main`.

    Steps, changes and leaf devices can name another host, which `host_named` looks up.
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


def connection_mark(host: Host) -> str:
    """Return the mark of poolproof's processes on the host (`Marked`), or "" if there are none, as on this machine."""
    main = host.main if isinstance(host, Hosts) else host
    return main.mark if isinstance(main, Marked) else ""


def host_names(host: Host) -> tuple[str, ...]:
    """Return the names of a run's hosts. The first one is "", which means the main host."""
    return ("", *(host.others if isinstance(host, Hosts) else ()))


def display_name(host: Host) -> str:
    """Return the host's name for messages: `this machine` instead of `local`."""
    return "this machine" if host.name == LOCAL else host.name


def host_named(host: Host, name: str) -> Host:
    """Return the host with this name. The main host is also found under the name "".

    Raises a HostError if the run has no such host.
    """
    if name in ("", host.name):
        return host
    others = host.others if isinstance(host, Hosts) else {}
    if name not in others:
        raise HostError(f"this run has no host `{name}`", f"its hosts are: {', '.join((host.name, *others))}")
    return others[name]


def lines_of(text: str) -> list[str]:
    """Return the lines of a program's output or of a file in /proc.

    Only a newline character ends a line. A user can give a mount point or a directory a name with a character at which
    `str.splitlines` would split it, such as U+2028.
    """
    return text.removesuffix("\n").split("\n")


def text_of(host: Host, path: str) -> str:
    """Return the contents of a file as a string, or "" if it does not exist or cannot be read."""
    try:
        return host.read(path)
    except FileMissing:
        return ""
