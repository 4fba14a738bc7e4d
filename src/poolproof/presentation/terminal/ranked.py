"""A ranking in words: places with ties, speed relative to the leader, and what each layout offers besides speed."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from poolproof.metrics import LOWER_IS_BETTER, metric_of
from poolproof.presentation.terminal.compared import CHANGING, figure_text, marks_text, word_text
from poolproof.presentation.terminal.words import factor_text, half_width_text, per_cent_whole
from poolproof.results.compare.measured import Measured
from poolproof.results.compare.ranking import Pair, Ranked, Ranking
from poolproof.results.compare.reasons import in_groups
from poolproof.units import format_size

_MOST_TIES = 6
_UNKNOWN = "–"
_WIDEST = 9.0


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the layouts in order, then the best, the cost of safety, the ties, and what was left out."""
    console.print(f"{_heading(ranking)}\n", style="bold", markup=False)
    console.print(_table(ranking))
    console.print()
    for line in _below(ranking):
        console.print(line)


def _heading(ranking: Ranking) -> str:
    only = ranking.goal.only
    if only is not None:
        metric = ranking.metrics[only]
        return f"{only}: {metric_of(metric).title}{', less is better' if metric in LOWER_IS_BETTER else ''}"
    parts = [
        f"{name} ({metric_of(ranking.metrics[name]).title}) {per_cent_whole(weight)}"
        for name, weight in ranking.goal.weights.items()
    ]
    return f"a mix: {', '.join(parts)}"


def _table(ranking: Ranking) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("place", no_wrap=True)
    table.add_column("layout", overflow="fold")
    only = ranking.goal.only
    if only is not None:
        table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("speed", no_wrap=True)
    for name in ("survives", "room", "written"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in ranking.ranked:
        table.add_row(*(Text(text) for text in _row(each, only)))
    return table


def _row(each: Ranked, only: str | None) -> Iterator[str]:
    yield str(each.first) if each.first == each.last else f"{each.first}–{each.last}"
    yield each.entry.layout
    if only is not None:
        yield f"{figure_text(each.entry.cells[only])}{_scatter(each.entry.cells[only])}"
    yield "" if each.to_leader is None or each.entry.unsteady else factor_text(each.to_leader.interval)
    safety = each.safety
    yield _UNKNOWN if safety.redundancy is None else f"{safety.redundancy} of {safety.devices}"
    yield _UNKNOWN if safety.capacity_bytes is None else format_size(safety.capacity_bytes)
    yield f"{safety.write_factor:.3g}×"


def _scatter(cell: Measured) -> str:
    """Return half the interval of a value, capped: two trials far apart give very large numbers."""
    if cell.unsteady:
        return ""
    half = cell.figure.half_width
    if half is not None and half > _WIDEST * cell.figure.mean:
        return f" ±>{per_cent_whole(_WIDEST)}"
    text = half_width_text(cell.figure)
    return f" ±{text}" if text else ""


def _below(ranking: Ranking) -> Iterator[Text | Padding]:
    yield Text(_best(ranking), style="bold")
    leader = ranking.ranked[0].entry.layout
    for each in ranking.safer:
        assert each.to_leader is not None, "the leader is not safer than itself"
        speed = factor_text(each.to_leader.interval)
        yield Text(f"cost of surviving {_disks(each)}: {speed} with {each.entry.layout} vs {leader}")
    yield from _unsettled(ranking)
    yield from _ties(ranking)
    marks = marks_text(cell for each in ranking.ranked for cell in each.entry.cells.values())
    if marks:
        yield Text(f"{marks}: see poolproof show {ranking.run.path}")
    if ranking.excluded:
        yield Text("\nleft out:", style="bold")
        for line in in_groups((excluded.layout, excluded.why) for excluded in ranking.excluded):
            yield Padding(Text(line), (0, 0, 0, 2), expand=False)
    yield Text(f"\n{_method(ranking)}", style="bright_black")


def _best(ranking: Ranking) -> str:
    names = [each.entry.layout for each in ranking.best]
    if len(names) == 1:
        return f"best: {names[0]}"
    return f"best: one of {', '.join(names)}; not significantly different"


def _disks(each: Ranked) -> str:
    count = each.safety.redundancy
    return "one disk failure" if count == 1 else f"{count} disk failures"


def _unsettled(ranking: Ranking) -> Iterator[Text]:
    """Yield the layouts that may have any place because their rate changes, and those tested at their extremes."""
    for each in ranking.ranked:
        whys = [(name, ", ".join(each.entry.cells[name].unsteady)) for name in each.entry.unsteady]
        if whys:
            said = whys[0][1] if ranking.goal.only is not None else "; ".join(in_groups(whys))
            yield Text(f"not tested, because the rate changes, so any place is possible: {each.entry.layout} ({said})")
    changing = {
        each.entry.layout: dict.fromkeys(name for cell in each.entry.cells.values() for name in cell.changing)
        for each in ranking.ranked
    }
    for line in in_groups((layout, ", ".join(names)) for layout, names in changing.items() if names):
        yield Text(f"{CHANGING}: {line}")


def _ties(ranking: Ranking) -> Iterator[Text]:
    unsettled = {each.entry.layout for each in ranking.ranked if each.entry.unsteady}
    ties = [pair for pair in ranking.pairs if pair.is_tie and not {pair.better, pair.worse} & unsettled]
    if not ties:
        return
    more = f"; and {len(ties) - _MOST_TIES} more, see --json" if len(ties) > _MOST_TIES else ""
    yield Text(f"ties: {'; '.join(_tie(pair, ranking.effect) for pair in ties[:_MOST_TIES])}{more}")


def _tie(pair: Pair, effect: float) -> str:
    why = "a single trial has no interval" if pair.difference.error is None else word_text(pair.decision.word, effect)
    return f"{pair.better} and {pair.worse} ({why})"


def _method(ranking: Ranking) -> str:
    effect = per_cent_whole(ranking.effect)
    columns = (
        "speed: relative to the first line. survives: disks that may fail. room: data that fits. "
        "written: bytes on disks per byte of data."
    )
    return (
        f"{columns} Two layouts differ if one is more than {effect} faster. All places are right together with 95% "
        "confidence (Welch's t-tests on logarithms between every two layouts, trials as units, corrected by Holm)."
    )
