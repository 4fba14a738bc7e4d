"""Check that file systems that run as programs still answer: if one hangs, everything that touches it hangs too."""

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
"""Seconds without an answer after which a file system counts as hung; a busy one answers late, but it answers."""


def health_checks_of(tree: TreePlan) -> list[tuple[str, HealthCheck]]:
    """Return the health checks of the layout's file systems that run as programs, each with the name of its host."""
    built = ((entry.volume.host, entry.plan) for entry in from_bottom(tree.top))
    return [(host, plan.health_check) for host, plan in built if plan is not None and plan.health_check is not None]


@contextlib.contextmanager
def watched(host: Host, tree: TreePlan) -> Iterator[Callable[[], None]]:
    """Check the layout's programs from a thread. A program that hangs is killed, so that what waits for it fails.

    Yields a function that raises a BuildError once a program was killed. An error that leaves the context after that is
    replaced by the BuildError.
    """
    checks = health_checks_of(tree)
    if not checks:
        yield lambda: None
        return
    watch = _Watch(host, checks)
    try:
        yield watch.check
    except PoolproofError:
        watch.check()
        raise
    finally:
        watch.stop()


class _Watch:
    def __init__(self, host: Host, checks: list[tuple[str, HealthCheck]]) -> None:
        self._host, self._checks = host, checks
        self._hung: HealthCheck | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="health", daemon=True)
        self._thread.start()

    def check(self) -> None:
        if self._hung is not None:
            raise BuildError(
                f"{self._hung.program} did not answer for {LIMIT_S:g} s and was killed",
                "see the log of that program; poolproof continues with the next layout",
            )

    def stop(self) -> None:
        self._end.set()
        self._thread.join(LIMIT_S + EVERY_S)

    def _watch(self) -> None:
        while self._hung is None and not self._end.wait(EVERY_S):
            for name, check in self._checks:
                self._run_check(host_named(self._host, name), check)

    def _run_check(self, host: Host, check: HealthCheck) -> None:
        """Run one check. An error message is an answer; the thread that waits for fio handles a lost connection."""
        try:
            host.run(check.ask, timeout_s=LIMIT_S, check=False)
        except CommandTimedOut:
            self._hung = check
            with contextlib.suppress(PoolproofError):
                undo_one(check.end, host)
        except PoolproofError:
            return
