"""The report's section on limits in a real browser, for a run that measured its disks individually."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from poolproof.presentation.html_report.page import write_report
from tests.unit.presentation.html_report.calibrated import CALIBRATED, disks_alone, make_calibrated
from tests.unit.presentation.html_report.making import make_run
from tests.web.opened import Opened

pytestmark = pytest.mark.timeout(400)  # the first test of a page creates its run and bundles Vega's script

Opening = Callable[..., Opened]


@pytest.fixture(scope="module")
def calibrated_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = make_calibrated(tmp_path_factory.mktemp("calibrated") / "run", with_cache=True)
    write_report(run, run / "report.html")
    return run / "report.html"


def test_the_chart_has_a_bar_and_a_share_for_each_cell(opened: Opening, calibrated_page: Path) -> None:
    page = opened(calibrated_page)
    drawn = page.chart("limit-chart")
    words = drawn.locator("svg text").all_text_contents()
    assert {"reads", "stream", "one", "pair", "51%", "50%", "609%", "150%", "share of the limit"} <= set(words)
    assert drawn.locator("svg g[class*='layer_0_marks'] path").count() == 4


def test_the_section_explains_results_above_the_limit(opened: Opening, calibrated_page: Path) -> None:
    page = opened(calibrated_page)
    said = page.text("#limit")
    assert "this run measured each disk alone, without a layout" in said
    assert "reads on pair: 609%, more than its disks deliver alone. 90% of its bytes" in said
    assert page.page.locator("#limit-bare tbody tr").count() == 4
    assert "a reads 2.00k IOPS" in page.text("#limit-bare")


def test_the_table_shows_how_each_limit_is_computed(opened: Opening, calibrated_page: Path) -> None:
    page = opened(calibrated_page)
    page.chart("limit-chart")  # drawing it moves the summary, and a click at that moment misses it
    page.page.locator("#limit details summary").click()
    rows = page.page.locator("#limit-table tbody tr")
    assert rows.count() == 4
    assert "a 2.00k IOPS ÷ 0.5 = 4.00k IOPS; b 1.00k IOPS ÷ 0.5 = 2.00k IOPS: b limits it" in page.text("#limit-table")


def test_the_map_and_the_answer_do_not_contain_the_disks_alone(opened: Opening, calibrated_page: Path) -> None:
    page = opened(calibrated_page)
    assert page.page.locator("#map-grid td[data-cell]").count() == 4
    assert "bare" not in page.text("#map") + page.text("#answer")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(opened: Opening, calibrated_page: Path, theme: Literal["light", "dark"]) -> None:
    page = opened(calibrated_page, theme=theme)
    page.chart("limit-chart")
    found: dict[str, Any] = Axe().run(page.page, "#limit").response
    assert [each["id"] for each in found["violations"] if each["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [360, 700, 1500])
def test_nothing_is_wider_than_the_page(opened: Opening, calibrated_page: Path, width: int) -> None:
    page = opened(calibrated_page, width=width)
    page.chart("limit-chart")
    page.page.locator("#limit details summary").click()
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_run_with_only_single_disks_done_opens(opened: Opening, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", disks_alone(), campaign=CALIBRATED)
    write_report(run, run / "report.html")
    page = opened(run / "report.html")
    assert "No layout has been measured yet" in page.text("#answer .sentence")
    assert page.page.locator("#limit-bare tbody tr").count() == 4
