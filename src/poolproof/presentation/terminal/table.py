"""Print a run's results table: values, confidence intervals, verdicts and speeds, and the reasons for the verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from poolproof.campaign.cell_key import CellKey
from poolproof.metrics import METRICS, MetricId, metric_of
from poolproof.presentation.terminal.blocks import QUIET, add_heading, indented, named_table, print_fitted
from poolproof.presentation.terminal.compared import in_place_text
from poolproof.presentation.terminal.limited import share_text
from poolproof.presentation.terminal.visible import visible_line
from poolproof.presentation.terminal.words import (
    MARKS,
    STYLES,
    builds_text,
    emulated_legend,
    emulated_mark,
    groups_text,
    half_width_text,
    some_of,
    speed_text,
    value_text,
    which_is_better,
)
from poolproof.results.runs.baseline_speeds import speeds_to_baseline
from poolproof.results.runs.limit import Limit
from poolproof.results.runs.summary import Cell, OtherVerdict, Widening, unchanged
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.units import format_duration, format_number_of
from poolproof.verdicts import WORST_FIRST, has_values, worst

_TWO_GROUPS = "The mean describes neither group: something that changes between trials decides the result."
_APART = (
    "Each {0} is steady, but something that changes between {0}s shifts the result. The interval accounts for this "
    "shift."
)
_FIND_CAUSE = (
    "find what changes from one {} to the next: where files are stored, which disk of a mirror is read, what is cached."
)
_COUNT_GROUPS = (
    "run more trials to see how often each group occurs, then find the cause. For example, btrfs raid1 chooses the "
    "disk by process ID (use several processes: numjobs=4), a union reads from the branch that has the file, and a "
    "drive may have a cache."
)
_COUNT = "measure with poolproof run, which counts what the disks do (poolproof audit FILE prints the command)"

_MOST_NAMED = 3
_EXPLAINS = 65
"""The minimum weight at which a note is printed with its message, because it helps to explain a result."""


def print_table(
    console: Console,
    cells: Sequence[Cell],
    baseline: str | None,
    limits: Mapping[CellKey, Limit | str] = MappingProxyType({}),
    widened: Widening = unchanged,
) -> None:
    """Print a run's results, then explain the verdicts that are not `sound`.

    `limits`: each cell's limit, or the reason why it is unknown. If there are any, a column shows each result as a
    share of its limit.
    `widened`: a function that adds the between-run variance to the speeds relative to the baseline.
    """
    print_fitted(console, _table(cells, limits, baseline, speeds_to_baseline(cells, baseline, widened)))
    if legend := emulated_legend(cells):
        console.print(Text(f"\n{legend}"))
    for block in (
        *_builds(cells),
        *_in_place(cells, baseline),
        *_reasons(cells),
        *_few_events(cells),
        *_remarks(cells),
        *_not_converged(cells),
        *_disagreements(cells),
        *_notes(cells),
        *_others(cells),
    ):
        console.print(block)
    adaptive = [(cell, cell.settling) for cell in cells if cell.settling is not None]
    if adaptive:
        fio_s = sum(cell.seconds.get("fio", 0.0) for cell, _ in adaptive)
        rest_s = sum(sum(cell.seconds.values()) for cell, _ in adaptive) - fio_s
        fixed_s = sum(settling.fixed_s for _, settling in adaptive)
        spent = (
            f"the workloads ran for {format_duration(fio_s)}; dropping caches, watching the idle disks and draining "
        )
        spent += f"took {format_duration(rest_s)}; the minimum number of trials, each of maximum length, would have "
        spent += f"taken {format_duration(fixed_s)}"
        console.print(Text(f"\n{spent}"))


def _in_place(cells: Sequence[Cell], baseline: str | None) -> Iterator[RenderableType]:
    families = {cell.family for cell in cells if cell.layout == baseline} - {None}
    names = dict.fromkeys(cell.layout for cell in cells if cell.family in families)
    if len(names) > 1:
        yield Text(f"\n{in_place_text(', '.join(names))}")


def _place(cell: Cell) -> str:
    return visible_line(str(cell.key))


def _table(
    cells: Sequence[Cell],
    limits: Mapping[CellKey, Limit | str],
    baseline: str | None,
    speeds: Mapping[CellKey, Interval],
) -> Table:
    has_baseline = any(cell.layout == baseline for cell in cells)
    table = named_table(right=["result", "±"], left=["verdict"])
    if limits:
        table.add_column("of limit", justify="right", no_wrap=True)
    if has_baseline:
        table.add_column(Text(f"vs {baseline}"), no_wrap=True)
    by_workload: dict[str, list[Cell]] = {}
    for cell in cells:
        by_workload.setdefault(cell.workload, []).append(cell)
    for workload, own in by_workload.items():
        metric = own[0].metric
        note = Text(which_is_better(metric), style=QUIET)
        add_heading(table, f"{workload}, {metric_of(metric).title}", note)
        for cell in own:
            row = _row(cell)
            if limits:
                limit = limits.get(cell.key)
                row.append(Text(share_text(limit) if isinstance(limit, Limit) else ""))
            if has_baseline:
                speed = speeds.get(cell.key)
                row.append(Text(speed_text(speed) if speed else ""))
            table.add_row(*row)
    return table


def _row(cell: Cell) -> list[Text]:
    """Return the columns that every results table has. Results with the verdict `refuted` are in parentheses."""
    style, half = STYLES[cell.verdict], ""
    if cell.figure is None:
        value = "no result"
    elif cell.did_not_converge:
        value = "not converged"
    else:
        value, half = value_text(cell.figure.mean, cell.metric), half_width_text(cell.figure)
        half = "too few" if cell.few_events() is not None else half
        value = (f"({value})" if cell.verdict == "refuted" else value) + emulated_mark(cell)
    verdict = f"{MARKS[cell.verdict]} {cell.verdict}"
    return [
        Text(f"  {visible_line(cell.layout_in_state)}"),
        Text(value, style=style),
        Text(half),
        Text(verdict, style=style),
    ]


def _block(mark: str, style: str, title: str, *lines: RenderableType) -> RenderableType:
    heading = Text(f"\n{mark} {title}", style="bold")
    heading.stylize(style, 0, 2)
    return Group(heading, *lines)


def _point(name: str, text: str) -> RenderableType:
    return indented(Text(name, style="bold").append(text, style="default"))


def _fix(fix: str) -> RenderableType:
    return indented(Text("fix: ", style="cyan").append(fix, style="default"), by=4)


def _reasons(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield one block for each group of cells that are not sound for the same reasons.

    Only the workload's own metric and metrics that claims refer to are considered. Each block shows the messages for
    the group's first cell. If the group has several cells, the messages also name that cell's layout.
    """
    groups: dict[tuple[object, ...], list[tuple[Cell, OtherVerdict]]] = {}
    for cell in cells:
        for judged in (OtherVerdict((), cell.verdict, cell.reasons()), *cell.claimed_verdicts):
            # the table shows no other metrics, so another metric without evidence against it needs no line
            if judged.verdict != "sound" and (judged.reasons or not judged.metrics):
                rules = tuple(finding.rule for finding in judged.reasons)
                groups.setdefault((cell.workload, judged.metrics, judged.verdict, rules), []).append((cell, judged))
    for group in groups.values():
        cell, judged = group[0]
        lines = []
        where = f" on {visible_line(cell.layout_in_state)}" if len(group) > 1 else ""
        for finding in judged.reasons:
            lines += [_point(finding.rule, f"{where}: {finding.message}"), _fix(finding.fix)]
        if not lines and judged.verdict == "unproven":
            lines = [indented("no counters show what the disks did"), _fix(_COUNT)]
        metrics = ", ".join(metric_of(metric).title for metric in judged.metrics)
        title = (
            f"{visible_line(cell.workload)} on {', '.join(visible_line(each.layout_in_state) for each, _ in group)}: "
        )
        title += f"{metrics} {judged.verdict}" if metrics else judged.verdict
        yield _block(MARKS[judged.verdict], STYLES[judged.verdict], title, *lines)


def _builds(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield the number of builds if there are several, then each cell with fewer builds and the reason."""
    if not any(cell.by_build for cell in cells):
        return
    most = max(cell.builds for cell in cells)
    yield Text(
        f"\nEach result is the mean of {builds_text(cells)} of its layout. The intervals account for the "
        "differences between its builds."
    )
    for cell in cells:
        if cell.builds < most or cell.failed_builds is not None:
            found = f"{_place(cell)}: {format_number_of(cell.builds, 'build')}"
            why = "the others are not measured yet" if cell.failed_builds is None else cell.failed_builds.message
            yield indented(f"{found}; {why}")


def _not_converged(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield a block for each cell that has not converged, with the range of its trials and the reasons."""
    for cell in cells:
        values = cell.values()
        if cell.did_not_converge and cell.settling is not None and values:
            low, high = value_text(min(values), cell.metric), value_text(max(values), cell.metric)
            spread = f"{low} in one trial" if len(values) == 1 else f"{low} to {high} in {len(values)} trials"
            reasons = [_point(each.name, f": {each.sentence}") for each in cell.settling.reasons]
            yield _block("~", "yellow", f"{_place(cell)}: not converged, {spread}", *reasons)


def _few_events(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield a block for each percentile with too few events, which also says how long a trial would have to be."""
    for cell in cells:
        few = cell.few_events()
        if few is not None and has_values(cell.verdict):
            place = _place(cell)
            title = f"{place}: too few events to rank, compare or make claims about {metric_of(cell.metric).title}"
            yield _block("~", "yellow", title, indented(few.sentence), _fix("run longer, or choose a lower percentile"))


def _remarks(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield the cells' remarks, except remarks about failed builds, which `_builds` prints."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        if has_values(cell.verdict) and cell.few_events() is None:
            for remark in cell.remarks():
                if cell.failed_builds is None or remark != cell.failed_builds.message:
                    places.setdefault(remark, []).append(_place(cell))
    for remark, found in places.items():
        yield _block("!", STYLES["suspect"], some_of(found, _MOST_NAMED), indented(remark))


def _disagreements(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield a block for each cell whose trials form groups or differ by more than within-trial variation explains."""
    for cell in cells:
        groups = cell.groups()
        if len(groups) > 1:
            summary, meaning, fix = f"form two groups, {groups_text(groups, cell.metric)}", _TWO_GROUPS, _COUNT_GROUPS
        elif cell.disagrees and not cell.did_not_converge:
            what = "build" if cell.by_build else "trial"
            summary, meaning, fix = (
                f"differ by more than the variation within each {what} explains",
                _APART.format(what),
                _FIND_CAUSE.format(what),
            )
        else:
            continue
        units = "builds" if cell.by_build and len(groups) < 2 else "trials"
        title = f"{_place(cell)}: its {units} {summary}"
        yield _block("!", STYLES["suspect"], title, indented(meaning), _fix(fix))


def _notes(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield one line for each rule that produced notes, naming the first cell to which the rule applies.

    If that cell's note is important, the line includes its message.
    """
    noted: dict[str, list[tuple[str, Finding]]] = {}
    for cell in cells:
        for finding in cell.findings:
            if finding.effect == "notes":
                noted.setdefault(finding.rule, []).append((_place(cell), finding))
    if noted:
        yield Text("\nnotes (verdicts unaffected; details: report page, poolproof explain RULE):", style=QUIET)
    for rule, found in noted.items():
        place, first = found[0]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        message = f": {first.message}" if first.weight >= _EXPLAINS else ""
        yield indented(f"{rule}: {place}{more}{message}", QUIET)


def _others(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    """Yield a line that lists the metrics that have a worse verdict than their cell, unless the campaign asks for them.

    Metrics that are merely unproven are omitted, because almost every load through the page cache has some.
    """
    found: set[MetricId] = set()
    for cell in cells:
        limit = WORST_FIRST.index(worst((cell.verdict, "unproven")))
        for other in cell.distinct_verdicts:
            if WORST_FIRST.index(other.verdict) < limit:
                found |= {*other.metrics} - cell.claimed
    if found:
        titles = ", ".join(metric.title for metric in METRICS if metric.id in found)
        text = f"some cells have worse verdicts on metrics that this campaign does not ask for: {titles}"
        text += " (see the report page or --json)"
        yield Text(f"\n{text}", style=QUIET)
