"""The live screen as a picture: progress, map, present step, both rates, last findings, cut to the terminal's size."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.text import Text

from poolproof.measure.events import LiveRates
from poolproof.presentation.terminal.live_map import counts_line, map_lines
from poolproof.presentation.terminal.live_state import LiveState, News
from poolproof.presentation.terminal.short_names import cut, place
from poolproof.presentation.terminal.sparkline import sparkline
from poolproof.presentation.terminal.time_left import whole_seconds
from poolproof.presentation.terminal.words import MARKS, STYLES, trial_text
from poolproof.units import format_rate

_QUIET = "bright_black"
_BAR = ("━", "─")
_SIDE_BY_SIDE = 60
_RATE_WIDTH = 11
_FEWEST_NEWS = 2
_NEWS_IF_ROOMY = 5
_LOWEST_WITH_MAP = 11
_ROOMY = 20


def screen_lines(state: LiveState, hint: str, width: int, height: int) -> list[Text]:
    """At most so many lines, none longer than so many cells; what matters least goes first.

    `hint` says in the first line how to end.
    """
    head = [_title(state, hint, width), _progress(state, width)]
    now = [_step(state, width), *_rates(state, width)]
    if height < _LOWEST_WITH_MAP:
        lines = [*head, *now, *_news(state, width, height - len(head) - len(now))]
    else:
        lines = _whole(state, head, now, width, height)
    return [_fitted(line, width) for line in lines[:height]]


def _whole(state: LiveState, head: list[Text], now: list[Text], width: int, height: int) -> list[Text]:
    """Map and findings share what the rest leaves: some lines are the findings', and all that the map leaves."""
    roomy = height >= _ROOMY
    blank = [Text()] if roomy else []
    rest = height - len(head) - len(now) - 3 * len(blank) - 1  # 1: the counts below the map
    found = map_lines(state, width, max(3, rest - (_NEWS_IF_ROOMY if roomy else _FEWEST_NEWS)))
    news = _news(state, width, rest - len(found))
    return [*head, *blank, *found, counts_line(state), *blank, *now, *blank, *news]


def _title(state: LiveState, hint: str, width: int) -> Text:
    room = width - cell_len(hint) - 2
    if room < 10:
        return Text(state.title, style="bold")
    title = Text(state.title, style="bold")
    title.truncate(room, overflow="ellipsis")
    return title.append(" " * (width - title.cell_len - cell_len(hint))).append(hint, style=_QUIET)


def _progress(state: LiveState, width: int) -> Text:
    done, total = state.done, state.total
    words = f"{done} of {total} trials{_left(state)}"
    room = min(40, width - len(words) - 1)
    if room < 5:
        return Text(words)
    filled = room * done // total if total else room
    bar = Text(_BAR[0] * filled, style="green").append(_BAR[1] * (room - filled), style=_QUIET)
    return bar.append(f" {words}", style="default")


def _left(state: LiveState) -> str:
    left_s = state.left_s()
    if left_s is None or state.done >= state.total:
        return ""
    return f", about {whole_seconds(left_s)} left"


def _step(state: LiveState, width: int) -> Text:
    where = place(*state.at, width) if state.at else cut(state.layout, width // 2)
    line = Text(f"{where}: " if where else "", style="bold").append(state.words, style="default")
    return line.append(f", {whole_seconds(state.step_s)}", style=_QUIET)


def _rates(state: LiveState, width: int) -> list[Text]:
    """Both rates to one scale, so that what the one has and the other has not can be seen."""
    rates = list(state.rates)
    values = [rate for each in rates for rate in (each.fio_bytes_per_s, each.leaf_bytes_per_s) if rate is not None]
    top = max(values, default=0.0)
    if width < _SIDE_BY_SIDE:
        room = width - 6 - _RATE_WIDTH
        return [_rate("fio", rates, _of_fio, room, top), _rate("disks", rates, _of_disks, room, top)]
    room = (width - 3) // 2 - 6 - _RATE_WIDTH
    line = _rate("fio", rates, _of_fio, room, top).append("   ")
    line.append_text(_rate("disks", rates, _of_disks, room, top))
    return [line, _legend(state, width)]


def _legend(state: LiveState, width: int) -> Text:
    if not state.rates_of:
        return Text()
    if state.rates_of == state.at:
        return Text("bytes per second, both to one scale", style=_QUIET)
    return Text(f"bytes per second, both to one scale, of {place(*state.rates_of, width - 40)}", style=_QUIET)


def _of_fio(rates: LiveRates) -> float | None:
    return rates.fio_bytes_per_s


def _of_disks(rates: LiveRates) -> float | None:
    return rates.leaf_bytes_per_s


def _rate(name: str, rates: list[LiveRates], of: Callable[[LiveRates], float | None], room: int, top: float) -> Text:
    values = [of(each) for each in rates]
    now = values[-1] if values else None
    line = Text(f"{name:6}", style="bold")
    line.append(f"{sparkline(values, room, top):<{max(0, room)}}", style="cyan")
    return line.append(f"{'…' if now is None else format_rate(now):>{_RATE_WIDTH}}", style="default")


def _news(state: LiveState, width: int, room: int) -> list[Text]:
    """The last trial, then the last findings, the newest first."""
    lines = [_last(state, width), *(_told(news, width) for news in reversed(list(state.news)))]
    if not state.news:
        lines.append(Text("nothing was found wrong so far", style=_QUIET))
    return lines[: max(0, room)]


def _last(state: LiveState, width: int) -> Text:
    trial = state.last
    if trial is None:
        return Text("no trial has ended yet", style=_QUIET)
    line = Text("last: ", style=_QUIET).append(f"{MARKS[trial.verdict]} {trial.verdict} ", style=STYLES[trial.verdict])
    where = place(trial.layout, trial.workload, trial.number, width)
    return line.append(f"{where}: {trial_text(trial)}", style="default")


def _told(news: News, width: int) -> Text:
    if news.verdict is None:
        return Text(f"! {news.text}", style="yellow")
    where = f"{place(*news.at, width)}: " if news.at else ""
    return Text(f"{MARKS[news.verdict]} ", style=STYLES[news.verdict]).append(where + news.text, style="default")


def _fitted(line: Text, width: int) -> Text:
    """One line of the terminal: no letter in it, whoever wrote it, that would move the cursor."""
    line.plain = "".join(letter if letter.isprintable() else " " for letter in line.plain)
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line
