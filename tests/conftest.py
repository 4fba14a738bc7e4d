"""Properties have no deadline, for a busy machine is no fault of theirs; where CI runs, their examples are fixed.

`--left FILE` writes down which tests failed or did not run, an id a line: `pytest @FILE` runs those again.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")


class _Left:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._ids: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            self._ids[report.nodeid] = None

    def pytest_sessionfinish(self) -> None:
        self._file.write_text("".join(f"{each}\n" for each in self._ids))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--left", type=Path, metavar="FILE", help="write down there which tests failed or did not run")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--left")
    if file is not None:
        config.pluginmanager.register(_Left(file))
