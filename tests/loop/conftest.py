"""Fixtures for all loop tests: a check for root, and a testbed that checks that nothing is left on the machine."""

import os
from collections.abc import Iterator

import pytest

from tests.loop.testbed import Testbed, remove_dead_testbeds

_LIMIT_S = 420  # a test's campaign has 300 s, because other work may stall this machine for half a minute at a time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_LIMIT_S))


def pytest_sessionstart(session: pytest.Session) -> None:
    is_worker = hasattr(session.config, "workerinput")  # of pytest-xdist
    if os.geteuid() == 0 and not is_worker:
        remove_dead_testbeds()


@pytest.fixture(scope="session", autouse=True)
def _root() -> None:
    """Fail without root.

    The tests use loop devices. If they were skipped instead, that would prove nothing.
    """
    if os.geteuid() != 0:
        pytest.fail("tests/loop needs root: sudo .venv/bin/pytest tests/loop", pytrace=False)


@pytest.fixture
def testbed() -> Iterator[Testbed]:
    """A testbed for one test."""
    yield from _one_testbed()


@pytest.fixture(scope="module")
def shared_testbed() -> Iterator[Testbed]:
    """A testbed for a whole module, in which several tests check the result of one campaign."""
    yield from _one_testbed()


def _one_testbed() -> Iterator[Testbed]:
    made = Testbed()
    try:
        yield made
        assert made.traces() == []
    finally:
        made.close()
