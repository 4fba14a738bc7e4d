"""The history page in a real browser: no complaints, no requests, all controls, and keyboard use."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from poolproof.presentation.history import NamedRun, write_history
from poolproof.results.runs.loading import load_run
from tests.unit.presentation.history.making import make_history
from tests.web.opened import Opened, open_page

pytestmark = pytest.mark.timeout(400)  # Vega's script is bundled once


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    root = make_history(folder / "runs")
    runs = [NamedRun(path.name, load_run(path)) for path in root.iterdir()]
    write_history(runs, ["a run <b>could not</b> be read"], folder / "history.html")
    return folder / "history.html"


@pytest.fixture(params=["light", "dark"])
def opened(browser: Browser, page: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    found = open_page(browser, page, theme=request.param)
    yield found
    found.page.context.close()


def test_it_opens_without_a_complaint_and_fetches_nothing(opened: Opened) -> None:
    opened.chart("history-chart")
    assert (opened.complaints, opened.requests) == ([], [])
    assert "2 results changed" in opened.text("#changes")
    assert "a run <b>could not</b> be read" in opened.text("#changes")


def test_axe_finds_nothing_serious(opened: Opened) -> None:
    opened.chart("history-chart")
    found: dict[str, Any] = Axe().run(opened.page).response
    assert not [each["id"] for each in found["violations"] if each["impact"] in ("serious", "critical")]


def test_a_change_opens_its_cell_by_keyboard(opened: Opened) -> None:
    opened.page.locator("#changes-table button", has_text="stream on one").press("Enter")
    opened.chart("history-chart")
    assert opened.page.locator("#workload").input_value() == "stream"
    assert "faster" in opened.text("#history-table")


def test_every_control_chooses_a_cell(opened: Opened) -> None:
    opened.page.locator("#layout").select_option("pair")
    opened.chart("history-chart")
    assert opened.page.locator("#workload").input_value() == "reads"
    assert "✗ refuted" in opened.text("#history-table")
    opened.page.locator("#layout").select_option("one")
    opened.page.locator("#workload").select_option("stream")
    label = opened.chart("history-chart").locator("svg").first.get_attribute("aria-label")
    assert label == "bandwidth of stream on one over 4 runs"
    opened.page.locator("#theme").click()
    opened.chart("history-chart")
    assert opened.complaints == []
