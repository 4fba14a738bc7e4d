"""The one gate through which programs start: argv lists, a time limit, the locale pinned, output kept."""

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.errors import CommandError

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC"}
_SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # losetup and mkfs live there; a user's PATH may not have them
_GRACE_S = 2.0
_TAIL_CHARACTERS = 1500


@dataclass(frozen=True)
class Completed:
    """A program that ended: its exact argv, exit code (negative: ended by that signal), output and wall time."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


class ProgramMissing(CommandError):
    """The program is not on the PATH."""


class CommandFailed(CommandError):
    """The program ended with an exit code that is not 0."""

    def __init__(self, completed: Completed) -> None:
        self.completed = completed
        said = (completed.stderr.strip() or completed.stdout.strip() or "nothing")[-_TAIL_CHARACTERS:]
        super().__init__(
            f"`{shlex.join(completed.argv)}` ended with {completed.returncode}; it said: {said}",
        )


class CommandTimedOut(CommandError):
    """The program did not end within its limit and was killed."""


def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    stdin: str | None = None,
    check: bool = True,
) -> Completed:
    """Run a program to its end, in a process group of its own.

    A program that outlives `timeout_s`, or is running when an exception (Ctrl-C) arrives, is ended with its whole
    group: SIGTERM, then SIGKILL after 2 s.

    Raises:
        ProgramMissing: no such program.
        CommandFailed: exit code not 0 and `check` is set.
        CommandTimedOut: still running after `timeout_s` seconds.
    """
    begun = time.monotonic()
    process = _start(argv, stdin is not None)
    try:
        out, err = process.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        end_group(process)
        raise CommandTimedOut(
            f"`{shlex.join(argv)}` did not end within {timeout_s:g} s and was killed",
        ) from None
    except BaseException:
        end_group(process)
        raise
    completed = Completed(tuple(argv), process.returncode, out, err, time.monotonic() - begun)
    if check and completed.returncode != 0:
        raise CommandFailed(completed)
    return completed


def _start(argv: Sequence[str], with_stdin: bool) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE if with_stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT, "PATH": f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_FOLDERS}"},
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except FileNotFoundError:
        raise ProgramMissing(f"`{argv[0]}` is not installed here") from None
    except PermissionError:
        raise CommandError(f"`{argv[0]}` may not be started by this user") from None


def end_group(process: subprocess.Popen[str]) -> None:
    """End a program and all that it started, within a few seconds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(_GRACE_S)
            break
        except subprocess.TimeoutExpired:
            continue
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
