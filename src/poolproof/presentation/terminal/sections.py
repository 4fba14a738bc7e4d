"""Print the sections below the results table: claims, adaptive sampling, and each disk's share of the bytes."""

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from poolproof.campaign.claims import DEVICE_SHARES, CellValue, ComparisonClaim, IsVerdict, cell_values_of
from poolproof.metrics import COMPARABLE, metric_of
from poolproof.presentation.terminal.blocks import QUIET, indented, named_table, print_fitted
from poolproof.presentation.terminal.compared import run_variance_text
from poolproof.presentation.terminal.words import per_cent_whole, value_text, with_mark
from poolproof.results.compare.earlier_runs import AcrossRuns, RunVariance
from poolproof.results.runs.claim_results import ClaimResult
from poolproof.results.runs.elimination import Elimination
from poolproof.results.runs.summary import Cell
from poolproof.units import format_duration, format_number, format_number_of

CLAIM_MARKS = {"held": "✓", "failed": "✗", "undecided": "?"}
_STYLES = {"held": "green", "failed": "red", "undecided": "yellow"}
_MOST_NAMED = 8
_MOST_ROWS = 40


def print_claims(console: Console, claims: tuple[ClaimResult, ...]) -> None:
    """Print each claim with its source, result and measured value."""
    if claims:
        console.print(Text("\nclaims", style="bold"))
    for each in claims:
        heading = Text(f"{CLAIM_MARKS[each.result]} {each.result}: ", style=_STYLES[each.result])
        measured = f"measured {measured_text(each)}" if each.measured else ""
        lines = ["; ".join(filter(None, (each.claim.text, measured, each.why))), f"source: {each.claim.source}"]
        heading.append(each.claim.claim, style="default")
        console.print(Group(heading, *(indented(line, QUIET) for line in lines)))


def print_scope(console: Console, across: AcrossRuns, *, has_speeds: bool, has_claims: bool) -> None:
    """Print whether the confidence intervals of speeds and claims include the between-run variance."""
    what = " and ".join(["speeds"] * has_speeds + ["claims"] * has_claims)
    variance = across.variance(speeds=has_speeds, claims=has_claims)
    console.print(Text(f"\n{scope_text(variance, what)}", style=QUIET))


def scope_text(variance: RunVariance, what: str) -> str:
    """Return sentences about the scope of speeds or claims, such as `Claims apply to this run only. …`.

    `what`: a plural noun, such as `claims`.
    """
    if variance.runs:
        return run_variance_text(what, variance)
    return f"{what.capitalize()} apply to this run only. How much results differ between runs was not measured."


def measured_text(claim: ClaimResult) -> str:
    """Format a claim's measured value with its confidence interval, for example `48.0% (47.0% … 49.0%)`.

    If nothing was measured, return the reason.
    """
    interval = claim.measured
    if interval is None:
        return claim.why
    mean, low, high = (
        "" if value is None else _claimed_text(claim.claim.that, value)
        for value in (interval.mean, interval.low, interval.high)
    )
    return f"{mean} ({low} … {high})" if low and high and low != high else mean


def _claimed_text(that: ComparisonClaim | IsVerdict, value: float) -> str:
    """Format a value of the claim's left-hand side: a rate or latency with its unit, a share in per cent, or a number.

    A claim about a verdict has no value, so an empty string is returned.
    """
    if isinstance(that, IsVerdict):
        return ""
    if isinstance(that.left, CellValue) and that.left.name in COMPARABLE:
        return value_text(value / metric_of(that.left.name).unit.scale, that.left.name)
    is_share = {each.name for each in cell_values_of(that)} <= {*DEVICE_SHARES}
    return f"{value:.1%}" if is_share else format_number(value, 4)


def elimination_block(found: Elimination) -> RenderableType:
    """Return a block of text that lists the layouts eliminated by adaptive sampling."""
    heading, *lines = elimination_lines(found)
    return Group(Text(f"\n{heading}", style="bold"), *map(indented, lines))


def elimination_lines(found: Elimination) -> Iterator[str]:
    """Yield a heading about adaptive sampling, followed by one sentence per line."""
    goal = found.goal[0] if len(found.goal) == 1 else f"the {len(found.goal)} workloads of the goal"
    if found.leader:
        leader = f"{with_mark(found.leader, found.leader_verdict or 'sound')} leads"
    elif not found.left:
        leader = "no layout has a valid result"
    else:
        leader = (
            "no layout has enough usable trials of each workload yet" if found.candidates else "no result is steady"
        )
    yield f"adaptive sampling for {goal}: {leader}"
    for each in found.dropped[:_MOST_NAMED]:
        yield (
            f"eliminated after {format_number_of(each.trials, 'trial')} of each workload: {each.layout}; {each.leader} "
            f"is {format_number(each.times, 3)} times as fast (at least {format_number(each.least, 3)} times, with the "
            "required confidence)"
        )
    if len(found.dropped) > _MOST_NAMED:
        more = len(found.dropped) - _MOST_NAMED
        yield f"{more} more {'was' if more == 1 else 'were'} eliminated, see --json"
    others = [name for name in found.left if name != found.leader]
    if found.leader and others:
        yield f"not significantly different from {found.leader}: {', '.join(others)}"
    if found.excluded:
        yield f"excluded because a trial of the goal failed or was refuted: {', '.join(found.excluded)}"
    if found.dropped:
        risk = f"each tested at the {100 * found.test_risk:.2g}% level"
        pairs = format_number_of(found.pairs, "pair")
        tests = f"up to {pairs} at up to {format_number_of(found.checkpoints, 'checkpoint')}, {risk}"
        yield f"the overall risk that the best layout was eliminated is at most {per_cent_whole(found.risk)}: {tests}"
        yield "this risk applies only to this run; differences between runs were not taken into account"


def print_shares(console: Console, cells: Sequence[Cell], *, all_of_them: bool, hint: str) -> None:
    """Print each disk's share of the bytes, if there is anything to show.

    `all_of_them`: also show layouts with a single disk, and don't truncate a long list.
    `hint`: the command to print below a truncated list.
    """
    shown = [cell for cell in cells if len(cell.leaves) > 1 or (all_of_them and cell.leaves)]
    rows = [row for cell in shown for row in _share_rows(cell)]
    if not rows:
        return
    table = named_table("where the bytes went", left=["disk"])
    for name in ("read", "written", "stored", "busy", "per request"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows if all_of_them else rows[:_MOST_ROWS]:
        table.add_row(*map(Text, row))
    console.print()
    print_fitted(console, table)
    if len(rows) > _MOST_ROWS and not all_of_them:
        more = format_number_of(len(rows) - _MOST_ROWS, "more row")
        console.print(f"… and {more}: {hint}", markup=False, soft_wrap=True)


def _share_rows(cell: Cell) -> Iterator[list[str]]:
    """Yield one row per disk.

    A share is shown as a dash if nothing was read (read share) or written (write share).
    """
    account = cell.account
    for number, leaf in enumerate(cell.leaves):
        read = leaf.read_share if account and account.fio_read_bytes else None
        written = leaf.write_share if account and account.fio_write_bytes else None
        shares = (read, written, leaf.stored_share, leaf.utilisation)
        latency = "–" if leaf.latency_s is None else format_duration(leaf.latency_s)
        name = str(cell.key) if number == 0 else ""
        yield [name, leaf.device, *("–" if share is None else f"{share:.0%}" for share in shares), latency]
