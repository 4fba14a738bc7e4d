"""Is a file system that runs as a program still there? One that hangs would let everything wait that touches it."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from poolproof.errors import BuildError, PoolproofError
from poolproof.hosts.base import Host
from poolproof.layers.base import HealthCheck
from poolproof.layers.tree import TreePlan, from_bottom
from poolproof.process import CommandTimedOut
from poolproof.provision.undo import undo_one

EVERY_S = 5.0
LIMIT_S = 60.0
"""Seconds without an answer after which a file system is taken for dead; a busy one answers late, not never."""


def health_checks_of(tree: TreePlan) -> list[HealthCheck]:
    """Those of the layout's file systems that run as programs."""
    return [entry.plan.health_check for entry in from_bottom(tree.top) if entry.plan and entry.plan.health_check]


@contextlib.contextmanager
def watched(host: Host, tree: TreePlan) -> Iterator[Callable[[], None]]:
    """Feel the pulse of the layout's programs from a thread. What hangs is ended, so that all that waits for it fails.

    Yields what raises the BuildError, once that has happened. An error that comes out of the context because of it
    becomes that BuildError.
    """
    pulses = health_checks_of(tree)
    if not pulses:
        yield lambda: None
        return
    watch = _Watch(host, pulses)
    try:
        yield watch.check
    except PoolproofError:
        watch.check()
        raise
    finally:
        watch.stop()


class _Watch:
    def __init__(self, host: Host, pulses: list[HealthCheck]) -> None:
        self._host, self._pulses = host, pulses
        self._hung: HealthCheck | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="pulse", daemon=True)
        self._thread.start()

    def check(self) -> None:
        if self._hung is not None:
            raise BuildError(
                f"{self._hung.program} did not answer for {LIMIT_S:g} s, and was ended",
                "its own log is the place to look; poolproof goes on with the next layout",
            )

    def stop(self) -> None:
        self._end.set()
        self._thread.join(LIMIT_S + EVERY_S)

    def _watch(self) -> None:
        while self._hung is None and not self._end.wait(EVERY_S):
            for pulse in self._pulses:
                self._feel(pulse)

    def _feel(self, pulse: HealthCheck) -> None:
        """A complaint is an answer; a host that can't be asked is a matter for the thread that waits for fio.

        So is a link that breaks while what hangs is being ended: the layout is taken down over it, or can't be.
        """
        try:
            self._host.run(pulse.ask, timeout_s=LIMIT_S, check=False)
        except CommandTimedOut:
            self._hung = pulse
            with contextlib.suppress(PoolproofError):
                undo_one(pulse.end, self._host)
        except PoolproofError:
            return
