"""Health checks on a host with a broken connection, which the thread that waits for fio reports."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from poolproof.errors import BuildError
from poolproof.hosts.base import HostUnreachable
from poolproof.measure import health_check as pulse
from poolproof.process import CommandTimedOut, Completed

from ..facts.told import ToldHost
from ..layers.ground import plan

TREE = plan("autotier (a | ext4) (b | ext4)")


class _Far(ToldHost):
    """A host to which the connection is broken. The health check runs `stat`."""

    def __init__(self, *, hangs: bool) -> None:
        super().__init__({})
        self._hangs = hangs
        self.asked = 0

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0 and stdin is None and not check
        if argv[0] == "stat":
            self.asked += 1
            if self._hangs:
                raise CommandTimedOut(argv, timeout_s)
        raise HostUnreachable("the link to nas broke", "ssh nas true")

    def read(self, path: str) -> str:
        raise HostUnreachable(f"the link to nas broke at {path}", "ssh nas true")


@pytest.fixture
def tracebacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The errors in threads, which Python would print on standard error."""
    found: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: found.append(repr(args.exc_value)))
    monkeypatch.setattr(pulse, "EVERY_S", 0.01)
    yield found
    assert found == []


@pytest.mark.usefixtures("tracebacks")
def test_a_broken_connection_causes_no_traceback_and_the_watch_continues() -> None:
    host = _Far(hangs=False)
    with pulse.watched(host, TREE) as check:
        _await(lambda: host.asked > 2)
        check()


@pytest.mark.usefixtures("tracebacks")
def test_a_connection_that_breaks_while_a_hung_program_is_killed_causes_no_traceback() -> None:
    host = _Far(hangs=True)
    with pytest.raises(BuildError, match=r"autotierfs on "), pulse.watched(host, TREE):
        _await(lambda: not any(thread.name == "background check" for thread in threading.enumerate()))
        raise HostUnreachable("the link to nas broke", "ssh nas true")


def _await(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)
