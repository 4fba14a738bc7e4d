"""Find commands of a killed poolproof that still run: their changes are made only when they end."""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from poolproof.errors import CommandError
from poolproof.hosts.base import Host
from poolproof.provision.journal import Change
from poolproof.steps import in_background

LIMIT_S = 60.0
_POLL_S = 0.1
_SCAN_S = 20.0
_MOST_WORDS_BEFORE = 3  # an interpreter with an option, or sudo -n
_MOST_BYTES = 65536
_SCAN = f"head -v -c {_MOST_BYTES} /proc/[0-9]*/cmdline 2>/dev/null; true"
_COMMAND_LINE = re.compile(r"^==> /proc/(\d+)/cmdline <==\n(.*?)(?=\n==> /proc/|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class UnfinishedChange:
    """A change whose command still runs on its host, as process `pid`."""

    change: Change
    pid: str


def await_unfinished(
    changes: Sequence[Change],
    is_made: Callable[[Change], bool],
    host: Host,
    *,
    limit_s: float | None = None,
    tell: Callable[[str], None] = lambda _title: None,
) -> tuple[UnfinishedChange, ...]:
    """Wait until no change is unfinished. Returns the changes that still are when the time limit has passed.

    A change is unfinished while a process with its command line runs and `is_made` is false: a daemon keeps its command
    line as long as it lives. A command that ended without making its change is not waited for.
    """
    deadline = time.monotonic() + (LIMIT_S if limit_s is None else limit_s)
    told: set[str] = set()
    while found := _unfinished(changes, is_made, host):
        if time.monotonic() > deadline:
            return found
        for each in found:
            if each.pid not in told:
                tell(f"wait for process {each.pid} to end: {each.change.title}")
                told.add(each.pid)
        time.sleep(_POLL_S)
    return ()


def _unfinished(
    changes: Iterable[Change], is_made: Callable[[Change], bool], host: Host
) -> tuple[UnfinishedChange, ...]:
    running = _command_lines(host)
    return tuple(
        UnfinishedChange(change, pid)
        for change in changes
        for pid, argv in running.items()
        if _makes(argv, change) and not is_made(change)
    )


def _command_lines(host: Host) -> Mapping[str, Sequence[str]]:
    """The command lines of all processes, by number; empty if the scan fails, which must not prevent an undo."""
    try:
        output = host.run(["sh", "-c", _SCAN], timeout_s=_SCAN_S, check=False).stdout
    except CommandError:
        return {}
    return {pid: text.rstrip("\0").split("\0") for pid, text in _COMMAND_LINE.findall(output)}


def _makes(argv: Sequence[str], change: Change) -> bool:
    """True if the command line is that of the change, or of the daemon that the change starts."""
    started = in_background(change.argv)
    return _runs(argv, change.argv) or (started is not None and _runs(argv, started))


def _runs(argv: Sequence[str], command: Sequence[str]) -> bool:
    """True if the command line runs the command; if that is a script, its interpreter comes first."""
    program, *rest = command
    if len(argv) <= len(rest) or list(argv[len(argv) - len(rest) :]) != rest:
        return False
    first = argv[: len(argv) - len(rest)]
    return len(first) <= _MOST_WORDS_BEFORE and PurePath(first[-1]).name == PurePath(program).name
