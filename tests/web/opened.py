"""A page in the browser, with its console messages and its requests."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Locator, Page

_LIMIT_MS = 60_000


@dataclass
class Opened:
    """An opened page.

    `complaints`: errors and warnings on the console, and exceptions.
    `requests`: everything that was requested apart from the page itself.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def chart(self, name: str) -> Locator:
        """Return a chart after it has been drawn as last requested."""
        holder = self.page.locator(f"#{name}")
        holder.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "id => { const it = document.getElementById(id);"
            " return it.dataset.stale === 'no' && it.dataset.ready === String(it.turn); }",
            arg=name,
        )
        return holder

    def open_cell(self, layout: str, workload: str) -> None:
        """Click on a cell in the results map."""
        self.page.locator(f"#map-grid td[aria-label^='{workload} on {layout}:']").click()

    def text(self, selector: str) -> str:
        """Return the visible text of an element. Runs of white space become single spaces."""
        return re.sub(r"\s+", " ", self.page.locator(selector).inner_text()).strip()


def open_page(
    browser: Browser,
    path: Path,
    *,
    width: int = 1200,
    theme: Literal["light", "dark"] = "light",
    fragment: str = "",
) -> Opened:
    """Open a page from a file, and wait until it is loaded and drawn."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    context.set_default_timeout(_LIMIT_MS)
    opened = Opened(context.new_page())
    own = path.resolve().as_uri()
    page = opened.page
    page.on(
        "console", lambda said: opened.complaints.append(f"{said.type}: {said.text}") if said.type != "log" else None
    )
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: (
            opened.requests.append(asked.url) if asked.url.split("#")[0] != own and asked.url[:5] != "data:" else None
        ),
    )
    page.goto(f"{own}{fragment}")
    page.wait_for_selector("html[data-theme]")
    return opened
