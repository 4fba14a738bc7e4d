"""Undo changes on their hosts, newest first, each only if it still concerns what poolproof made, with time limits."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from poolproof.errors import BuildError, CommandError, HostError
from poolproof.hosts.base import FileMissing, Host, host_named
from poolproof.provision.journal import Change, Journal
from poolproof.provision.unfinished import await_unfinished
from poolproof.steps import Holds, Undo, UndoCommand, UndoDaemon, UndoPrograms, UndoTree

_POLL_S = 0.1
_QUERY_LIMIT_S = 60.0  # a busy machine answers late
_COMMAND_LIMIT_S = 20.0
_GRACE_S = 5.0
_FIND_PROGRAMS = r"""
read -r marker
set -- $(grep -lxF -e "$(printf '%s\n' "$@")" /proc/[0-9]*/comm 2>/dev/null | sed 's/comm$/cmdline/')
[ $# -gt 0 ] && printf '%s\n' "$marker" | grep -alF -f - "$@" 2>/dev/null | cut -d / -f 3
true"""


@dataclass(frozen=True)
class FailedUndo:
    """A change that could not be undone, and why."""

    change: Change
    reason: str


def undo_all(
    journal: Journal,
    run_host: Host,
    *,
    keep: Callable[[Change], bool] = lambda _change: False,
    tell: Callable[[str], None] = lambda _title: None,
) -> tuple[FailedUndo, ...]:
    """Undo every outstanding change except those to `keep`. A failure does not stop it; returns the failed ones.

    First it waits for the commands of a killed poolproof that still run: otherwise they would make their changes later.
    """
    failed: list[FailedUndo] = []
    changes = [change for change in journal.outstanding() if not keep(change)]
    unfinished = dict(_await_unfinished(changes, run_host, tell))
    for change in changes:
        tell(f"undo: {change.title}")
        reason = unfinished.get(change.number) or _needed_by(failed, change) or _undo_change(change, run_host)
        if reason:
            failed.append(FailedUndo(change, reason))
        else:
            # A full disk must not prevent the other undos; undoing this one again does no harm.
            with contextlib.suppress(OSError):
                journal.mark_undone(change)
    return tuple(failed)


def undo_one(undo: Undo, host: Host) -> str | None:
    """Undo one change without the journal. Returns the reason if it failed, otherwise None."""
    try:
        return _undo(undo, host)
    except CommandError as error:
        return error.message


def complain(failed: tuple[FailedUndo, ...], run: str) -> None:
    """Raise a BuildError that lists the failed undos, if there are any."""
    if failed:
        rows = "\n".join(f"  - {each.change.title}: {each.reason}" for each in failed)
        raise BuildError(
            f"not everything could be removed:\n{rows}", f"when nothing uses it any more: poolproof clean {run}"
        )


def _await_unfinished(
    changes: Sequence[Change], run_host: Host, tell: Callable[[str], None]
) -> Iterator[tuple[int, str]]:
    """Yield the number of each change whose command still runs after the wait, and the reason to report."""
    for name in dict.fromkeys(change.host for change in changes):
        try:
            host = host_named(run_host, name)
        except HostError:
            continue  # reported for each of its changes
        there = [change for change in changes if change.host == name]
        for late in await_unfinished(there, partial(_is_made, host), host, tell=tell):
            yield late.change.number, f"process {late.pid} is still making it"


def _is_made(host: Host, change: Change) -> bool:
    match undo := change.undo:
        case UndoCommand():
            return _holds(undo.only_if, host)
        case UndoDaemon():
            return _pid_of(undo, host) is not None
        case UndoPrograms():
            return True
        case UndoTree():
            return _holds(Holds(undo.path, ""), host)


def _needed_by(failed: Sequence[FailedUndo], change: Change) -> str | None:
    """A directory must stay if a failed undo has its pid file or image in it."""
    if not isinstance(change.undo, UndoTree):
        return None
    path = f"{change.undo.path}/"
    needing = [each for each in failed if each.change.host == change.host and path in repr(each.change.undo)]
    return f"not removed, because it is still needed for: {needing[0].change.title}" if needing else None


def _undo_change(change: Change, run_host: Host) -> str | None:
    try:
        host = host_named(run_host, change.host)
    except HostError as error:
        return error.message
    return undo_one(change.undo, host)


def _undo(undo: Undo, host: Host) -> str | None:
    match undo:
        case UndoCommand():
            return _undo_command(undo, host)
        case UndoDaemon():
            return _end_daemon(undo, host)
        case UndoPrograms():
            return _end_programs(undo, host)
        case UndoTree():
            return _remove_tree(undo, host)


def _undo_command(undo: UndoCommand, host: Host) -> str | None:
    deadline = time.monotonic() + undo.timeout_s
    reason = ""
    while _holds(undo.only_if, host):
        reason = _attempt(undo.argv, host)
        if not reason and not _holds(undo.only_if, host):
            return None
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    else:
        return None
    if undo.last_resort:
        reason = _attempt(undo.last_resort, host)
    return f"`{_shown(undo.argv)}`: {reason or 'no effect'}" if _holds(undo.only_if, host) else None


def _shown(argv: tuple[str, ...]) -> str:
    """The command on one line, without the text of a script."""
    return " ".join(("sh", "…", *argv[3:]) if argv[:2] == ("sh", "-c") else argv)


def _attempt(argv: tuple[str, ...], host: Host) -> str:
    """Run the command. Returns its error message, or an empty string if it succeeded."""
    try:
        completed = host.run(argv, timeout_s=_COMMAND_LIMIT_S, check=False)
    except CommandError as error:
        return error.message
    return "" if completed.returncode == 0 else completed.stderr.strip() or f"exit code {completed.returncode}"


def _holds(condition: Holds, host: Host) -> bool:
    if not condition.text:
        return host.run(("test", "-e", condition.path), timeout_s=_QUERY_LIMIT_S, check=False).returncode == 0
    try:
        return condition.text in host.read(condition.path)
    except FileMissing:
        return False


def _end_programs(undo: UndoPrograms, host: Host) -> str | None:
    for signal in ("TERM", "KILL"):
        deadline = time.monotonic() + _GRACE_S
        left = _processes_of(undo, host)
        for pid in left:
            _signal(signal, pid, host)
        while left and (left := _processes_of(undo, host)):
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_S / 2)
        if not left:
            return None
    return f"process {', '.join(left)} does not end"


def _processes_of(undo: UndoPrograms, host: Host) -> tuple[str, ...]:
    """The marker comes on standard input, so that the shell that searches for it does not find itself."""
    argv = ["sh", "-c", _FIND_PROGRAMS, "sh", *undo.programs]
    return tuple(host.run(argv, stdin=f"{undo.marker}\n", timeout_s=_COMMAND_LIMIT_S, check=False).stdout.split())


def _end_daemon(undo: UndoDaemon, host: Host) -> str | None:
    pid = _pid_of(undo, host)
    if pid is None:
        return None
    for signal in ("TERM", "KILL"):
        _signal(signal, pid, host)
        deadline = time.monotonic() + _GRACE_S
        while time.monotonic() < deadline:
            if not _is_running(pid, undo.marker, host):
                return None
            time.sleep(_POLL_S / 2)
    return f"process {pid} does not end"


def _pid_of(undo: UndoDaemon, host: Host) -> str | None:
    try:
        pid = host.read(undo.pidfile).strip()
    except FileMissing:
        return None
    return pid if pid.isdigit() and _is_running(pid, undo.marker, host) else None


def _is_running(pid: str, marker: str, host: Host) -> bool:
    return _holds(Holds(f"/proc/{pid}/cmdline", marker), host)


def _signal(signal: str, pid: str, host: Host) -> None:
    """Signal the process group that the process leads, or the process alone if it leads none."""
    if host.run(["kill", f"-{signal}", "--", f"-{pid}"], timeout_s=_QUERY_LIMIT_S, check=False).returncode != 0:
        host.run(["kill", f"-{signal}", pid], timeout_s=_QUERY_LIMIT_S, check=False)


def _remove_tree(undo: UndoTree, host: Host) -> str | None:
    if "poolproof" not in undo.path:
        return f"{undo.path} does not have poolproof in its name: not removed"
    mounts = host.read("/proc/self/mounts")
    if f" {undo.path} " in mounts or f" {undo.path}/" in mounts:
        return f"something is still mounted at {undo.path}"
    return _attempt(("rm", "-rf", "--one-file-system", "--", undo.path), host) or None
