"""The errors that a user can see. Each error says what happened, to what, and what to type next.

Each class has its own exit code; docs/exit-codes.md is generated from this file. A traceback that reaches a user is a
bug.
"""

import errno
import importlib.util
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Self

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The error numbers of a write that failed for lack of space. Such an error is not a bug in poolproof."""

LOST_DISK = (errno.EIO, errno.EREMOTEIO, errno.EUCLEAN, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN)
"""The error numbers of a file system whose disk, server or program fails. Such an error is not a bug in poolproof."""

EXTRAS: Mapping[str, tuple[str, ...]] = {"query": ("duckdb",), "web": ("anyio", "starlette", "uvicorn")}
"""The modules that each of the package's optional dependencies (extras) installs."""


class PoolproofError(Exception):
    """An error without a more specific class."""

    exit_code = 1
    about = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def concerning(self, word: str) -> Self:
        """Record which word of the campaign, such as an option or a layout, this error is about, and return the error.

        The message then shows the line that contains the word.
        """
        self.about = word
        return self

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageError(PoolproofError):
    """The command line has a mistake."""

    exit_code = 2


class CampaignError(PoolproofError):
    """The campaign, a layout expression or a workload has a mistake; nothing was built."""

    exit_code = 3


class HostError(PoolproofError):
    """The host is unreachable or in use, or it lacks a program, kernel module, Python package, root access or space."""

    exit_code = 4


class GuardError(PoolproofError):
    """A disk must not be overwritten: no identity, not named by --wipe, in use, not empty, or replaced."""

    exit_code = 5


class BuildError(PoolproofError):
    """A layout could not be built, remounted or removed, or no trial of the campaign could be measured."""

    exit_code = 6


class RunError(PoolproofError):
    """A run directory is missing or damaged, has a different schema, or is in use by another poolproof process."""

    exit_code = 7


class FioError(PoolproofError):
    """fio is missing or too old, or its output cannot be parsed or contains no result."""

    exit_code = 8


class CommandError(PoolproofError):
    """A program failed, did not end within its time limit, or is not installed."""

    exit_code = 9


class Interrupted(PoolproofError):
    """Ctrl-C or a signal stopped the run; its layouts were removed."""

    exit_code = 130


def as_word(path: PurePath | str) -> str:
    """Return a path as one word of the command in a hint, in quotes if it contains a space or a special character."""
    return shlex.quote(str(path))


def one_line(text: str) -> str:
    """Return a text with spaces instead of line breaks.

    Names and messages can come from a stranger. With line breaks, they could add lines to an output that look like
    poolproof's own.
    """
    return " ".join(text.splitlines())


HOW_TO_UPDATE = "to update poolproof, in the clone of the repository: git pull && make setup"


def check_extra(extra: str, purpose: str) -> None:
    """Check that the Python packages of an optional dependency (extra) are installed.

    Raises:
        HostError: a package is missing. The hint says how to install it.
    """
    missing = [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]
    if missing:
        raise HostError(
            f"{purpose} needs the extra `{extra}`, which is not installed (missing: {', '.join(missing)})",
            f"in the clone of the repository: make setup, or pip install '.[{extra}]'",
        )
