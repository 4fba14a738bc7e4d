"""Print the results of a run: at its end, for `show`, and for `watch`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from poolproof.errors import RunError
from poolproof.results.runs.claims import evaluate
from poolproof.results.runs.contract import run_object
from poolproof.results.runs.convergence import trials_ahead
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.limit import limits_of

if TYPE_CHECKING:
    from rich.console import Console

    from poolproof.results.runs.loading import LoadedRun


def show(path: Path, *, as_json: bool, leaves: bool) -> None:
    """Print the results so far; report what can't be read, and end with exit code 7 if there is any.

    `leaves`: also print each disk's share for layouts with a single disk.
    """
    end_with_gaps(print_result(path, as_json=as_json, leaves=leaves))


def print_result(path: Path, *, as_json: bool, leaves: bool = False) -> "LoadedRun":
    """Print everything in a run that can be read, and report the rest on standard error. Returns what was read.

    Raises a RunError if this is not a run directory.
    """
    from poolproof.api import load_run

    seen = load_run(path.resolve(), lenient=True).loaded
    name_gaps(seen, as_json=False)
    campaign, cells, bare = seen.campaign, seen.cells, seen.bare
    claims, race = evaluate(campaign.expect, cells), elimination_of(seen.trials, campaign)
    limits = limits_of(cells, bare, campaign)
    if as_json:
        print(json.dumps(run_object(seen.path, cells, campaign.baseline, claims, race, bare=bare, limits=limits)))
        return seen
    from rich.console import Console

    from poolproof.presentation.terminal.claims import print_claims
    from poolproof.presentation.terminal.elimination import elimination_block
    from poolproof.presentation.terminal.limited import print_limits
    from poolproof.presentation.terminal.shares import print_shares
    from poolproof.presentation.terminal.table import print_table

    console = Console(highlight=False)
    if campaign.question:
        console.print(campaign.question, style="bold", markup=False)
    print_table(console, cells, campaign.baseline, limits)
    print_limits(console, cells, bare, limits)
    if race is not None:
        console.print(elimination_block(race))
    print_claims(console, claims)
    print_shares(console, cells, all_of_them=leaves, hint=f"poolproof show {seen.path} --leaves")
    if campaign.goal is not None and len(campaign.layouts) > 1:
        _print_choice(console, seen)
    console.print(f"\nrun: {seen.path}", markup=False, soft_wrap=True)
    done, ahead = sum(len(cell.trials) for cell in (*bare, *cells)), trials_ahead(seen.trials, campaign)
    if ahead and seen.has_record and not (seen.left_out or seen.record.imported):
        console.print(
            f"{done} of {done + ahead} trials done; to continue: poolproof resume {seen.path}", soft_wrap=True
        )
    return seen


def _print_choice(console: "Console", finished: "LoadedRun") -> None:
    """The layouts ranked by the campaign's goal, or the reason why they can't be ranked."""
    from poolproof.presentation.terminal.ranked import print_ranking
    from poolproof.results.compare.ranking import find_goal, rank
    from poolproof.statistics.comparison import LEAST_EFFECT

    console.print()
    try:
        ranking = rank(finished, find_goal(finished.campaign, None, None), metric=None, effect=LEAST_EFFECT)
    except RunError as error:
        console.print(error.message, markup=False)
        return
    print_ranking(console, ranking)


def name_gaps(seen: "LoadedRun", *, as_json: bool) -> None:
    """Report on standard error what could not be read; a JSON object contains it instead."""
    for gap in () if as_json else seen.missing:
        typer.echo(f"missing: {gap}", err=True)


def end_with_gaps(seen: "LoadedRun") -> None:
    """End with exit code 7 if trials, or the record of how they were made, could not be read."""
    if seen.left_out or not seen.has_record:
        raise typer.Exit(RunError.exit_code)
