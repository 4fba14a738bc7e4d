"""Every error that a user can meet: what happened, to what, and what to type next.

Each class carries the exit code that `poolproof` ends with; docs/exit-codes.md is generated from this file.
A traceback that reaches a user is a bug.
"""

import errno
from typing import Self

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system calls a write for which there is no room: not poolproof's own fault."""


class PoolproofError(Exception):
    """Something went wrong that has no better name."""

    exit_code = 1
    about = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def concerning(self, word: str) -> Self:
        """The same error, about that word of the campaign (an option, a layout): its line is told then."""
        self.about = word
        return self

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UsageError(PoolproofError):
    """The command line is not one that poolproof understands."""

    exit_code = 2


class CampaignError(PoolproofError):
    """The campaign, a layout expression or a workload holds a mistake; nothing was built."""

    exit_code = 3


class HostError(PoolproofError):
    """The host lacks something that the campaign needs: a program, a kernel module, root, space."""

    exit_code = 4


class GuardError(PoolproofError):
    """A disk was refused: not named by identity, not permitted, in use, or not empty."""

    exit_code = 5


class BuildError(PoolproofError):
    """A layout could not be built, cooled or taken down, or nothing at all of a campaign could be measured."""

    exit_code = 6


class RunError(PoolproofError):
    """A run directory is missing, damaged, of another schema, or in use by another poolproof."""

    exit_code = 7


class FioError(PoolproofError):
    """fio is missing or too old, or its output cannot be read, or there is no result in it."""

    exit_code = 8


class CommandError(PoolproofError):
    """A program failed, hung past its time limit, or is not installed."""

    exit_code = 9


class Interrupted(PoolproofError):
    """Ctrl-C or a signal ended the run; everything was torn down."""

    exit_code = 130
