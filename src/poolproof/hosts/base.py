"""What every host can do; the one contract that the rest of the code knows."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from poolproof.errors import HostError
from poolproof.process import Completed


class FileMissing(HostError):
    """The file is not on the host, or may not be read."""


class HostUnreachable(HostError):
    """The link to the host broke, or was never made: what the host does now is not known."""


@dataclass(frozen=True)
class Tick:
    """The contents of files at one moment; `at_s`: the host's own clock, seconds since 1970.

    A file that could not be read is an empty string.
    """

    at_s: float
    texts: tuple[str, ...]


class Host(Protocol):
    """A machine on which commands run."""

    @property
    def name(self) -> str:
        """`local`, or where the host is reached: as given to --on."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        """Run a program to its end.

        Raises:
            ProgramMissing, CommandFailed, CommandTimedOut: as `process.run`.
        """

    def read(self, path: str) -> str:
        """The whole text of a file; bytes that are not UTF-8 are replaced.

        Raises:
            FileMissing: no such file, or no permission.
        """

    def read_files(self, paths: Sequence[str]) -> Tick:
        """What small files of /proc and /sys hold at this moment, in one command. Not for those of /proc/sys.

        Raises:
            HostUnreachable: the link broke.
        """

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        """Read the files every `interval_s` seconds until the context is left; the iterator then ends."""
