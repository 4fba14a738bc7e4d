"""Waits for commands of a poolproof process that was killed, because they may still be making their changes."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import PurePath

from poolproof.errors import CommandError
from poolproof.hosts.base import Host
from poolproof.provision.journal import Change
from poolproof.steps import in_background

UNFINISHED_LIMIT_S = 60.0
_POLL_S = 0.1
_COMMAND_LIMIT_S = 20.0
_MOST_WORDS_BEFORE = 3  # an interpreter with an option, or sudo -n
# A process of another user cannot be one of the run's commands, even if its command line is the same.
_SCAN = """
user=$(id -u)
stat -c '%u %n/cmdline' /proc/[0-9]* 2>/dev/null | while read -r owner file; do
    case $owner in 0 | "$user" | "${SUDO_UID:-0}") echo "$file" ;; esac
done | xargs -r head -v -c 65536 2>/dev/null; true
"""
_COMMAND_LINE = re.compile(r"^==> /proc/(\d+)/cmdline <==\n(.*?)(?=\n==> /proc/|\Z)", re.DOTALL | re.MULTILINE)


def await_unfinished(
    changes: Sequence[Change],
    is_made: Callable[[Change], bool],
    host: Host,
    *,
    limit_s: float | None = None,
    tell: Callable[[str], None] = lambda _title: None,
) -> dict[int, str]:
    """Wait until all changes are finished. Returns an error message for each change still unfinished at the time limit.

    The messages are keyed by the change's number. A change is unfinished as long as its command is running and
    `is_made` returns False for it. Both conditions are needed. A daemon keeps running with the same command line after
    its change is made. A command that ended without making its change will never make it.
    """
    deadline = time.monotonic() + (UNFINISHED_LIMIT_S if limit_s is None else limit_s)
    reported: set[str] = set()
    while True:
        running = _command_lines(host)
        found = [
            (change, pid)
            for change in changes
            for pid, argv in running.items()
            if _makes(argv, change) and not is_made(change)
        ]
        if not found or time.monotonic() > deadline:
            return {change.number: f"process {pid} is still making this change" for change, pid in found}
        for change, pid in found:
            if pid not in reported:
                tell(f"waiting for process {pid} to end: {change.title}")
                reported.add(pid)
        time.sleep(_POLL_S)


def _command_lines(host: Host) -> dict[str, list[str]]:
    """Return the command lines of all processes, keyed by pid.

    Returns an empty dictionary if the processes can't be listed, because this should not prevent the undos.
    """
    try:
        output = host.run(["sh", "-c", _SCAN], timeout_s=_COMMAND_LIMIT_S, check=False).stdout
    except CommandError:
        return {}
    return {pid: text.rstrip("\0").split("\0") for pid, text in _COMMAND_LINE.findall(output)}


def _makes(argv: Sequence[str], change: Change) -> bool:
    """True if a process with this command line is the change's command, or a daemon that the command starts."""
    started = in_background(change.argv)
    return _runs(argv, change.argv) or (started is not None and _runs(argv, started))


def _runs(argv: Sequence[str], command: Sequence[str]) -> bool:
    """True if a process with this command line runs the command, directly or through a script's interpreter."""
    if not command:  # poolproof never wrote such a change
        return False
    program, *rest = command
    first = argv[: len(argv) - len(rest)]
    if not first or list(argv[len(first) :]) != rest:
        return False
    return len(first) <= _MOST_WORDS_BEFORE and PurePath(first[-1]).name == PurePath(program).name
