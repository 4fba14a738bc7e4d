"""Undoes changes on their hosts, newest first. Each undo has a time limit, and runs only while its condition holds.

If the poolproof process was killed, its commands may still be running. They are given time to finish first, because a
command may make its change only shortly before it ends.
"""

import contextlib
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from poolproof.devices.disk import UndoClaim
from poolproof.devices.plan import DAEMONS
from poolproof.errors import BuildError, CommandError, HostError, as_word
from poolproof.facts.block import mount_points
from poolproof.hosts.base import Host, HostUnreachable, host_named, text_of
from poolproof.layers.layer_catalogue import all_layers
from poolproof.process import shown
from poolproof.provision.covered import covered, replaced
from poolproof.provision.journal import Change, Journal
from poolproof.provision.old_undos import OldCommand, typed
from poolproof.provision.owned import is_removed, link_to, refusal
from poolproof.provision.unfinished import await_unfinished
from poolproof.steps import is_script
from poolproof.undos import CommandUndo, Holds, Owned, Removal, Undo, UndoDaemon, UndoMount, UndoPrograms, UndoTree

_POLL_S = 0.1
_QUERY_LIMIT_S = 60.0  # a busy machine answers late
_COMMAND_LIMIT_S = 20.0
_GRACE_S = 5.0
_MOST_ROWS = 50
_LONGEST_REASON = 1000
_FIND_PROGRAMS = r"""
read -r marker
set -- $(grep -lxF -e "$(printf '%s\n' "$@")" /proc/[0-9]*/comm 2>/dev/null | sed 's/comm$/cmdline/')
[ $# -gt 0 ] && printf '%s\n' "$marker" | grep -alF -f - "$@" 2>/dev/null | cut -d / -f 3
true"""
_COMM_CHARACTERS = 15  # the kernel truncates longer program names
Tell = Callable[[str], None]


@dataclass(frozen=True)
class FailedUndo:
    """A change that could not be undone, with the reason.

    `can_repeat`: True if another attempt may succeed.
    `is_unreached`: True if there was no connection to the change's host.
    `is_covered`: True if nothing was unmounted because something else is mounted over the run's mount or inside it.
    """

    change: Change
    reason: str
    can_repeat: bool = True
    is_unreached: bool = False
    is_covered: bool = False

    @cached_property
    def undo_text(self) -> str:
        """Return a string that contains every path in the undo."""
        return repr(self.change.undo)


def undo_all(
    journal: Journal,
    run_host: Host,
    owned: Owned,
    *,
    keep: Callable[[Change], bool] = lambda _change: False,
    tell: Tell = lambda _title: None,
) -> tuple[FailedUndo, ...]:
    """Undo all changes that have not been undone, even if some undos fail. Returns the failed undos.

    `keep`: returns True for changes that should not be undone.
    `owned`: what the run may remove. An undo that would affect anything else is not performed and counts as failed.

    If the poolproof process was killed, its commands may still be making changes, so the function first waits for them.
    Raises a HostUnreachable if the run's main host cannot be reached.
    """
    failed: list[FailedUndo] = []
    changes = [change for change in journal.outstanding() if not keep(change)]
    unfinished: dict[int, str] = {}
    for name in dict.fromkeys(change.host for change in changes):
        try:
            host = host_named(run_host, name)
        except HostError:
            continue  # each change on that host is reported below
        there = [change for change in changes if change.host == name and _is_own(change, owned)]
        try:
            unfinished |= await_unfinished(there, partial(_is_made, host, owned.daemons), host, tell=tell)
        except HostUnreachable:  # reported for each change on that host; without the main host, nothing can be undone
            if not name:
                raise
    for change in changes:
        if change.number in unfinished:
            failure: FailedUndo | None = FailedUndo(change, unfinished[change.number])
        else:
            failure = _needed_by(failed, change, owned) or _undo_change(change, run_host, owned, tell)
        if failure is not None:
            failed.append(failure)
        else:
            # A full disk must not prevent the other undos, and undoing the same change twice does no harm.
            with contextlib.suppress(OSError):
                journal.mark_undone(change)
    return tuple(failed)


def undo_one(undo: Undo, host: Host, daemons: tuple[str, ...] = ()) -> str | None:
    """Undo a single change without using the journal. Returns the reason for a failure, or None on success.

    `daemons`: as in `Owned`.
    """
    try:
        match undo:
            case UndoDaemon():
                return _end_daemon(undo, host, daemons)
            case UndoPrograms():
                return _end_programs(undo, host)
            case UndoTree():
                return _remove_tree(undo, host)
            case CommandUndo():
                return _remove(undo.removal(), host)
    except CommandError as error:
        return error.message
    raise TypeError(f"nothing undoes {type(undo).__name__}")


def complain(failed: tuple[FailedUndo, ...], run: str) -> None:
    """Raise a BuildError that lists the failed undos, if any undo failed."""
    if failed:
        listed = (f"  - {_place(each.change)}{each.change.title}: {each.reason}" for each in failed[:_MOST_ROWS])
        rows = "\n".join(row.replace("\n", "\n    ") for row in listed)  # a reason may contain forged lines
        rows += f"\n  - {len(failed) - _MOST_ROWS} more" if len(failed) > _MOST_ROWS else ""
        unreached = dict.fromkeys(each.change.host for each in failed if each.is_unreached)
        if unreached:
            tests = "; ".join(f"ssh -v -- {shlex.quote(host)} true" for host in unreached)
            hint = f"to test the connection: {tests}; then: poolproof clean {as_word(run)}"
        elif any(each.can_repeat for each in failed):
            is_disk = all(isinstance(each.change.undo, UndoClaim) for each in failed if each.can_repeat)
            when = "then run" if is_disk else "when nothing uses the devices and directories anymore, run"
            hint = f"{when}: poolproof clean {as_word(run)}"
        else:
            hint = f"repeating the command will not help; to see these entries: less {as_word(run)}/journal.jsonl"
        raise BuildError(f"some changes could not be undone:\n{rows}", hint)


def _place(change: Change) -> str:
    return f"on {change.host}: " if change.host else ""


def _is_made(host: Host, daemons: tuple[str, ...], change: Change) -> bool:
    match undo := _typed(change):
        case None | UndoPrograms():
            return True
        case UndoDaemon():
            return _pid_of(undo, host) is not None or bool(_processes_of(_by_marker(undo, daemons), host))
        case UndoTree():
            return _holds(Holds(undo.path, ""), host)
        case CommandUndo():
            return _holds(undo.removal().only_if, host)
    raise TypeError(f"nothing undoes {type(undo).__name__}")


def _typed(change: Change) -> Undo | None:
    """Return the operation that undoes a change, or None if it comes from an older version and can't be converted."""
    return typed(change.undo) if isinstance(change.undo, OldCommand) else change.undo


def _is_own(change: Change, owned: Owned) -> bool:
    """True if the undo may be performed. If not, its files are not even looked at, because it may name any file."""
    undo = _typed(change)
    return undo is not None and refusal(undo, owned) is None


def _needed_by(failed: Sequence[FailedUndo], change: Change, owned: Owned) -> FailedUndo | None:
    """Return a failure if a failed undo needs what this change made, otherwise None.

    A directory must be kept if a failed undo needs a file in it. The state directory also shows that the run's
    directories elsewhere belong to the run. Everything below a mount that was left because of another program's mount
    must be kept, because that other mount could no longer be reached. These changes are older than the run's mount.
    """
    covering = [each for each in failed if each.is_covered and each.change.host == change.host]
    if covering:
        return _kept(change, covering[0], "undone")
    if not isinstance(change.undo, UndoTree) or not _is_own(change, owned):
        return None
    path, is_proof = f"{change.undo.path}/", change.undo.path == owned.places[0]
    needing = [
        each
        for each in failed
        if each.change.host == change.host
        and (path in each.undo_text or (is_proof and each.can_repeat and isinstance(each.change.undo, UndoTree)))
    ]
    return _kept(change, needing[0], "removed") if needing else None


def _kept(change: Change, failed: FailedUndo, verb: str) -> FailedUndo:
    reason = f"not {verb}, because another undo still needs it: {failed.change.title}"
    return FailedUndo(change, reason, can_repeat=False)


def _undo_change(change: Change, run_host: Host, owned: Owned, tell: Tell) -> FailedUndo | None:
    undo = _typed(change)
    if undo is None:
        argv = change.undo.argv if isinstance(change.undo, OldCommand) else ()
        reason = f"not executed, because poolproof never writes such a command: {shlex.join(argv)[:200]}"
        return FailedUndo(change, reason, can_repeat=False)
    if (refused := refusal(undo, owned)) is not None:
        return None if is_removed(undo, owned, run_host, change.host) else _refused(change, refused)
    try:
        host = host_named(run_host, change.host)
    except HostError:
        return FailedUndo(change, f"cannot connect to {change.host}", is_unreached=True)
    try:
        if (link := link_to(undo, owned, host)) is not None:
            return _refused(change, link)
        if (other := _other_mount(undo, change, owned, host)) is not None:
            return FailedUndo(change, other, is_covered=True)
        tell(f"undo: {change.title}")
        failed = undo_one(undo, host, owned.daemons)
    except HostUnreachable as error:
        if not change.host:
            raise
        return FailedUndo(change, error.message, is_unreached=True)
    except (CommandError, HostError) as error:
        failed = error.message
    return None if failed is None else FailedUndo(change, failed)


def _other_mount(undo: Undo, change: Change, owned: Owned, host: Host) -> str | None:
    """Return an error message if the undo would unmount what someone else mounted, otherwise None."""
    point = undo.unmounts(owned)
    other = covered(point, host) if point else None
    if other is None and isinstance(undo, UndoMount):
        other = replaced(point, change.argv, host, is_fuse=undo.lazy)
    return other


def _refused(change: Change, reason: str) -> FailedUndo:
    return FailedUndo(change, f"not performed: {reason[:_LONGEST_REASON]}", can_repeat=False)


def _remove(removal: Removal, host: Host) -> str | None:
    deadline = time.monotonic() + removal.timeout_s
    reason = ""
    while _holds(removal.only_if, host):
        reason = _attempt(removal.argv, host, removal.once_s)
        if not reason and not _holds(removal.only_if, host):
            return None
        if time.monotonic() > deadline:
            break
        time.sleep(_POLL_S)
    else:
        return None
    if removal.last_resort:
        reason = _attempt(removal.last_resort, host, removal.once_s)
    if not _holds(removal.only_if, host):
        return None
    return reason if reason and is_script(removal.argv) else f"`{shown(removal.argv)}`: {reason or 'no effect'}"


def _attempt(argv: tuple[str, ...], host: Host, limit_s: float = _COMMAND_LIMIT_S) -> str:
    """Run the command. Returns an error message, or "" if the command succeeded."""
    try:
        completed = host.run(argv, timeout_s=limit_s, check=False)
    except CommandError as error:
        return error.message
    return "" if completed.returncode == 0 else completed.stderr.strip() or f"exit code {completed.returncode}"


def _holds(condition: Holds, host: Host) -> bool:
    if not condition.text:
        return host.run(("test", "-e", condition.path), timeout_s=_QUERY_LIMIT_S, check=False).returncode == 0
    return condition.is_in(text_of(host, condition.path))


def _end_programs(undo: UndoPrograms, host: Host) -> str | None:
    left: Sequence[str] = ()
    for signal in ("TERM", "KILL"):
        left = _processes_of(undo, host)
        for pid in left:
            _signal(signal, pid, host)
        if not left or _await(lambda: not _processes_of(undo, host)):
            return None
    return f"still running after SIGKILL: {'process' if len(left) == 1 else 'processes'} {', '.join(left)}"


def _processes_of(undo: UndoPrograms, host: Host) -> list[str]:
    """Return the pids of those programs that have the marker on their command line.

    The marker is passed on standard input, so that the search does not match its own command line.
    """
    argv = ["sh", "-c", _FIND_PROGRAMS, "sh", *undo.programs]
    return host.run(argv, stdin=f"{undo.marker}\n", timeout_s=_COMMAND_LIMIT_S, check=False).stdout.split()


def _end_daemon(undo: UndoDaemon, host: Host, daemons: tuple[str, ...]) -> str | None:
    pid = _pid_of(undo, host)
    if pid is None:  # the program could not write its pid file, because the disk was full, or has not done so yet
        return _end_programs(_by_marker(undo, daemons), host)
    for signal in ("TERM", "KILL"):
        _signal(signal, pid, host)
        if _await(lambda: not _is_running(pid, undo.marker, host)):
            return None
    return f"still running after SIGKILL: process {pid}"


def processes_of(undo: UndoDaemon | UndoPrograms, host: Host) -> list[str]:
    """Return the pids of the processes that the undo would end."""
    if isinstance(undo, UndoPrograms):
        return _processes_of(undo, host)
    pid = _pid_of(undo, host)
    return [pid] if pid is not None else _processes_of(_by_marker(undo, ()), host)


def _by_marker(undo: UndoDaemon, daemons: tuple[str, ...]) -> UndoPrograms:
    """Return an undo for a daemon without a pid file. The names of programs are never taken from the journal."""
    of_layers = (name for layer in all_layers().values() for name in layer.daemons)
    names = (name[:_COMM_CHARACTERS] for name in (*DAEMONS, *of_layers, *daemons))
    return UndoPrograms(tuple(dict.fromkeys(names)), undo.marker)


def _await(is_over: Callable[[], bool]) -> bool:
    """Wait until `is_over` returns True. Returns False if this takes longer than 5 s."""
    deadline = time.monotonic() + _GRACE_S
    while not is_over():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S / 2)
    return True


def _pid_of(undo: UndoDaemon, host: Host) -> str | None:
    pid = text_of(host, undo.pidfile).strip()
    return pid if pid.isdecimal() and _is_running(pid, undo.marker, host) else None


def _is_running(pid: str, marker: str, host: Host) -> bool:
    return _holds(Holds(f"/proc/{pid}/cmdline", marker), host)


def _signal(signal: str, pid: str, host: Host) -> None:
    """Send the signal to the process group that the process leads. If it leads none, send it to the process alone."""
    if host.run(["kill", f"-{signal}", "--", f"-{pid}"], timeout_s=_QUERY_LIMIT_S, check=False).returncode != 0:
        host.run(["kill", f"-{signal}", pid], timeout_s=_QUERY_LIMIT_S, check=False)


def _remove_tree(undo: UndoTree, host: Host) -> str | None:
    if any(f"{point}/".startswith(f"{undo.path}/") for point in mount_points(host)):
        return f"something is still mounted at {undo.path}"
    return _attempt(("rm", "-rf", "--one-file-system", "--", undo.path), host) or None
