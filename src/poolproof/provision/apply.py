"""Make the planned changes, one by one, each in the journal before it is made."""

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from poolproof.errors import BuildError, CommandError, GuardError
from poolproof.hosts.base import FileMissing, Host
from poolproof.process import CommandFailed
from poolproof.provision.journal import Journal
from poolproof.steps import Step

_POLL_S = 0.03
_AGAIN_S = 0.1
_ATTEMPTS = 3
_SETTLE = ("udevadm", "settle", "--timeout=30")
_ASK_S = 60.0  # a question that a busy machine answers late
_NO_SERVER = "Transport endpoint is not connected"  # ENOTCONN: a FUSE mount whose server is dead
_AMONG_THE_DEAD = "poolproof clean, which undoes what dead runs left: a mount whose server is dead is in the way"


def apply(
    steps: Iterable[Step],
    host: Host,
    journal: Journal,
    *,
    may_overwrite: frozenset[str],
    identity_check: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    tell: Callable[[str], None] = lambda _title: None,
) -> None:
    """Run the steps in order. `identity_check`: a command by device that is run before each step which writes to it.

    Raises:
        GuardError: a step would write to a device that is not in `may_overwrite`, or that is another one now; nothing
            of it was run.
        BuildError: a step failed or hung; those before it stand, and the journal knows them.
    """
    for step in steps:
        _guard(step, may_overwrite)
        tell(step.title)
        check_identity(step.title, [identity_check[path] for path in step.overwrites if path in identity_check], host)
        journal.record(step)
        _make(step, host)


def repeat(steps: Iterable[Step], host: Host) -> None:
    """Run steps again whose undos stand in the journal already: closing and opening a layout between trials.

    Raises:
        BuildError: a step failed or hung.
    """
    for step in steps:
        _make(step, host)


def _guard(step: Step, may_overwrite: frozenset[str]) -> None:
    foreign = [path for path in step.overwrites if path not in may_overwrite]
    if foreign:
        raise GuardError(
            f"refused to {step.title}: it would write to {', '.join(foreign)}, which is no device of this run",
            "this is a fault of poolproof, not of the campaign: please report it with the campaign file",
        )


def check_identity(title: str, checks: Iterable[tuple[str, ...]], host: Host) -> None:
    """Return when each of these commands succeeds: each device is still the one that was named.

    Raises:
        GuardError: one is not, or could not be asked; what `title` says is not to be done.
    """
    for check in checks:
        try:
            host.run(check, timeout_s=_ASK_S)
        except CommandFailed as error:
            said = error.completed.stderr.strip() or f"exit code {error.completed.returncode}"
            raise GuardError(f"refused to {title}: {said}", "poolproof devices") from None


def _make(step: Step, host: Host) -> None:
    try:
        if step.unless and _stands(step.unless, host):
            return
        _patiently(step, host)
        if step.await_file is not None:
            _await(step.await_file, host, step.timeout_s)
    except CommandFailed as error:
        said = error.completed.stderr.strip() or error.completed.stdout.strip() or "nothing"
        hint = _AMONG_THE_DEAD if _NO_SERVER in said else ""
        raise BuildError(f"could not {step.title}: `{step.argv[0]}` said: {said}{_logged(step, host)}", hint) from None
    except CommandError as error:
        raise BuildError(f"could not {step.title}: {error.message}{_logged(step, host)}", error.hint) from None


def _stands(path: str, host: Host) -> bool:
    return host.run(("test", "-e", path), timeout_s=_ASK_S, check=False).returncode == 0


def _patiently(step: Step, host: Host) -> None:
    deadline = math.inf
    while True:
        try:
            return _run(step, host, attempts=_ATTEMPTS if step.again_if else 1)
        except CommandFailed:
            # from the first complaint on: a program may take longer than that to complain
            deadline = min(deadline, time.monotonic() + step.patience_s)
            if time.monotonic() >= deadline:
                raise
        time.sleep(_AGAIN_S)


def _run(step: Step, host: Host, *, attempts: int) -> None:
    try:
        host.run(step.argv, timeout_s=step.timeout_s, stdin=step.stdin)
    except CommandFailed as error:
        if attempts == 1 or step.again_if not in error.completed.stdout + error.completed.stderr:
            raise
        with contextlib.suppress(CommandError):
            host.run(_SETTLE, timeout_s=_ASK_S, check=False)
        _run(step, host, attempts=attempts - 1)


def _await(path: str, host: Host, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while host.run(["test", "-s", path, "-o", "-b", path], timeout_s=_ASK_S, check=False).returncode != 0:
        if time.monotonic() > deadline:
            raise CommandError(f"{path} did not come into being within {timeout_s:g} s")
        time.sleep(_POLL_S)


def _logged(step: Step, host: Host) -> str:
    if step.log is None:
        return ""
    try:
        text = host.read(step.log).strip()
    except FileMissing:
        return ""
    return f"; its log says: {text}" if text else ""
