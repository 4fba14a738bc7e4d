"""Take changes back, the newest first, each only while what it names is still ours; never wait without a limit."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.errors import BuildError, CommandError
from poolproof.hosts.base import FileMissing, Host
from poolproof.provision.journal import Change, Journal
from poolproof.provision.under_way import await_landing
from poolproof.steps import Holds, Undo, UndoCommand, UndoDaemon, UndoPrograms, UndoTree

_POLL_S = 0.1
_ASK_S = 60.0  # a question that a busy machine answers late
_TRY_S = 20.0
_GRACE_S = 5.0
_FIND_PROGRAMS = r"""
read -r marker
set -- $(grep -lxF -e "$(printf '%s\n' "$@")" /proc/[0-9]*/comm 2>/dev/null | sed 's/comm$/cmdline/')
[ $# -gt 0 ] && printf '%s\n' "$marker" | grep -alF -f - "$@" 2>/dev/null | cut -d / -f 3
true"""


@dataclass(frozen=True)
class Leftover:
    """A change that could not be taken back, and why."""

    change: Change
    reason: str


def undo_all(
    journal: Journal,
    host: Host,
    *,
    keep: Callable[[Change], bool] = lambda _change: False,
    tell: Callable[[str], None] = lambda _title: None,
) -> tuple[Leftover, ...]:
    """Undo every standing change but those to `keep`; goes on past a failure and returns what is left.

    A change that a killed poolproof left in the making is waited for first: undone too early, it would land later.
    """
    leftovers: list[Leftover] = []
    changes = [change for change in journal.standing() if not keep(change)]
    if not changes:
        return ()
    late = _await_landing(changes, host, tell)
    for change in changes:
        tell(f"undo: {change.title}")
        reason = late.get(change.number) or _needed_by(leftovers, change.undo) or undo_one(change.undo, host)
        if reason:
            leftovers.append(Leftover(change, reason))
        else:
            # A full disk must not keep the rest from being undone; undoing this one again does no harm.
            with contextlib.suppress(OSError):
                journal.mark_undone(change)
    return tuple(leftovers)


def _await_landing(changes: Sequence[Change], host: Host, tell: Callable[[str], None]) -> Mapping[int, str]:
    """Why a change can't be undone yet, by its number: its command still runs after all patience."""
    late = await_landing(changes, lambda change: _has_landed(change.undo, host), host, tell=tell)
    return {each.change.number: f"process {each.pid} is still making it" for each in late}


def _has_landed(undo: Undo, host: Host) -> bool:
    """Whether the change has landed: what its undo looks for is there."""
    match undo:
        case UndoCommand():
            return _holds(undo.only_if, host)
        case UndoDaemon():
            return _pid_of(undo, host) is not None
        case UndoPrograms():
            return True
        case UndoTree():
            return _holds(Holds(undo.path, ""), host)


def _needed_by(leftovers: Sequence[Leftover], undo: Undo) -> str | None:
    """A directory stays while something that could not be undone has its pid file, note or image there."""
    if not isinstance(undo, UndoTree):
        return None
    needing = [leftover for leftover in leftovers if f"{undo.path}/" in repr(leftover.change.undo)]
    return f"kept, for this needs it: {needing[0].change.title}" if needing else None


def undo_one(undo: Undo, host: Host) -> str | None:
    """Undo one change, which the journal is not told of; the reason why it could not be, None when it is."""
    try:
        return _undo(undo, host)
    except CommandError as error:
        return error.message


def complain(leftovers: tuple[Leftover, ...], run: str) -> None:
    """Raise a BuildError that names what is left on the machine; nothing when nothing is."""
    if leftovers:
        rows = "\n".join(f"  - {leftover.change.title}: {leftover.reason}" for leftover in leftovers)
        raise BuildError(
            f"not everything could be taken down:\n{rows}", f"when nothing uses it any more: poolproof clean {run}"
        )


def _undo(undo: Undo, host: Host) -> str | None:
    """The reason why it could not be undone; None when it is."""
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
    said = ""
    while _holds(undo.only_if, host):
        said = _try(undo.argv, host)
        if not said and not _holds(undo.only_if, host):
            return None
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    else:
        return None
    if undo.last_resort:
        said = _try(undo.last_resort, host)
    return f"`{_shown(undo.argv)}`: {said or 'no effect'}" if _holds(undo.only_if, host) else None


def _shown(argv: tuple[str, ...]) -> str:
    """A command in one line; of a script only its words."""
    return " ".join(("sh", "…", *argv[3:]) if argv[:2] == ("sh", "-c") else argv)


def _try(argv: tuple[str, ...], host: Host) -> str:
    """What the program complained of; empty when it succeeded."""
    try:
        completed = host.run(argv, timeout_s=_TRY_S, check=False)
    except CommandError as error:
        return error.message
    return "" if completed.returncode == 0 else completed.stderr.strip() or f"exit code {completed.returncode}"


def _holds(condition: Holds, host: Host) -> bool:
    if not condition.text:
        return host.run(("test", "-e", condition.path), timeout_s=_ASK_S, check=False).returncode == 0
    try:
        return condition.text in host.read(condition.path)
    except FileMissing:
        return False


def _end_programs(undo: UndoPrograms, host: Host) -> str | None:
    for signal, grace_s in (("TERM", _GRACE_S), ("KILL", _GRACE_S)):
        deadline = time.monotonic() + grace_s
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
    """The marker comes on standard input, so that the shell that looks for it does not find itself."""
    argv = ["sh", "-c", _FIND_PROGRAMS, "sh", *undo.programs]
    return tuple(host.run(argv, stdin=f"{undo.marker}\n", timeout_s=_TRY_S, check=False).stdout.split())


def _end_daemon(undo: UndoDaemon, host: Host) -> str | None:
    pid = _pid_of(undo, host)
    if pid is None:
        return None
    for signal, grace_s in (("TERM", _GRACE_S), ("KILL", _GRACE_S)):
        _signal(signal, pid, host)
        deadline = time.monotonic() + grace_s
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
    """Signal the process group that the process leads, else the process alone."""
    if host.run(["kill", f"-{signal}", "--", f"-{pid}"], timeout_s=_ASK_S, check=False).returncode != 0:
        host.run(["kill", f"-{signal}", pid], timeout_s=_ASK_S, check=False)


def _remove_tree(undo: UndoTree, host: Host) -> str | None:
    if "poolproof" not in undo.path:
        return f"{undo.path} does not bear poolproof's name: not removed"
    mounts = host.read("/proc/self/mounts")
    if f" {undo.path} " in mounts or f" {undo.path}/" in mounts:
        return f"something is still mounted at {undo.path}"
    return _try(("rm", "-rf", "--one-file-system", "--", undo.path), host) or None
