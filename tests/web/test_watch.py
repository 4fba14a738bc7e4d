"""`poolproof watch --web` in a real browser during a run: the map fills, the rates change, and the end is shown."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FrameLocator, Page, expect

from poolproof.measure.load_watch import RatePublisher
from poolproof.measure.model import Listener, LiveRates
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.model import Trial
from tests.unit.presentation.html_report.making import all_trials, make_run
from tests.unit.presentation.live.serving import Serving, going, serving

pytestmark = pytest.mark.timeout(900)  # the page pauses between two changes, for longer on a slower machine

_LIMIT_MS = 180_000
_DONE = 8


@dataclass
class Watching:
    """A run in progress, its web server, and a browser that shows it."""

    run: RunDirectory
    server: Serving
    page: Page
    ahead: list[Trial]
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def report(self) -> FrameLocator:
        """Return the page of the run that is currently visible."""
        return self.page.frame_locator("iframe:not(.coming)")

    def ends(self, count: int) -> None:
        """Finish the given number of further trials."""
        for _ in range(count):
            self.run.append(self.ahead.pop(0))

    def await_trials(self, count: int) -> None:
        expect(self.page.locator("#text")).to_contain_text(f"{count} of 12 trials")

    def await_cells(self, count: int) -> None:
        """Wait until the results map has the given number of filled cells."""
        expect(self.report.locator("#map-grid td[data-cell]")).to_have_count(count)


@pytest.fixture
def watching(browser: Browser, tmp_path: Path) -> Iterator[Watching]:
    trials = all_trials()
    path = make_run(tmp_path / "run", trials[:_DONE])
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(_LIMIT_MS)
    expect.set_options(timeout=_LIMIT_MS)
    with going(path) as run, serving(tmp_path, path) as server:
        made = Watching(run, server, context.new_page(), trials[_DONE:])
        page = made.page
        page.on("console", lambda said: made.complaints.append(said.text) if said.type != "log" else None)
        page.on("pageerror", lambda error: made.complaints.append(str(error)))
        page.on("request", lambda asked: made.requests.append(asked.url))
        page.goto(server.url)
        yield made
        context.close()
    origin = server.url.partition("?")[0]  # the address may have a token
    outside = [url for url in made.requests if not url.startswith((origin, "data:"))]
    assert (made.complaints, outside) == ([], [])


@pytest.mark.slow
def test_the_map_fills_during_the_run_and_the_end_is_shown(watching: Watching) -> None:
    watching.await_cells(4)
    watching.await_trials(_DONE)
    expect(watching.page.locator("#state")).to_have_text("running")
    watching.ends(2)
    watching.await_cells(5)
    watching.await_trials(10)
    assert watching.page.locator("#progress").evaluate("it => [it.value, it.max]") == [10, 12]
    watching.ends(2)
    watching.await_cells(6)
    (watching.run.path / ".lock").unlink()  # as if released: the locked file is not the run's any more
    expect(watching.page.locator("#state")).to_have_text("ended")
    expect(watching.page.locator("#text")).to_contain_text("The run has ended.")
    expect(watching.page.locator("#cells")).to_have_text("✓ 6 sound")


def test_both_rates_of_the_running_trial_are_shown(watching: Watching) -> None:
    watching.await_trials(_DONE)
    key = watching.ahead[0].key
    watching.run.trial_directory(key)
    teller = RatePublisher(Listener(), watching.run, key)
    assert teller.is_heard()
    for second in range(1, 6):
        teller.tell(LiveRates(float(second), 5e7 * second, 2e7 * second))
    expect(watching.page.locator("#rates-of")).to_have_text("now: pair · reads #1")
    expect(watching.page.locator("#fio-now")).to_have_text("250 MB/s")
    expect(watching.page.locator("#disks-now")).to_have_text("100 MB/s")
    heights = watching.page.locator("#fio rect, #disks rect").evaluate_all(
        "all => all.map(it => it.height.baseVal.value)"
    )
    assert heights == pytest.approx(
        [24 * step / 5 for step in (1, 2, 3, 4, 5)] + [24 * step / 12.5 for step in range(1, 6)]
    )


@pytest.mark.slow
def test_a_new_page_keeps_the_place_and_updates_can_be_paused(watching: Watching) -> None:
    watching.await_cells(4)
    watching.report.locator("#metric").select_option("p99")
    watching.report.locator("#theme").click()
    watching.report.locator("#findings").scroll_into_view_if_needed()
    before = watching.page.locator("iframe:not(.coming)").evaluate("it => it.contentWindow.scrollY")
    watching.page.locator("#hold").check()
    watching.ends(2)
    watching.await_trials(10)
    shown = watching.page.evaluate("document.documentElement.dataset.page")
    assert watching.report.locator("#map-grid td[data-cell]").count() == 4
    watching.page.locator("#hold").uncheck()
    watching.page.wait_for_function("shown => document.documentElement.dataset.page !== shown", arg=shown)
    watching.await_cells(5)
    assert watching.report.locator("#metric").input_value() == "p99"
    assert watching.report.locator("html").get_attribute("data-theme") == "dark"
    assert before > 0
    assert watching.page.locator("iframe:not(.coming)").evaluate("it => it.contentWindow.scrollY") > 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_around_the_page(watching: Watching, theme: Any) -> None:
    watching.page.emulate_media(color_scheme=theme)
    watching.await_cells(4)
    found: dict[str, Any] = Axe().run(watching.page).response
    assert not [each["id"] for each in found["violations"] if each["impact"] in ("serious", "critical")]


def test_a_stopped_server_is_reported(watching: Watching) -> None:
    watching.await_cells(4)
    watching.server.stop()
    expect(watching.page.locator("#state")).to_contain_text("has stopped or cannot be reached")
    watching.complaints.clear()  # the browser complains of the connection that it lost
