"""Fixtures: a folder of runs, and a session for querying them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.results.query.connection import QuerySession, open_runs

from .making import folder_of_runs


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[QuerySession]:
    with open_runs(root) as session:
        yield session
