"""A run's report in a real browser: all controls, keyboard only, screen readers, and printing."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from poolproof.presentation.html_report.answer import answer
from poolproof.presentation.html_report.page import write_report
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Convergence
from poolproof.results.runs.summary import cells_of
from poolproof.stopping.model import NotConverged
from poolproof.units import format_size
from tests.unit.presentation.html_report.making import CAMPAIGN, all_trials, make_run
from tests.web.opened import Opened

pytestmark = pytest.mark.timeout(400)  # the first test of a page creates its run and bundles Vega's script

Opening = Callable[..., Opened]
CHARTS = (
    "curves-chart",
    "rates-chart",
    "busy-chart",
    "latency-time-chart",
    "latency-chart",
    "shares-chart",
    "limit-chart",
)


def _serious(opened: Opened) -> list[str]:
    """Return the problems that axe-core classifies as serious or critical."""
    found: dict[str, Any] = Axe().run(opened.page).response
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


def _all_drawn(opened: Opened) -> None:
    for name in opened.page.locator(".chart").evaluate_all("all => all.map(it => it.id)"):
        opened.chart(name)


def test_every_chart_is_drawn(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    for name in CHARTS:
        assert page.chart(name).locator("svg").count() == 1
    assert page.page.locator("#flow svg").count() == 1


@pytest.mark.slow
def test_a_page_of_648_cells_is_complete(opened: Opening, large_page: Path) -> None:
    assert large_page.stat().st_size < 3_000_000
    page = opened(large_page)
    assert page.page.locator("#map-grid td[data-cell]").count() == 648
    _all_drawn(page)


@pytest.mark.parametrize("which", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_the_answer_on_the_page_is_that_of_the_data(
    opened: Opening, which: str, request: pytest.FixtureRequest
) -> None:
    run: Path = request.getfixturevalue(f"{which}_run")
    page = opened(request.getfixturevalue(f"{which}_page"))
    said = answer(load_run(run, lenient=True))
    assert page.text("#answer .sentence") == re.sub(r"\s+", " ", said.sentence)
    for line in (each.replace("`", "") for each in said.rest):
        assert re.sub(r"\s+", " ", line) in page.text("#answer")


def test_a_click_on_the_map_opens_the_byte_accounting_of_that_cell(
    opened: Opening, small_run: Path, small_page: Path
) -> None:
    page = opened(small_page)
    seen = load_run(small_run, lenient=True)
    for layout, workload in (("pair", "stream"), ("one", "grid[rw=randread,bs=16k,sync=0]")):
        page.open_cell(layout, workload)
        cell = next(
            each for each in cells_of(seen.trials, seen.campaign) if (each.layout, each.workload) == (layout, workload)
        )
        assert cell.account is not None
        moved = cell.account.fio_read_bytes + cell.account.fio_write_bytes
        counted = cell.account.leaf_read_bytes + cell.account.leaf_write_bytes
        assert page.text("#cell-head .cell-line").startswith(f"{workload} on {layout}:")
        assert page.text("#cell-head .cell-line").endswith(cell.verdict)
        picture = page.page.locator("#flow svg").get_attribute("aria-label") or ""
        assert format_size(moved) in picture
        page.page.locator("#flow-table").evaluate("it => { it.closest('details').open = true; }")
        for leaf in cell.leaves:
            assert f"{leaf.device} {format_size(counted / len(cell.leaves))}" in page.text("#flow-table")


def test_a_refuted_cell_names_what_it_lost(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.open_cell("one", "grid[rw=randread,bs=16k,sync=0]")
    assert "100 MiB did not come from a disk" in page.text("#flow")
    assert "refutes it: 50 MiB went missing" in page.text("#cell-findings")


def test_heights_in_the_flow_are_bytes(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.open_cell("pair", "stream")
    heights = page.page.locator("#flow svg g rect[rx='2']").evaluate_all(
        "all => all.map(it => it.height.baseVal.value)"
    )
    fio, first, second = heights
    assert first == pytest.approx(fio, rel=0.01)
    assert second == pytest.approx(fio, rel=0.01)


def test_a_link_to_a_cell_opens_it(opened: Opening, small_page: Path) -> None:
    page = opened(small_page, fragment="#cell=3")
    data = json.loads(page.page.locator("#data").inner_text())
    cell = data["cells"][3]
    name = f"{data['workloads'][cell['w']]} on {data['layouts'][cell['l']]}"
    assert page.text("#cell-head .cell-line").startswith(name)
    place = page.page.locator(".places a").first
    other = place.inner_text()
    assert other != name
    place.press("Enter")  # a click can miss: the page below the link still grows while its charts are drawn
    expect(page.page.locator("#cell-head .cell-line")).to_contain_text(f"{other}: ", timeout=60_000)


def test_the_curves_follow_their_controls(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.page.locator("#curves-table").evaluate("it => { it.closest('details').open = true; }")
    page.chart("curves-chart")
    whole = page.page.locator("#curves-table tbody tr").count()
    for value in page.page.locator("#metric option").evaluate_all("all => all.map(it => it.value)"):
        page.page.select_option("#metric", value)
        for scale in ("linear", "log"):
            page.page.select_option("#scale", scale)
            page.chart("curves-chart")
    page.page.select_option("#metric", "iops")
    page.page.select_option("#mode", "randread, sync")
    page.chart("curves-chart")
    assert 0 < page.page.locator("#curves-table tbody tr").count() < whole
    page.page.select_option("#mode", "")
    page.page.locator("#layouts input").nth(1).uncheck()
    page.chart("curves-chart")
    assert "one" not in page.page.locator("#curves-table tbody tr th").all_inner_texts()
    for number in (0, 2):
        page.page.locator("#layouts input").nth(number).uncheck()
    assert "There is nothing to draw" in page.text("#curves-note")


def test_refuted_points_are_hollow_and_counted(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.page.select_option("#metric", "iops")
    assert "2 refuted or failed results are drawn hollow and unconnected" in page.text("#curves-note")
    chart = page.chart("curves-chart")
    points = chart.locator("g.mark-symbol.role-mark path")
    hollow = [
        fill
        for fill in points.evaluate_all("all => all.map(it => getComputedStyle(it).fill)")
        if fill in ("none", "rgba(0, 0, 0, 0)")
    ]
    assert len(hollow) == 2


@pytest.fixture
def unsettled_page(tmp_path: Path) -> Path:
    """A page on which the fastest layout for `reads` drifts, and intervals have a confidence level of 90%."""
    campaign = CAMPAIGN.replace("time: 5s, trials: 2", "until: 10%, confidence: 90%, trials: 2..6")
    drift = (NotConverged("drift", "it falls by 30% over 60 s"),)
    trials = [
        replace(each, settling=Convergence(not why, 0.5, 4.0, 60.0, 0.995, 1.005, why))
        for each in all_trials()
        for why in (drift if each.key[:2] == ("bare-a", "reads") else (),)
    ]
    run = make_run(tmp_path / "run", trials, campaign=campaign)
    write_report(run, run / "report.html")
    return run / "report.html"


def test_an_unsettled_result_is_marked_with_the_reason(opened: Opening, unsettled_page: Path) -> None:
    page = opened(unsettled_page)
    tile = page.page.locator("#map-grid td[aria-label^='reads on bare-a:']")
    assert tile.get_attribute("aria-label") == (
        "reads on bare-a: about 2.03k IOPS (not converged, trials 2.02k IOPS … 2.04k IOPS), sound"
    )
    assert tile.inner_text().startswith("~✓ about 2.03k IOPS")
    assert "~ not converged" in page.text("#map-legend")
    best = page.page.locator("#map-grid td[aria-label^='reads on pair:']").get_attribute("aria-label")
    assert best is not None and best.endswith("sound, the best")
    tile.hover()
    assert "about 2.03k IOPS" in page.text("#tip") and "of the best" not in page.text("#tip")
    page.open_cell("bare-a", "reads")
    said = page.text("#cell-head")
    assert "This result did not converge" in said
    assert "drift: it falls by 30% over 60 s" in said
    assert "about 2.02k IOPS, not converged (drift)" in said
    page.open_cell("pair", "reads")
    assert "not converged" not in page.text("#cell-head")
    assert not _serious(page)


def test_unsettled_results_are_hollow_and_the_bars_name_their_confidence(opened: Opening, unsettled_page: Path) -> None:
    page = opened(unsettled_page)
    page.page.select_option("#metric", "p99")
    assert "Bars are 95% intervals" in page.text("#layouts-note")
    page.page.select_option("#metric", "iops")
    note = page.text("#layouts-note")
    assert "1 result that did not converge is drawn hollow and unconnected, without an interval" in note
    assert "Bars are 90% intervals for workloads compared by this metric, 95% for others." in note
    points = page.chart("layouts-chart").locator("g.mark-symbol.role-mark path")
    fills = points.evaluate_all("all => all.map(it => getComputedStyle(it).fill)")
    assert sum(fill in ("none", "rgba(0, 0, 0, 0)") for fill in fills) == 1
    page.page.locator("#curves .behind summary").click()
    assert "about 2.03k IOPS (not converged, trials 2.02k IOPS … 2.04k IOPS)" in page.text("#curves-table")


def test_a_cell_can_be_chosen_by_name(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.page.select_option("#cell-layout", label="pair")
    page.page.select_option("#cell-workload", label="reads")
    assert page.text("#cell-head .cell-line").startswith("reads on pair:")
    page.page.select_option("#trial", label="2")
    page.chart("rates-chart")
    assert page.text("#time-note").startswith("Trial 2.")
    page.page.select_option("#cell-layout", label="bare-a")
    page.page.select_option("#cell-workload", label="grid[rw=randread,bs=4k,sync=0]")
    assert "was not measured" in page.text("#cell-head")


def test_fixes_and_the_campaign_are_copied_completely(opened: Opening, small_run: Path, small_page: Path) -> None:
    page = opened(small_page)
    page.page.evaluate("() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }")
    page.page.click("#copy-campaign")
    page.page.wait_for_function("window.copied")
    assert page.page.evaluate("window.copied") == (small_run / "campaign.yaml").read_text(encoding="utf-8")
    page.page.locator(".fix .copy").first.click()
    page.page.wait_for_function("window.copied === 'write it anew'")


def test_without_access_to_the_clipboard_the_old_way_copies(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.page.evaluate(
        "() => { navigator.clipboard.writeText = async () => { throw new Error('closed'); };"
        " document.execCommand = () => { window.copied = document.activeElement.value; return true; }; }"
    )
    page.page.click("#copy-campaign")
    page.page.wait_for_function("window.copied")
    assert "layouts:" in page.page.evaluate("window.copied")


def test_the_theme_is_that_of_the_system_and_can_be_changed(opened: Opening, small_page: Path) -> None:
    page = opened(small_page, theme="dark")
    theme = "document.documentElement.dataset.theme"
    assert page.page.evaluate(theme) == "dark"
    before = page.chart("curves-chart").locator("svg").inner_html()
    page.page.click("#theme")
    assert page.page.evaluate(theme) == "light"
    assert page.chart("curves-chart").locator("svg").inner_html() != before


@pytest.mark.parametrize("which", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_the_keyboard_alone_suffices(opened: Opening, which: str, request: pytest.FixtureRequest) -> None:
    page = opened(request.getfixturevalue(f"{which}_page"))
    keys = page.page.keyboard
    for _ in range(30):
        keys.press("Tab")
        if page.page.evaluate("document.activeElement.getAttribute('role')") == "gridcell":
            break
    focused = "document.activeElement.getAttribute('aria-label')"
    first = page.page.evaluate(focused)
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    third = page.page.evaluate(focused)
    assert third != first
    keys.press("ArrowUp")
    keys.press("ArrowLeft")
    assert page.page.evaluate(focused) == first
    keys.press("Control+End")
    keys.press("Control+Home")
    keys.press("ArrowDown")
    keys.press("Enter")
    opened_name = page.text("#cell-head .cell-line")
    assert page.page.evaluate("document.activeElement.id") == "cell-head"
    label = page.page.locator("#map-grid td[aria-selected='true']").get_attribute("aria-label") or ""
    assert opened_name.startswith(label.split(":")[0])


def test_the_maps_headings_are_the_same_in_any_number_of_bands(opened: Opening, small_page: Path) -> None:
    wide, narrow = opened(small_page).page, opened(small_page, width=320).page
    assert (wide.locator("#map-grid table").count(), narrow.locator("#map-grid table").count()) == (1, 2)
    whole, parted = (set(page.locator("#map-grid th.group").all_inner_texts()) for page in (wide, narrow))
    assert len(whole) > 1
    assert parted == whole
    assert not any(text.startswith("grid:") for text in whole), "there is one grid; nothing to be told apart"


def test_the_map_shows_result_and_interval_on_hover(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    page.page.locator("#map-grid td[aria-label^='reads on pair:']").hover()
    assert re.search(r"reads on pair .*IOPS \(.*….*\) ✓ sound, 75% of the best", page.text("#tip"))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_serious(opened: Opening, small_page: Path, theme: str, width: int) -> None:
    page = opened(small_page, theme=theme, width=width)
    _all_drawn(page)
    page.page.locator("details").evaluate_all("all => all.forEach(it => { it.open = true; })")
    assert _serious(page) == []


@pytest.mark.slow
def test_axe_finds_nothing_serious_in_648_cells(opened: Opening, large_page: Path) -> None:
    page = opened(large_page)
    _all_drawn(page)
    assert _serious(page) == []


@pytest.mark.parametrize("which", ["small", pytest.param("large", marks=pytest.mark.slow)])
@pytest.mark.parametrize("width", [360, 700, 1500])
def test_nothing_is_wider_than_the_page(
    opened: Opening, which: str, width: int, request: pytest.FixtureRequest
) -> None:
    page = opened(request.getfixturevalue(f"{which}_page"), width=width)
    _all_drawn(page)
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_printed_page_has_no_controls(opened: Opening, small_page: Path) -> None:
    page = opened(small_page)
    _all_drawn(page)
    page.page.emulate_media(media="print")
    assert not page.page.locator("nav").is_visible()
    assert not page.page.locator("#theme").is_visible()
    assert page.page.locator("#flow svg").is_visible()
    assert len(page.page.pdf()) > 10_000


def test_markup_in_a_run_stays_text(opened: Opening, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=window.evil=1><script>window.evil=2</script>"
    trials = [
        replace(each, findings=tuple(replace(found, message=evil, fix=evil) for found in each.findings))
        for each in all_trials("refuted")
    ]
    run = make_run(tmp_path / "run", trials, campaign=CAMPAIGN.replace("Which of the two?", f"'{evil}'"))
    write_report(run, run / "report.html")
    page = opened(run / "report.html")
    _all_drawn(page)
    assert page.page.evaluate("window.evil === undefined")
    assert page.text("h1") == evil
    assert evil in page.text("#cell-findings")


@pytest.mark.parametrize("kind", ["empty", "going on", "one trial", "all refuted", "no files", "long names"])
def test_an_incomplete_run_has_a_page(opened: Opening, kind: str, tmp_path: Path) -> None:
    long = "x" * 100
    trials = {
        "empty": [],
        "going on": all_trials()[:3],
        "one trial": all_trials(trials=1),
        "all refuted": all_trials("refuted"),
        "long names": [replace(each, layout=long) if each.layout == "one" else each for each in all_trials()],
    }.get(kind, all_trials())
    campaign = CAMPAIGN.replace("one: a | ext4", f"{long}: a | ext4") if kind == "long names" else CAMPAIGN
    run = make_run(tmp_path / "run", trials, campaign=campaign, samples=kind != "no files")
    write_report(run, run / "report.html")
    page = opened(run / "report.html", width=800)
    assert page.text("#answer .sentence")
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if kind != "empty":
        page.chart("layouts-chart")
        assert page.text("#cell-head .cell-line")


@pytest.mark.slow
def test_names_of_layouts_are_not_broken_up_on_a_narrow_page(opened: Opening, large_page: Path) -> None:
    page = opened(large_page, width=390)
    heads = page.page.locator("table.map tbody th")
    heights = heads.evaluate_all("all => all.map(it => it.getClientRects()[0].height)")
    line = float(heads.first.evaluate("it => parseFloat(getComputedStyle(it).lineHeight)"))
    assert heights and max(heights) < 4 * line


def test_a_finding_on_another_metric_names_it(opened: Opening, tmp_path: Path) -> None:
    trials = [replace(each, verdict="sound", verdicts={"p99": "refuted"}) for each in all_trials("refuted")]
    run = make_run(tmp_path / "run", trials)
    write_report(run, run / "report.html")
    page = opened(run / "report.html")
    assert "sound" in page.text("#cell-head")
    assert "p99 latency: ✗ refuted" in page.text("#cell-findings")
    assert "refutes p99 latency: 50 MiB went missing" in page.text("#cell-findings")


def test_words_between_backticks_are_code(opened: Opening, tmp_path: Path) -> None:
    trials = [
        replace(each, findings=tuple(replace(found, message="a `word` and <b>`more`</b>") for found in each.findings))
        for each in all_trials("refuted")
    ]
    run = make_run(tmp_path / "run", trials)
    write_report(run, run / "report.html")
    page = opened(run / "report.html")
    for place in ("#cell-findings", "#findings .finding >> nth=0"):
        assert "a word and <b>more</b>" in page.text(place)
        assert {"word", "more"} <= set(page.page.locator(f"{place} >> code").all_inner_texts())
