"""Measure `poolproof report` for 648 cells: its time, its size, and when the page can be used.

Compare it with fio-plot.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import fio_plot
from benchmarks.generated_run import make_run
from benchmarks.result import Result

_TRIES = 3
_BUILD_LIMIT_S = 10.0
_SIZE_LIMIT_MB = 3.0
_USABLE_LIMIT_S = 2.0
_TIME_LIMIT_S = 120
_CELLS = 648
_PEER_GRAPHS = 24
"""The number of graphs that fio-plot draws.

Each takes a separate process, so drawing one for each cell would take too long.
"""


def measure() -> Iterator[Result]:
    """Yield times, each the shortest of several, because other work on the machine lengthens them.

    The first report also fills the cache of Vega's script.
    """
    folder = Path(tempfile.mkdtemp(prefix="bench-report-", dir="/var/tmp"))
    try:
        run = make_run(folder / "run")
        page = run / "report.html"
        costs = [_build(run) for _ in range(_TRIES)]
        seconds, busy_s = min(costs)
        peer = fio_plot.drawn(_PEER_GRAPHS)
        beside = peer.words(_CELLS) if peer else "no fio-plot here"
        detail = f"{_CELLS} cells, 1,944 trials, {busy_s:.1f} s of the processors; {beside}"
        yield Result("a report of 648 cells", seconds, _BUILD_LIMIT_S, " s", detail)
        yield Result("its size", page.stat().st_size / 1e6, _SIZE_LIMIT_MB, " MB", "one file, Vega's 0.9 MB in it")
        usable = min(_usable_s(page) for _ in range(_TRIES))
        yield Result(
            "until it can be used", usable, _USABLE_LIMIT_S, " s", "from opening the file to map and flow drawn"
        )
    finally:
        shutil.rmtree(folder)


def _build(run: Path) -> tuple[float, float]:
    """Return the wall time and the processor time of one report, in seconds."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    argv = [str(Path(sys.executable).with_name("poolproof")), "report", str(run)]
    subprocess.run(argv, capture_output=True, check=True, timeout=_TIME_LIMIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begun, busy_s


def _usable_s(page: Path) -> float:
    """Return the time, in seconds, after which the page can be used in a browser that is already running."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        opened = browser.new_page()
        begun = time.monotonic()
        opened.goto(page.as_uri())
        opened.wait_for_selector("html[data-ready=yes]")
        taken = time.monotonic() - begun
        browser.close()
    return taken
