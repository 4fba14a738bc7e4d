"""What every test here has: the lab's image, built once and kept in the user's cache."""

import pytest

from poolproof.lab.build import build, recipe_here
from poolproof.lab.cache import Image

LIMIT_S = 1800
"""A test that boots a lab by emulation, on a machine that others use too."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/lab" in item.path.as_posix() and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.fixture(scope="session", autouse=True)
def image() -> Image:
    """The image with OpenZFS 2.1; minutes where it has not been built, nothing where it has."""
    return build(recipe_here("2.1"), print)
