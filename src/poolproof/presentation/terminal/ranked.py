"""Print a ranking: each layout's place, ties, speed, redundancy, capacity and write amplification."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from poolproof.errors import as_word
from poolproof.metrics import LOWER_IS_BETTER, metric_of
from poolproof.presentation.terminal import compared
from poolproof.presentation.terminal.blocks import QUIET, indented
from poolproof.presentation.terminal.words import (
    emulated_legend,
    half_width_text,
    per_cent_whole,
    range_text,
    some_of,
    speed_text,
    with_mark,
)
from poolproof.results.compare.earlier_runs import RunVariance
from poolproof.results.compare.measured import Measured, in_groups
from poolproof.results.compare.ranking import Ranked, Ranking, Safety
from poolproof.results.runs.few_events import TOO_FEW
from poolproof.statistics.comparison import CORRECTION, TEST, difference
from poolproof.statistics.intervals import Interval
from poolproof.units import format_list, format_number, format_size

_MOST_TIES = 6
_UNKNOWN = "–"
_WIDEST = 9.0
_LAYOUT_WIDTH = 16
"""The width at which longer layout names wrap in a narrow terminal."""
_SPEED_WIDTH = len("(4.55 … 12.5)")
"""The minimum width of the speed column. In a narrow terminal, a speed then wraps only before its interval."""
_COLUMNS = (
    "speed: relative to the first line. survives: number of disks that may fail. room: amount of data that fits. "
    "written: bytes written to the disks per byte of data."
)


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print the ranked layouts and what was found out about them, followed by an explanation of the columns and tests.

    Below the table are the best layout, the cost of redundancy, the ties, and the excluded layouts.
    """
    _print_ranking(console, ranking)
    console.print()
    console.print(_explanation(ranking))


def _print_ranking(console: Console, ranking: Ranking) -> None:
    titles = {name: metric_of(metric).title for name, metric in ranking.metrics.items()}
    only = ranking.goal.only
    if only is not None:
        heading = f"{only}: {titles[only]}{', lower is better' if ranking.metrics[only] in LOWER_IS_BETTER else ''}"
    else:
        parts = [f"{name} ({titles[name]}) {per_cent_whole(share)}" for name, share in ranking.goal.weights.items()]
        heading = f"a mix: {', '.join(parts)}"
    console.print(f"{heading}\n", style="bold", markup=False)
    console.print(_table(ranking))
    console.print()
    for line in _below(ranking):
        console.print(line)


def print_rankings(console: Console, rankings: Mapping[str, Ranking | str]) -> None:
    """Print a separate ranking for each workload of a campaign without a goal, and the explanation only once."""
    for name, each in rankings.items():
        if isinstance(each, str):
            console.print(f"{name}: {each}\n", markup=False)
        else:
            _print_ranking(console, each)
            console.print()
    ranked = [each for each in rankings.values() if isinstance(each, Ranking)]
    if ranked:
        variance = sum((each.run_variance for each in ranked), RunVariance())
        console.print(_explanation(replace(max(ranked, key=lambda each: len(each.ranked)), run_variance=variance)))
        console.print()
    names = ", ".join(f"--goal {name}" for name in list(rankings)[:2])
    text = f"The campaign has no goal, so each workload has its own ranking ({names} for only one, "
    console.print(Text(f"{text}--weights A=2,B=1 for a mix).", style=QUIET))


def _table(ranking: Ranking) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("place", no_wrap=True)
    only = ranking.goal.only
    longest = max(len(_layout(each, only)) for each in ranking.ranked)
    table.add_column("layout", overflow="fold", min_width=min(longest, _LAYOUT_WIDTH))
    if only is not None:
        table.add_column("result", justify="right", no_wrap=True)
    table.add_column("speed", min_width=_SPEED_WIDTH)
    for name in ("survives", "room", "written"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in ranking.ranked:
        table.add_row(*map(Text, _row(each, only)))
    return table


def _row(each: Ranked, only: str | None) -> Iterator[str]:
    yield str(each.first) if each.first == each.last else f"{each.first}–{each.last}"
    yield _layout(each, only)
    if only is not None:
        yield _figure_with_interval(each.entry.cells[only])
    yield "" if each.to_leader is None or each.entry.untested else speed_text(each.to_leader.interval)
    safety = each.safety
    yield _UNKNOWN if safety.redundancy is None else f"{safety.redundancy} of {safety.devices}"
    yield _UNKNOWN if safety.capacity_bytes is None else format_size(safety.capacity_bytes)
    yield f"{format_number(safety.write_factor, 3)}×"


def _layout(each: Ranked, only: str | None) -> str:
    """Return the layout's name. For a mix, which has no results that could show the verdict, the name has its mark."""
    return each.entry.layout if only is not None else with_mark(each.entry.layout, each.entry.verdict)


def _figure_with_interval(cell: Measured) -> str:
    """Format a value with half the width of its confidence interval.

    The width is capped, because the interval of two very different trials can be enormous.
    """
    half = cell.figure.half_width
    text = half_width_text(cell.figure)
    if half is not None and half > _WIDEST * cell.figure.mean:
        text = f">{per_cent_whole(_WIDEST)}"
    return f"{compared.figure_text(cell)} ±{text}" if text and not cell.untested else compared.figure_text(cell)


def _below(ranking: Ranking) -> Iterator[RenderableType]:
    yield Text(f"best: {_best_text(ranking)}", style="bold")
    if ranking.too_few:
        yield Text(f"{TOO_FEW}, so any of these may be better: {', '.join(ranking.too_few)}")
    leader = ranking.ranked[0].entry.layout
    for each in ranking.safer:
        assert each.to_leader is not None, "only layouts other than the leader are in this list"
        speed = speed_text(each.to_leader.interval)
        yield Text(f"cost of surviving {failures_text(each.safety)}: {speed} with {each.entry.layout} vs {leader}")
    untested: dict[str, list[str]] = {}
    for each in ranking.ranked:
        whys = [(name, each.entry.cells[name].untested) for name in each.entry.untested]
        if whys:
            why = whys[0][1] if ranking.goal.only is not None else "; ".join(in_groups(whys))
            untested.setdefault(why, []).append(each.entry.layout)
    for why, layouts in untested.items():
        ends = "is not tested, so it" if len(layouts) == 1 else "are not tested, so they"
        yield Text(f"{format_list(layouts)} {ends} may have any place: {why}")
    yield from compared.remark_lines(
        (str(cell.cell.key), cell.remarks) for each in ranking.ranked for cell in each.entry.cells.values()
    )
    yield from compared.changing_lines(
        {
            each.entry.layout: dict.fromkeys(name for cell in each.entry.cells.values() for name in cell.changing)
            for each in ranking.ranked
        }
    )
    yield from _ties(ranking)
    if ranking.in_place:
        yield Text(compared.in_place_text(", ".join(ranking.in_place)))
    shown = [cell for each in ranking.ranked for cell in each.entry.cells.values()]
    if marks := compared.marks_text(shown):
        yield Text(f"{marks}: see poolproof show {as_word(ranking.run.path)}")
    if means := compared.means_text(shown):
        yield Text(means)
    if legend := emulated_legend(cell.cell for cell in shown):
        yield Text(legend)
    if ranking.excluded:
        yield Text("\nleft out:", style="bold")
        yield from map(indented, in_groups((excluded.layout, excluded.why) for excluded in ranking.excluded))
    if ranking.goal.only is None and len(ranking.ranked) > 1:
        yield from _mix(ranking)
    yield from _repeat(ranking)


def _best_text(ranking: Ranking) -> str:
    """Name the layouts that may be the best. Only those that can be tested are called not significantly different."""
    best = [with_mark(each.entry.layout, each.entry.verdict) for each in ranking.best]
    tested = [each.entry.layout for each in ranking.best if not each.entry.untested]
    if not tested:
        return "unknown, because no layout can be tested"
    if len(best) == 1:
        return best[0]
    several = f"one of {', '.join(best)}"
    if sum(not each.entry.untested for each in ranking.ranked) == 1:
        return f"{several}; only {tested[0]} can be tested"
    if len(tested) == 1:
        return f"{several}; {tested[0]} is the best of the tested layouts"
    of = "" if len(tested) == len(best) else f"{', '.join(tested)} are "
    return f"{several}; {of}not significantly different"


def _explanation(ranking: Ranking) -> Text:
    """Explain the columns, the tests, and the scope of the conclusions."""
    effect = f"Two layouts differ if one is more than {per_cent_whole(ranking.effect)} faster."
    method = f"({TEST} for every pair of layouts, {compared.units_of(ranking.run)} as units, {CORRECTION})"
    all_places = "all places" if ranking.rankings == 1 else f"all places under the {ranking.rankings} workloads"
    text = f"{_COLUMNS} {effect} With 95% confidence, {all_places} are correct {method}."
    if len(ranking.ranked) > 2:
        alone = "Each speed has the 95% interval of its pair alone"
        text += f" {alone}; the leader was chosen on the basis of the same trials, so it may look faster than it is."
    return Text(f"{text} {compared.holds_for(ranking.run, variance=ranking.run_variance)}", style=QUIET)


def failures_text(safety: Safety) -> str:
    """Format the number of disk failures that the layout survives, for example `one disk failure`."""
    return "one disk failure" if safety.redundancy == 1 else f"{safety.redundancy} disk failures"


def _repeat(ranking: Ranking) -> Iterator[RenderableType]:
    """Yield a sentence that predicts the other layouts' speeds relative to the leader if the run were repeated."""
    leader = ranking.ranked[0].entry.layout
    tested = [(each.entry.layout, ranking.repeated(each)) for each in ranking.ranked if not each.entry.untested]
    known = [(name, repeated) for name, repeated in tested if repeated is not None]
    ranges = [f"{name} {range_text(interval)}" for name, interval in known]
    shown = some_of(ranges, _MOST_TIES, "; ", "; and {} more")
    if shown:
        units = compared.units_of(ranking.run)
        interval = "interval" if len(ranges) == 1 else "intervals"
        text = f"\n95% prediction {interval} for a repeat with the same number of {units}, relative to {leader}: "
        yield Text(f"{text}{shown}", style=QUIET)


def _mix(ranking: Ranking) -> Iterator[RenderableType]:
    """Yield a heading that explains how the speed of a mix is computed, then the ratios behind each layout's speed."""
    first, *others = [each.entry for each in ranking.ranked if not each.entry.untested] or [ranking.ranked[0].entry]
    if others:
        yield Text(f"\nspeed is the weighted geometric mean of these ratios to {first.layout}:", style="bold")
    for each in others:
        cells = each.cells
        apart = {name: difference(cells[name].log, first.cells[name].log).interval for name in cells}
        ratios = [f"{name} {speed_text(Interval(ratio.mean))}" for name, ratio in apart.items()]
        shown = some_of(ratios, _MOST_TIES, ", ", ", and {} more, see --json")
        yield indented(f"{each.layout}: {shown}")


def _ties(ranking: Ranking) -> Iterator[Text]:
    unsteady = {each.entry.layout for each in ranking.ranked if each.entry.untested}
    ties = [pair for pair in ranking.pairs if pair.is_tie and not {pair.better, pair.worse} & unsteady]
    names, unit = [], "build" if ranking.run.by_build else "trial"
    for pair in ties:
        word = compared.word_text(pair.decision.word, ranking.effect)
        why = f"a single {unit} has no interval" if pair.difference.error is None else word
        names.append(f"{pair.better} and {pair.worse} ({why})")
    if ties:
        yield Text(f"ties: {some_of(names, _MOST_TIES, '; ', '; and {} more, see --json')}")
