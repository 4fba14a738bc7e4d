"""Fixtures: a browser, and pages of two runs. One run is small and has a bit of everything, and one has 648 cells."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.generated_run import make_run as make_large_run
from playwright.sync_api import Browser, sync_playwright

from poolproof.presentation.html_report.page import write_report
from poolproof.results.runs.model import Trial
from poolproof.verdicts import Verdict
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run, trial
from tests.web.opened import Opened, open_page

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
MORE = """\
  grid: {rw: [randread, randwrite], bs: [4k, 16k, 1m], sync: [0, 1], size: 64m}
expect:
  - {claim: half from each side, source: a test, that: "read_share(pair, reads, a) = 50% ± 2%"}
  - {claim: never, source: a test, that: "iops(pair, reads) > 1M"}
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium.

    Without it, these tests fail, because a page that was never opened proves nothing.
    """
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.fail("tests/web needs Chromium: scripts/setup test", pytrace=False)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with sound, refuted, suspect and failed cells, curves and single workloads, claims, reads and writes."""
    campaign = CAMPAIGN.replace("goal: reads\n", "").rstrip() + "\n"
    head, tail = campaign.split("measure:")
    campaign = f"{head}{MORE}goal: reads\nmeasure:{tail}"
    grid = [
        f"grid[rw={rw},bs={bs},sync={sync}]"
        for rw in ("randread", "randwrite")
        for bs in ("4k", "16k", "1m")
        for sync in (0, 1)
    ]
    trials = all_trials()
    for layout in ("one", "pair"):
        for place, name in enumerate(grid):
            verdict: Verdict = "refuted" if (layout, place) == ("one", 2) else "suspect" if place == 5 else "sound"
            kind = "reads" if "randread" in name else "stream"
            trials += [_renamed(trial(layout, kind, number, verdict), name) for number in (1, 2)]
    trials[-1] = replace(trials[-1], verdict="failed", figures=None, account=None, leaves=())
    return make_run(tmp_path_factory.mktemp("small") / "run", trials, campaign=campaign)


@pytest.fixture(scope="session")
def large_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the campaign cache-and-log, with 9 layouts, 72 workloads and three trials each."""
    return make_large_run(tmp_path_factory.mktemp("large") / "run", with_files=1)


@pytest.fixture(scope="session")
def small_page(small_run: Path) -> Path:
    return _written(small_run)


@pytest.fixture(scope="session")
def large_page(large_run: Path) -> Path:
    return _written(large_run)


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """A function that opens a page.

    When the test ends, the page must have requested nothing, and logged no errors or warnings.
    """
    pages: list[Opened] = []

    def opening(path: Path, **how: Any) -> Opened:
        pages.append(open_page(browser, path, **how))
        return pages[-1]

    yield opening
    for each in pages:
        each.page.context.close()
        assert each.complaints == []
        assert each.requests == []


def _written(run: Path) -> Path:
    write_report(run, run / "report.html")
    return run / "report.html"


def _renamed(made: Trial, workload: str) -> Trial:
    return replace(made, workload=workload, metric="bandwidth" if "bs=1m" in workload else "iops")
