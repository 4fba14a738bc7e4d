"""What every test here has: root, and a ground that proves that nothing stays."""

import os
from collections.abc import Iterator

import pytest

from tests.loop.ground import Ground

_LIMIT_S = 420  # a campaign of a test has 300 s: other work may stop this machine for half a minute at a time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_LIMIT_S))


@pytest.fixture(scope="session", autouse=True)
def _root() -> None:
    """These tests build on loop devices. Without root they fail, for a test that did not run proves nothing."""
    if os.geteuid() != 0:
        pytest.fail("tests/loop needs root: sudo .venv/bin/pytest tests/loop", pytrace=False)


@pytest.fixture
def ground() -> Iterator[Ground]:
    """A ground for one test."""
    yield from _one_ground()


@pytest.fixture(scope="module")
def shared_ground() -> Iterator[Ground]:
    """A ground for a whole module: one campaign, many looks at it."""
    yield from _one_ground()


def _one_ground() -> Iterator[Ground]:
    made = Ground()
    try:
        yield made
        assert made.traces() == []
    finally:
        made.close()
