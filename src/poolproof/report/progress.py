"""Progress in a terminal: cells done, time left, the step, fio's live rate beside the disks'."""

import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from poolproof.measure.events import Listener, LiveRates
from poolproof.report.words import MARKS, STYLES, trial_text
from poolproof.runs.model import Trial
from poolproof.units import format_duration, format_rate


class LiveScreen(Listener):
    """A few lines at the bottom of the terminal that follow the run; finished trials scroll by above them."""

    wants_live = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 0
        self._done = 0
        self._done_here = 0
        self._begun = time.monotonic()
        self._where = ""
        self._step = "prepare"
        self._rates: LiveRates | None = None
        # Live asks for the first picture at once, so it comes last.
        self._live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def __enter__(self) -> "LiveScreen":
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def refresh(self) -> None:
        """Draw now, not at the next quarter of a second."""
        self._live.refresh()

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        self._total, self._done = trials_to_do + trials_done, trials_done
        self._begun = time.monotonic()

    def layout_begins(self, layout: str, trials_to_do: int) -> None:  # noqa: ARG002 - the screen counts by itself
        self._where = layout

    def trial_added(self, layout: str, workload: str) -> None:  # noqa: ARG002 - the count is all
        self._total += 1

    def step(self, title: str) -> None:
        self._step = title

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        self._where = f"{layout} · {workload} #{number}"

    def live(self, rates: LiveRates) -> None:
        self._rates = rates

    def trial_ends(self, trial: Trial) -> None:
        self._done += 1
        self._done_here += 1
        self._rates = None
        line = Text(f"{MARKS[trial.verdict]} {trial.verdict:8} ", style=STYLES[trial.verdict])
        line.append(f"{trial.layout} · {trial.workload} #{trial.number}: {trial_text(trial)}", style="default")
        if trial.verdict != "sound" and trial.findings:
            line.append(f"  {trial.findings[0].rule}", style="bright_black")
        self._console.print(line)

    def warning(self, message: str) -> None:
        self._console.print(Text(f"warning: {message}", style="yellow"))

    def _render(self) -> Group:
        top = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(1, self._total), completed=self._done, width=40)
        top.add_row(bar, f"{self._done} of {self._total} trials{self._left()}")
        return Group(top, Text(f"{self._where}: {self._step}", style="bold"), self._rate_line())

    def _rate_line(self) -> Text:
        rates = self._rates
        if rates is None or self._step != "measure":
            return Text("")
        fio = "…" if rates.fio_bytes_per_s is None else format_rate(rates.fio_bytes_per_s)
        return Text(f"fio says {fio:>10}   the disks say {format_rate(rates.leaf_bytes_per_s):>10}")

    def _left(self) -> str:
        if not self._done_here:
            return ""
        left_s = (time.monotonic() - self._begun) / self._done_here * (self._total - self._done)
        return f", about {format_duration(left_s)} left"
