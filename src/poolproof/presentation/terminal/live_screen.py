"""The live screen: progress, current activity, load and disk rates, recent findings, and layouts."""

import contextlib
import io
import sys
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from poolproof.campaign.cell_key import CellKey
from poolproof.presentation.terminal.blocks import QUIET
from poolproof.presentation.terminal.progress import RunProgress, whole_seconds
from poolproof.presentation.terminal.words import MARKS, STYLES, trial_text
from poolproof.results.runs.model import TrialKey
from poolproof.units import format_number_of, format_rate
from poolproof.verdicts import WORST_FIRST

_PENDING = "·"
_RUNNING = "▸"
_PER_SECOND = 2
_BARS = "▁▂▃▄▅▆▇█"
_BAR_WIDTH = 40
_RATE_WIDTH = 11
_SHOWN_NEWS = 4
_SHORTEST_NAME = 12
_SHORTEST_WITH_END = 8


@contextlib.contextmanager
def live_screen(console: Console, progress: RunProgress, hint: str = "") -> Iterator[Live]:
    """Show a run's progress on the terminal's alternate screen until the context ends.

    In the meantime, standard error is captured. It is printed after the terminal has been restored. The console must
    therefore write directly to the terminal and not to `sys.stderr`.

    `hint`: how to stop the run or the display.
    """
    live = Live(
        console=console,
        screen=True,
        refresh_per_second=_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
        get_renderable=lambda: screen(progress, hint, console.width, console.height),
    )
    captured, stderr = _Captured(progress), sys.stderr
    try:
        with contextlib.redirect_stderr(captured):
            live.start(refresh=True)
            try:
                yield live
            finally:
                with contextlib.suppress(OSError):  # the terminal may be gone
                    live.stop()
    finally:
        with contextlib.suppress(OSError, ValueError):
            for line in (*(f"warning: {each}" for each in progress.warnings), *captured.lines):
                print(line, file=stderr, flush=True)


class _Captured(io.StringIO):
    """Captures standard error while the screen is shown, and shows the last line as the current activity.

    `write` takes no lock, because signal handlers may also write to standard error.
    """

    def __init__(self, progress: RunProgress) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._progress = progress

    def write(self, text: str) -> int:
        found = [line for line in text.splitlines() if line.strip()]
        self.lines += found
        if found:
            self._progress.activity = found[-1]
        return len(text)


def screen(progress: RunProgress, hint: str, width: int, height: int) -> Group:
    """Return the screen's contents for a terminal of the given size: at most `height` lines, most important first."""
    title, bar = Table.grid(expand=True), Table.grid(padding=(0, 1))
    title.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    title.add_column(no_wrap=True, overflow="ellipsis", justify="right")
    title.add_row(_line(Text(progress.title, style="bold")), Text(hint, style=QUIET))
    bar.add_column(width=_BAR_WIDTH)
    bar.add_column(no_wrap=True, overflow="ellipsis")
    done = f"{progress.done} of {progress.total} trials{progress.left_text()}"
    bar.add_row(ProgressBar(max(1, progress.total), progress.done, width=_BAR_WIDTH), Text(done))
    head: list[RenderableType] = [title, bar, Text()]
    head += [_line(_activity(progress, width)), *map(_line, _rates(progress, width)), Text()]
    head += [*map(_line, _news(progress, width)), Text()]
    layouts = map(_line, _layouts(progress, width, height - len(head) - 1))
    return Group(*[*head, *layouts, _line(_counts(progress))][:height])


def _line(text: Text) -> Text:
    """Turn the text into a single line, replacing characters that would move the cursor with spaces."""
    text.plain = "".join(letter if letter.isprintable() else " " for letter in text.plain)
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _activity(progress: RunProgress, width: int) -> Text:
    place = _trial_name(progress.running, width) if progress.running else _short(progress.layout, width // 2)
    line = Text(f"{place}: " if place else "", style="bold").append(progress.activity, style="default")
    return line.append(f", {whole_seconds(progress.activity_s)}", style=QUIET)


def _rates(progress: RunProgress, width: int) -> Iterator[Text]:
    """Yield the rates of the load generator and of the disks, drawn on the same scale to make differences visible."""
    rates = list(progress.rates)
    fio, disks = [each.fio_bytes_per_s for each in rates], [each.leaf_bytes_per_s for each in rates]
    top = max((value for value in (*fio, *disks) if value is not None), default=0.0)
    for name, values in ((_short(progress.generators, 5), fio), ("disks", disks)):
        now = values[-1] if values else None
        line = Text(f"{name:6}", style="bold")
        line.append(f"{'…' if now is None else format_rate(now):<{_RATE_WIDTH}}", style="default")
        shown = values[-max(1, width - cell_len(line.plain)) :]
        line.append("".join(" " if value is None else _bar(value, top) for value in shown), style="cyan")
        yield line
    if progress.rates_of and progress.rates_of != progress.running:
        yield Text(f"rates of {_trial_name(progress.rates_of, width)}", style=QUIET)


def _bar(value: float, top: float) -> str:
    return _BARS[min(len(_BARS) - 1, int(max(0.0, value) / top * len(_BARS)))] if top > 0 else _BARS[0]


def _news(progress: RunProgress, width: int) -> Iterator[Text]:
    """Yield the last finished trial, then the latest findings and warnings, newest first."""
    if progress.trials:
        trial = progress.trials[-1]
        line = Text("last: ", style=QUIET)
        verdict = trial.result().verdict
        line.append(f"{MARKS[verdict]} {verdict} ", style=STYLES[verdict])
        yield line.append(f"{_trial_name(trial.key, width)}: {trial_text(trial)}", style="default")
    else:
        yield Text("no trial has finished yet", style=QUIET)
    for news in list(progress.news)[: -_SHOWN_NEWS - 1 : -1]:
        if news.trial is None:
            yield Text(f"! {news.text}", style="yellow")
        else:
            verdict, text = news.trial.result().verdict, f"{_trial_name(news.trial.key, width)}: {news.text}"
            yield Text(f"{MARKS[verdict]} ", style=STYLES[verdict]).append(text, style="default")


def _layouts(progress: RunProgress, width: int, room: int) -> Iterator[Text]:
    """Yield one line per layout with one symbol per workload.

    If there is not enough room for all layouts, show those around the layout that is being measured.
    """
    layouts = list(progress.rows)
    first, shown = 0, len(layouts)
    if len(layouts) > room:
        shown = max(1, room - 1)
        running = next((at for at, row in enumerate(progress.rows.values()) if row[0].layout == progress.layout), 0)
        first = min(max(0, running - shown // 2), len(layouts) - shown)
    label = min(max(map(cell_len, layouts), default=0), max(_SHORTEST_NAME, width // 4))
    for layout in layouts[first : first + shown]:
        row = progress.rows[layout]
        style = "bold" if row[0].layout == progress.layout else ""
        line = Text(set_cell_size(_short(layout, label), label) + " ", style=style)
        for cell in row:
            line.append(*_mark(progress, cell))
        yield line
    if shown < len(layouts):
        above = format_number_of(first, "more layout")
        yield Text(f"… {above} above, {len(layouts) - first - shown} below", style=QUIET)


def _mark(progress: RunProgress, cell: CellKey) -> tuple[str, str]:
    """Return the symbol for the cell's state and its style. For a cell that is not measured, the symbol is a space."""
    if progress.running is not None and progress.running.cell == cell:
        return _RUNNING, "bold cyan"
    worst = progress.worst(cell)
    if worst is not None:
        return MARKS[worst], STYLES[worst]
    return (_PENDING if progress.expected(cell) else " "), QUIET


def _counts(progress: RunProgress) -> Text:
    """Return a line with the number of cells per verdict, which also serves as a legend for the symbols."""
    cells = [cell for row in progress.rows.values() for cell in row]
    worst = [progress.worst(cell) for cell in cells if progress.expected(cell)]
    line = Text()
    for verdict in reversed(WORST_FIRST):
        if count := worst.count(verdict):
            line.append(f"{MARKS[verdict]} {count} {verdict}  ", style=STYLES[verdict])
    if pending := worst.count(None):
        line.append(f"{_PENDING} {pending} pending  ", style=QUIET)
    return line.append(f"{_RUNNING} running", style=QUIET) if progress.running else line


def _trial_name(trial: TrialKey, width: int) -> str:
    """Return the trial's name, shortened to about half the width of the screen."""
    each = max(_SHORTEST_NAME, width // 4)
    return f"{_short(trial.layout_in_state, each)} · {_short(trial.workload, each)} #{trial.number}"


def _short(name: str, width: int) -> str:
    """Shorten a name to `width` terminal columns, but keep its end, for example `a-long-…[bs=4k]`.

    The names of matrix cells differ only at the end.
    """
    if cell_len(name) <= width:
        return name
    if width < _SHORTEST_WITH_END:
        return set_cell_size(name, max(0, width - 1)) + "…" if width > 0 else ""
    end = chop_cells(name[::-1], (width - 1) // 2)[0][::-1]
    return set_cell_size(name, width - 1 - cell_len(end)) + "…" + end
