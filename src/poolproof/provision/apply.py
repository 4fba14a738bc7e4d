"""Runs planned steps one by one on their hosts. A step with an undo is recorded in the journal before it runs."""

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence

from poolproof.devices.loop import UndoLoop
from poolproof.devices.model import IdentityCheck
from poolproof.errors import BuildError, CommandError, GuardError, as_word
from poolproof.facts.disk_use import is_busy
from poolproof.hosts.base import Host, host_named, text_of
from poolproof.process import CommandFailed
from poolproof.provision.covered import covered
from poolproof.provision.journal import Journal
from poolproof.steps import Step, is_script, path_on
from poolproof.undos import UndoDaemon

_POLL_S = 0.03
_AGAIN_S = 0.1
_ATTEMPTS = 3
_SETTLE = ("udevadm", "settle", "--timeout=30")
_GLANCE_S = 1.0
_QUERY_LIMIT_S = 60.0  # a busy machine answers late
_STATE_OF = '[ -s "$1" ] || [ -b "$1" ] || { [ -f "$1" ] && exit 3; exit 1; }'
_EMPTY = 3
_EMPTY_S = 10.0  # a program writes its pid file right after it has created it
_NO_SERVER = "Transport endpoint is not connected"  # ENOTCONN: a FUSE mount whose server has died
_CLEAN_HINT = "the program behind a FUSE mount has died; if the mount is from a crashed run: poolproof clean"


def apply(
    steps: Iterable[Step],
    run_host: Host,
    journal: Journal,
    *,
    may_overwrite: frozenset[str],
    identity_checks: Sequence[IdentityCheck] = (),
    tell: Callable[[str], None] = lambda _title: None,
) -> None:
    """Run the steps in order.

    `may_overwrite`: the devices that the steps may write to, as paths in the form of `path_on`.
    `identity_checks`: commands that check the identity of real disks, and the files of loop and nbd devices. A device's
    check runs before each step that writes to the device or has its path among its arguments, such as a mount.

    Raises:
        GuardError: a step would write to another device, or a disk was replaced. The step was not run.
        BuildError: a step failed or hung. The steps before it have been run and are in the journal.
        HostError: a step names a host that the run does not have, or the connection to a host was lost.
        CommandError: the check of a disk did not end in time.
    """
    for step in steps:
        host = host_named(run_host, step.host)
        _guard(step, may_overwrite)
        tell(step.title)
        check_identity(step.title, _named_disks(step, run_host, identity_checks), run_host)
        journal.record(step)
        _run_step(step, host)


def repeat(steps: Iterable[Step], run_host: Host, identity_checks: Sequence[IdentityCheck] = ()) -> None:
    """Run steps that flush, unmount or remount a layout between trials.

    Nothing is added to the journal, because it already contains the undos for these steps. `identity_checks`: as for
    `apply`.

    Raises:
        BuildError: a step failed or hung.
        HostError: a step names a host that the run does not have, or the connection to a host was lost.
        GuardError: a disk was replaced.
        CommandError: the check of a disk did not end in time.
    """
    for step in steps:
        host = host_named(run_host, step.host)
        check_identity(step.title, _named_disks(step, run_host, identity_checks), run_host)
        _check_uncovered(step, host)
        _run_step(step, host)


def _check_uncovered(step: Step, host: Host) -> None:
    """Raise a BuildError if the step would unmount something that someone else mounted over the run's mount."""
    if step.unmounts and (over := covered(step.unmounts, host)) is not None:
        raise BuildError(f"could not {step.title}: {over}")


def _named_disks(step: Step, run_host: Host, checks: Iterable[IdentityCheck]) -> list[IdentityCheck]:
    """Return the checks for the disks that the step writes to or names in its arguments (`device=/dev/sdb`).

    The step that attaches a loop device or connects an nbd device needs no check, because it fails if the device is in
    use.
    """
    if isinstance(step.undo, (UndoLoop, UndoDaemon)):
        return []
    parts, host = (*step.overwrites, *step.argv), host_named(run_host, step.host)
    own = [check for check in checks if host_named(run_host, check.host) is host]
    return [check for check in own if any(_names(part, check.path) for part in parts)]


def _names(part: str, path: str) -> bool:
    return re.search(rf"{re.escape(path)}(?![\w.-])", part) is not None


def check_identity(title: str, checks: Iterable[IdentityCheck], run_host: Host) -> None:
    """Check that each disk is still the one that the campaign names.

    `title`: the title of the step that is about to use the disks.

    If this function raises an error, the step must not run.

    Raises:
        GuardError: a check failed.
        HostError: a check names a host that the run does not have, or the connection to a host was lost.
        CommandError: a check did not end in time.
    """
    for check in checks:
        try:
            host_named(run_host, check.host).run(check.argv, timeout_s=_QUERY_LIMIT_S)
        except CommandFailed as error:
            reason = error.completed.stderr.strip() or f"exit code {error.completed.returncode}"
            raise GuardError(f"refused to {title}: {reason}", "poolproof devices") from None


def check_not_busy(title: str, path: str, host: Host) -> None:
    """Check that nothing has mounted a block device of the run, or uses it in another way, since the run built it.

    lsblk shows a disk that is measured alone as empty, so someone else with root access could make a file system on it.

    `title`: the title of the step that is about to use the device. If this function raises an error, it must not run.

    Raises:
        GuardError: the device stayed busy for a second. A program may open it for a moment, to look at it.
        CommandError: the check did not end in time.
    """
    deadline = time.monotonic() + _GLANCE_S
    while is_busy(host, path):
        if time.monotonic() > deadline:
            hint = f"to see what uses it: lsblk -f {as_word(path)}"
            raise GuardError(f"refused to {title}: someone else uses {path}, for example a mount", hint)
        time.sleep(_AGAIN_S)


def _guard(step: Step, may_overwrite: frozenset[str]) -> None:
    foreign = [path for path in step.overwrites if path_on(step.host, path) not in may_overwrite]
    if foreign:
        raise GuardError(
            f"refused to {step.title}, because that would write to {', '.join(foreign)}, which is not a device of "
            "this run",
            "this is a bug in poolproof, not in the campaign; please report it and attach the campaign file",
        )


def _run_step(step: Step, host: Host) -> None:
    try:
        if step.unless and host.run(("test", "-e", step.unless), timeout_s=_QUERY_LIMIT_S, check=False).returncode == 0:
            return
        _run_patiently(step, host)
        if step.await_file is not None:
            _await_file(step.await_file, host, step.timeout_s)
    except CommandFailed as error:
        output = error.completed.stderr.strip() or error.completed.stdout.strip() or "no output"
        hint = _CLEAN_HINT if _NO_SERVER in output else ""
        program = "" if is_script(step.argv) else f"`{step.argv[0]}`: "
        raise BuildError(f"could not {step.title}: {program}{output}{_log_text(step, host)}", hint) from None
    except CommandError as error:
        raise BuildError(f"could not {step.title}: {error.message}{_log_text(step, host)}", error.hint) from None


def _run_patiently(step: Step, host: Host) -> None:
    deadline = math.inf
    while True:
        try:
            return _run_command(step, host, attempts=_ATTEMPTS if step.again_if else 1)
        except CommandFailed:
            # `patience_s` starts at the first failure, because the program may have needed longer than that to fail.
            deadline = min(deadline, time.monotonic() + step.patience_s)
            if time.monotonic() >= deadline:
                raise
        time.sleep(_AGAIN_S)


def _run_command(step: Step, host: Host, *, attempts: int) -> None:
    try:
        host.run(step.argv, timeout_s=step.timeout_s, stdin=step.stdin)
    except CommandFailed as error:
        if attempts == 1 or step.again_if not in error.completed.stdout + error.completed.stderr:
            raise
        with contextlib.suppress(CommandError):
            host.run(_SETTLE, timeout_s=_QUERY_LIMIT_S, check=False)
        _run_command(step, host, attempts=attempts - 1)


def _await_file(path: str, host: Host, timeout_s: float) -> None:
    deadline, empty_since = time.monotonic() + timeout_s, math.inf
    while (
        code := host.run(("sh", "-c", _STATE_OF, "sh", path), timeout_s=_QUERY_LIMIT_S, check=False).returncode
    ) != 0:
        now = time.monotonic()
        empty_since = min(empty_since, now) if code == _EMPTY else math.inf
        if now - empty_since > _EMPTY_S:
            raise CommandError(
                f"{path} stayed empty for {_EMPTY_S:g} s, so its file system may be full",
                f"df -h {as_word(path.rpartition('/')[0])}; free some space, or use another directory with --work",
            )
        if now > deadline:
            raise CommandError(f"{path} did not appear within {timeout_s:g} s")
        time.sleep(_POLL_S)


def _log_text(step: Step, host: Host) -> str:
    text = text_of(host, step.log).strip() if step.log else ""
    return f"; its log: {text}" if text else ""
