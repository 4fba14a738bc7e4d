"""Health checks for file systems that run as user-space programs.

If such a program hangs, all processes that use the file system hang too.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator

from poolproof.errors import BuildError, PoolproofError
from poolproof.hosts.base import Host, host_named
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


@contextlib.contextmanager
def watched(host: Host, tree: TreePlan) -> Iterator[Callable[[], None]]:
    """Check the layout's file system programs in a background thread.

    If a program hangs, it is killed, so that the processes that wait for it fail instead of hanging. Yields a function
    that raises a BuildError if a program was killed. In that case, this BuildError also replaces any PoolproofError
    raised in the context.
    """
    checks = health_checks_of(tree)
    if not checks:
        yield lambda: None
        return
    hung: list[HealthCheck] = []
    end = threading.Event()

    def watch() -> None:
        while not hung and not end.wait(EVERY_S):
            for name, check in checks:
                if not _answers(host_named(host, name), check):
                    hung.append(check)

    def raise_if_hung() -> None:
        if hung:
            raise BuildError(
                f"{hung[0].program} did not answer for {LIMIT_S:g} s and was killed",
                "see that program's log; poolproof continues with the next layout",
            )

    thread = threading.Thread(target=watch, name="health", daemon=True)
    thread.start()
    try:
        yield raise_if_hung
    except PoolproofError:
        raise_if_hung()
        raise
    finally:
        end.set()
        thread.join(LIMIT_S + EVERY_S)


def _answers(host: Host, check: HealthCheck) -> bool:
    """Run one health check. Return True if the program responded, even with an error.

    If the program hangs, kill it and return False. A lost connection also counts as a response, because the thread that
    waits for fio reports it.
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
