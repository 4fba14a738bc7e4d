"""Checks that run in a background thread while work is done, such as health checks of user-space file systems.

If the program of a user-space file system hangs, all processes that use the file system hang too.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from poolproof.errors import BuildError, PoolproofError
from poolproof.hosts.base import Host, HostUnreachable, host_named
from poolproof.layers.base import HealthCheck
from poolproof.layers.tree import TreePlan, from_bottom
from poolproof.process import CommandTimedOut
from poolproof.provision.undo import undo_one

EVERY_S = 5.0
LIMIT_S = 60.0
"""The time, in seconds, after which a file system that does not respond counts as hung."""


def health_checks_of(tree: TreePlan) -> list[tuple[str, HealthCheck]]:
    """Return the health checks of the layout's user-space file systems, each with the name of its host."""
    built = ((entry.volume.host, entry.plan) for entry in from_bottom(tree.top))
    return [(host, plan.health_check) for host, plan in built if plan is not None and plan.health_check is not None]


def watched(host: Host, tree: TreePlan) -> AbstractContextManager[Callable[[], None]]:
    """Check the layout's file system programs in the background. Yields a function that raises the first error.

    If a program hangs, it is killed, so that the processes that wait for it fail instead of hanging.
    """
    checks = health_checks_of(tree)

    def hung() -> Iterator[BuildError]:
        for name, check in checks:
            if not _answers(host_named(host, name), check):
                yield BuildError(
                    f"{check.program} did not answer for {LIMIT_S:g} s and was killed",
                    "look at dmesg and at the program's log, if it has one; the run continues without this layout",
                )

    return checked_every(EVERY_S, hung, limit_s=LIMIT_S) if checks else contextlib.nullcontext(lambda: None)


@contextlib.contextmanager
def checked_every(
    interval_s: float,
    check: Callable[[], Iterator[BuildError]],
    *,
    limit_s: float,
    pause_s: Callable[[], float] | None = None,
    goes_on: bool = False,
) -> Iterator[Callable[[], None]]:
    """Repeat a check in a background thread until it finds errors or the context ends.

    A check during which the connection to the host is lost finds nothing.

    `limit_s`: the maximum time, in seconds, that a check takes.
    `pause_s`: returns the time until the next check, in seconds, if it differs from `interval_s`.
    `goes_on`: True to repeat the check even after it has found errors.

    Yields a function that raises the first error, if there is one. In that case, this error also replaces any
    PoolproofError raised in the context.
    """
    found: list[BuildError] = []
    end = threading.Event()

    def repeat() -> None:
        while (goes_on or not found) and not end.wait(pause_s() if pause_s is not None else interval_s):
            # A lost connection is reported by the thread that does the work.
            with contextlib.suppress(HostUnreachable):
                for error in check():
                    found.append(error)  # added at once, because what the check does next can make the context fail

    def raise_found() -> None:
        if found:
            raise found[0]

    thread = threading.Thread(target=repeat, name="background check", daemon=True)
    thread.start()
    try:
        yield raise_found
    except PoolproofError:
        raise_found()
        raise
    finally:
        end.set()
        thread.join(limit_s + interval_s)


def _answers(host: Host, check: HealthCheck) -> bool:
    """Run one health check. Return True if the program responded, even with an error.

    If the program hangs, kill it and return False. A lost connection also counts as a response, because the thread that
    waits for the load generator reports it.
    """
    try:
        host.run(check.ask, timeout_s=LIMIT_S, check=False)
    except CommandTimedOut:
        with contextlib.suppress(PoolproofError):
            undo_one(check.end, host)
        return False
    except PoolproofError:
        return True
    return True
