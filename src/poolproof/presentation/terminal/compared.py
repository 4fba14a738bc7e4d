"""Print a comparison: differences between the runs, each cell's conclusion and confidence interval, excluded cells."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from poolproof.campaign.cell_key import CellKey
from poolproof.errors import as_word
from poolproof.metrics import metric_of
from poolproof.presentation.terminal.blocks import QUIET, add_heading, indented, named_table, print_fitted
from poolproof.presentation.terminal.words import (
    MARKS,
    emulated_legend,
    emulated_mark,
    per_cent_whole,
    range_text,
    some_of,
    speed_text,
    value_text,
)
from poolproof.results.compare.cell_comparison import ComparedCell, Comparison, Gate, Side
from poolproof.results.compare.earlier_runs import RunVariance
from poolproof.results.compare.measured import Measured, in_groups
from poolproof.results.compare.run_differences import RunDifference
from poolproof.results.runs.in_place import MARGIN
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.resumes import resumes_text
from poolproof.statistics.comparison import CORRECTION, TEST, WORDS, Word
from poolproof.units import format_number_of

_STYLES: dict[Word, str] = {"faster": "green", "slower": "red", "same": "default", "undecided": "yellow"}
_MOST_PLACES = 6


def holds_for(*runs: LoadedRun, variance: RunVariance) -> str:
    """Return sentences about the scope of an answer from these runs: the machine, builds and days for which it holds.

    `variance`: which intervals include the between-run variance.
    """
    changes = dict.fromkeys(resumes_text(run.record, run.trials) for run in runs)
    return " ".join(filter(None, (_holds_for(*runs, variance=variance), *changes)))


def _holds_for(*runs: LoadedRun, variance: RunVariance) -> str:
    if imported := dict.fromkeys(str(run.path) for run in runs if run.record.imported):
        of = "" if all(run.record.imported for run in runs) else f" of {' and '.join(imported)}"
        return f"The results{of} were imported, so it is unknown to which machine, builds and days they apply."
    hosts = dict.fromkeys(run.record.shown_host for run in runs)
    machines = " and ".join(hosts)
    if variance.runs:
        return f"This applies to {machines}. {run_variance_text('all intervals', variance)}"
    days = "the day of the run" if len({run.path for run in runs}) == 1 else "the days of the runs"
    if all(run.by_build for run in runs):
        builds = "Layouts were built several times, and the intervals account for the differences between builds."
        return f"This applies to {machines} and {days}. {builds} How much results differ between days was not measured."
    unknown = "How much results differ between builds and between days was not measured"
    return (
        f"This applies to {machines}, this build of each layout and {days}. {unknown} (`builds: 4` in `measure` "
        "measures several builds)."
    )


def run_variance_text(what: str, variance: RunVariance) -> str:
    """Return sentences saying that the between-run variance is included, but not for rates or for percentiles.

    `what`: what includes it, such as `all intervals`.
    """
    runs, unknown = format_number_of(variance.runs, "earlier run"), "".join(variance.unknown)
    text = f"{what} include the variance between runs, estimated from {runs} on the same machine."
    if unknown:
        return f"Except for {unknown}, {text} The earlier runs have too few {unknown} to estimate it."
    return f"{text[0].upper()}{text[1:]}"


def units_of(*runs: LoadedRun) -> str:
    """Return the unit that counts as one sample in a comparison of these runs: `trials` or `builds`."""
    return "builds" if all(run.by_build for run in runs) else "trials"


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print how the two runs differ, followed by the comparison of their cells."""
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        console.print(f"{name}  {_side(side)}", markup=False, soft_wrap=True)
    console.print()
    if comparison.is_of_same_trials:
        console.print("A and B contain the same trials, so this comparison does not show any change.\n")
    else:
        _print_differences(console, comparison.run_differences)
    if comparison.cells:
        print_fitted(console, _table(comparison))
    for line in _below(comparison):
        console.print(line)


def word_text(word: Word, effect: float) -> str:
    """Format a comparison's conclusion. For `same`, add the largest difference that still counts as the same."""
    return f"same within {per_cent_whole(effect)}" if word == "same" else word


def figure_text(each: Measured) -> str:
    """Format a value, followed by the symbol of its verdict unless that is `sound`.

    If the rate changed by an unknown amount, return `not converged` instead.
    """
    if each.unsteady:
        return "not converged"
    mark = "" if each.verdict == "sound" else f" {MARKS[each.verdict]}"
    return value_text(each.figure.mean, each.metric) + emulated_mark(each.cell) + mark


def marks_text(cells: Iterable[Measured]) -> str | None:
    """Return a legend for the verdict symbols shown with these cells' values, or None if no symbol is shown."""
    verdicts = dict.fromkeys(each.verdict for each in cells if each.verdict != "sound")
    return ", ".join(f"{MARKS[verdict]} {verdict}" for verdict in verdicts) or None


def means_text(cells: Iterable[Measured]) -> str | None:
    """Return a note if one of these results looks different in the results table, otherwise None."""
    for each in cells:
        in_table = each.cell.interval(each.metric)
        if in_table is not None and value_text(in_table.mean, each.metric) != value_text(each.figure.mean, each.metric):
            return "the results are geometric means of the trials; the results table shows arithmetic means"
    return None


def changing_lines(changing: Mapping[str, Iterable[str]]) -> Iterator[Text]:
    """Yield sentences listing the cells or layouts whose rate changes during trials, grouped by kind of change."""
    tenths = "so the test uses the slowest or fastest tenth of any trial"
    reasons = {name: ", ".join(how) for name, how in changing.items() if how}
    yield from map(Text, in_groups((name, f"the rate changes ({why}), {tenths}") for name, why in reasons.items()))


def remark_lines(remarks: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Text]:
    """Yield the remarks as lines. Equal remarks on several cells share a line."""
    yield from map(Text, in_groups((name, remark) for name, found in remarks for remark in found))


def _side(side: Side) -> str:
    return str(side.run.path) if side.layout is None else f"{side.run.path}, {side.layout}"


def _print_differences(console: Console, differences: Sequence[RunDifference]) -> None:
    if not differences:
        console.print("No recorded difference in machine, versions or campaign.\n")
        return
    console.print("differences:", style="bold")
    table = named_table()
    for name in ("A", "B"):
        table.add_column(name, overflow="fold")
    for each in differences:
        table.add_row(*map(Text, (f"  {each.what}", each.a, each.b)))
    console.print(table)
    console.print()


def _table(comparison: Comparison) -> Table:
    table = named_table(right=["A", "B"], left=["B is", "speed of B"])
    for workload in dict.fromkeys(cell.key.workload for cell in comparison.cells):
        own = [cell for cell in comparison.cells if cell.key.workload == workload]
        heading = f"{workload}, {metric_of(own[0].a.metric).title}"
        if not own[0].key.layout and len(own) == 1:
            table.add_row(Text(heading), *_row(own[0], comparison.effect))
            continue
        add_heading(table, heading)
        for cell in own:
            table.add_row(Text(f"  {cell.key.layout_in_state or cell.key.state}"), *_row(cell, comparison.effect))
    return table


def _row(cell: ComparedCell, effect: float) -> tuple[Text, ...]:
    word = cell.decision.word
    return (
        Text(figure_text(cell.a)),
        Text(figure_text(cell.b)),
        Text(word_text(word, effect), style=_STYLES[word]),
        Text("" if _untested(cell) else speed_text(cell.difference.interval)),
    )


def _untested(cell: ComparedCell) -> str:
    """Return the reason why the cell can't be tested, naming the run concerned, or an empty string if it can."""
    whys = [(side, each.untested) for side, each in (("A", cell.a), ("B", cell.b)) if each.untested]
    if len({why for _, why in whys}) == 1:
        return whys[0][1]
    return "; ".join(f"in {side}, {why}" for side, why in whys)


def _below(comparison: Comparison) -> Iterator[RenderableType]:
    cells = comparison.cells
    counts = Counter(cell.decision.word for cell in cells)
    words = ", ".join(f"{counts[word]} {word_text(word, comparison.effect)}" for word in WORDS if counts[word])
    count = f"{format_number_of(len(cells), 'cell')}: {words}"
    yield Text(f"\n{count if cells else 'no cell has comparable results in A and B'}", style="bold")
    yield from _notes(comparison)
    if comparison.left_out:
        yield Text("\nleft out:", style="bold")
    for left in comparison.left_out:
        yield indented(f"{left.key}: {left.why}")
    for name, places in (("A", comparison.only_a), ("B", comparison.only_b)):
        if places:
            yield Text(f"only in {name}: {_places(places)}")
    if comparison.gate is not None:
        yield from _gate(comparison.gate, len(cells))
    runs = (comparison.a.run, comparison.b.run)
    yield from _repeat(cells, units_of(*runs), holds_for(*runs, variance=comparison.run_variance))
    units = f"{units_of(*runs)} as units"
    if all(cell.difference.error is None for cell in cells):
        return  # nothing was tested
    if len(cells) == 1:
        yield Text(f"\nWith 95% confidence, the conclusion is correct ({TEST}, {units}).", style=QUIET)
    else:
        method = f"{TEST}, {units}, {CORRECTION}"
        text = f"\nWith 95% confidence, all conclusions are correct ({method}). "
        yield Text(text + "Each interval is the 95% interval of its cell alone.", style=QUIET)


def _repeat(cells: Sequence[ComparedCell], units: str, holds: str) -> Iterator[Text]:
    """Yield a sentence that predicts the differences if both runs were repeated, and one about the answer's scope."""
    tested = [cell for cell in cells if cell.difference.error is not None]
    ranges = [f"{cell.key} {range_text(cell.difference.repeated)}" for cell in tested]
    shown = some_of(ranges, _MOST_PLACES, "; ", "; and {} more, see --json")
    if tested:
        interval = "interval" if len(ranges) == 1 else "intervals"
        text = f"\n95% prediction {interval} for a repeat with the same number of {units}: {shown}"
        yield Text(text, style=QUIET)
    if cells:
        yield Text(holds if tested else f"\n{holds}", style=QUIET)


def in_place_text(names: str) -> str:
    """Return a note about layouts that were converted into one another in place."""
    text = (
        f"{names} were converted into each other in place, so the second was measured later, on an older file system."
    )
    margin = per_cent_whole(MARGIN)
    return f"{text} In tests, equal layouts differed by up to {margin}, so the intervals are widened by {margin}."


def _show(comparison: Comparison) -> str:
    paths = {side.run.path for side in (comparison.a, comparison.b)}
    return f"see poolproof show {'RUN' if len(paths) > 1 else as_word(paths.pop())}"


def _notes(comparison: Comparison) -> Iterator[Text]:
    cells = comparison.cells
    if comparison.in_place:
        yield Text(in_place_text("A and B"))
    for line in in_groups((str(cell.key), _untested(cell)) for cell in cells if _untested(cell)):
        yield Text(f"not tested: {line}; {_show(comparison)}")
    sides = [(cell.key, name, side) for cell in cells for name, side in (("A", cell.a), ("B", cell.b))]
    yield from remark_lines((f"{key} in {name}", side.remarks) for key, name, side in sides)
    yield from changing_lines({str(cell.key): dict.fromkeys((*cell.a.changing, *cell.b.changing)) for cell in cells})
    for by_build, what, more in ((False, "trial", "--trials 3"), (True, "build", "`builds: 3`")):
        open_cells = (cell for cell in cells if cell.difference.error is None and not _untested(cell))
        alone = [cell.key for cell in open_cells if (cell.a.cell.by_build or cell.b.cell.by_build) is by_build]
        if alone:
            why = f"no interval, because A or B has a single {what}"
            yield Text(f"{why}: {_places(alone)}; measure with {more} or more")
    shown = [side for cell in cells for side in (cell.a, cell.b)]
    if marks := marks_text(shown):
        yield Text(f"{marks}: {_show(comparison)}")
    if means := means_text(shown):
        yield Text(means)
    if legend := emulated_legend(side.cell for side in shown):
        yield Text(legend)


def _gate(gate: Gate, cells: int) -> Iterator[RenderableType]:
    limit = per_cent_whole(gate.limit)
    if gate.passed:
        yield Text(f"\npassed: no cell is significantly slower by more than {limit}", style="bold green")
    else:
        yield Text(f"\nfailed: --fail-if-slower {limit}", style="bold red")
    for cell in gate.slower:
        yield indented(f"{cell.key} is slower: {speed_text(cell.difference.interval)}")
    for left in gate.lost:
        yield indented(f"{left.key} has no result to compare: {left.why}")
    if gate.open:
        longer = " and longer" if any(map(_untested, gate.open)) else ""
        yield indented(
            f"in {len(gate.open)} of {format_number_of(cells, 'cell')}, the trials do not rule out a slowdown of more "
            f"than {limit}: {_places([cell.key for cell in gate.open])}; run more{longer} trials to find out"
        )


def _places(places: Sequence[CellKey]) -> str:
    return some_of([str(place) for place in places], _MOST_PLACES)
