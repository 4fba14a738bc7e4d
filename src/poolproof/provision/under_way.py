"""Changes that a killed poolproof left in the making: its command lives on, and lands after it."""

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
_MOST_BEFORE = 3  # an interpreter with an option of its own, sudo -n
_MOST_BYTES = 65536
_SCAN = f"head -v -c {_MOST_BYTES} /proc/[0-9]*/cmdline 2>/dev/null; true"
_COMMAND_LINE = re.compile(r"^==> /proc/(\d+)/cmdline <==\n(.*?)(?=\n==> /proc/|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class UnderWay:
    """A change whose command still runs, as process `pid` of the host."""

    change: Change
    pid: str


def await_landing(
    changes: Sequence[Change],
    has_landed: Callable[[Change], bool],
    host: Host,
    *,
    limit_s: float | None = None,
    tell: Callable[[str], None] = lambda _title: None,
) -> tuple[UnderWay, ...]:
    """Wait until none of the changes is in the making; those that still are when the limit is over.

    A change is in the making while a process with its very command line runs and `has_landed` does not hold: a daemon
    keeps its command line as long as it lives. A command that ended without landing is waited for no longer.
    """
    deadline = time.monotonic() + (LIMIT_S if limit_s is None else limit_s)
    told: set[str] = set()
    while found := _under_way(changes, has_landed, host):
        if time.monotonic() > deadline:
            return found
        for each in found:
            if each.pid not in told:
                tell(f"wait for process {each.pid} to end: {each.change.title}")
                told.add(each.pid)
        time.sleep(_POLL_S)
    return ()


def _under_way(changes: Iterable[Change], has_landed: Callable[[Change], bool], host: Host) -> tuple[UnderWay, ...]:
    running = _command_lines(host)
    return tuple(
        UnderWay(change, pid)
        for change in changes
        for pid, argv in running.items()
        if _is_of(change, argv) and not has_landed(change)
    )


def _command_lines(host: Host) -> Mapping[str, Sequence[str]]:
    """Every process of the host by its number; none where the host can't say, as a scan must not stop an undo."""
    try:
        said = host.run(["sh", "-c", _SCAN], timeout_s=_SCAN_S, check=False).stdout
    except CommandError:
        return {}
    return {pid: text.rstrip("\0").split("\0") for pid, text in _COMMAND_LINE.findall(said)}


def _is_of(change: Change, argv: Sequence[str]) -> bool:
    """Whether the process runs the change's command, or the daemon that this leaves running."""
    started = in_background(change.argv)
    return _runs(argv, change.argv) or (started is not None and _runs(argv, started))


def _runs(argv: Sequence[str], command: Sequence[str]) -> bool:
    """Also where the command is a script: its interpreter comes first then."""
    program, *rest = command
    if len(argv) <= len(rest) or list(argv[len(argv) - len(rest) :]) != rest:
        return False
    first = argv[: len(argv) - len(rest)]
    return len(first) <= _MOST_BEFORE and PurePath(first[-1]).name == PurePath(program).name
