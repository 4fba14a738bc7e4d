"""Health checks for file systems that run as programs.

If such a program hangs, so does every process that uses the file system.
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
"""The time limit in seconds after which a file system that has not answered is considered hung."""


def health_checks_of(tree: TreePlan) -> list[tuple[str, HealthCheck]]:
    """Return the health checks of the layout's file systems that run as programs, each with its host's name."""
    built = ((entry.volume.host, entry.plan) for entry in from_bottom(tree.top))
    return [(host, plan.health_check) for host, plan in built if plan is not None and plan.health_check is not None]


@contextlib.contextmanager
def watched(host: Host, tree: TreePlan) -> Iterator[Callable[[], None]]:
    """Check the layout's programs in a background thread.

    If a program hangs, it is killed, so that the processes waiting for it fail instead of hanging too.

    Yields a function that raises a BuildError if a program has been killed. In that case, the BuildError also replaces
    any PoolproofError raised in the context.
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
    """Run one check, and kill the program if it hangs. True if it answered, even with an error.

    A lost connection also counts as an answer, because the thread that waits for fio reports it.
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
