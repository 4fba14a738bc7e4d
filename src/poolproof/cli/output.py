"""Print what commands output: answers, messages on standard error, and a run's progress and results."""

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from poolproof.errors import RunError, as_word, one_line
from poolproof.presentation.terminal.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

    from poolproof.api import Run
    from poolproof.campaign.model import Campaign
    from poolproof.presentation.terminal.progress import RunProgress
    from poolproof.results.runs.loading import LoadedRun
    from poolproof.results.runs.model import Trial


def say(line: str) -> None:
    """Print a line to standard error.

    Errors are ignored, so that a closed terminal doesn't interrupt a cleanup. A signal handler may also print while
    another line is being printed, which raises a RuntimeError.
    """
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        print(line, file=sys.stderr, flush=True)


def print_json(answer: object, *, indent: int | None = None) -> None:
    """Print a JSON object or list, on one line unless `indent` is given."""
    typer.echo(json.dumps(answer, indent=indent))


def print_answer(answer: object, text: str | Iterable[str], *, as_json: bool) -> None:
    """Print an answer either as JSON or as one or more lines of text."""
    if as_json:
        print_json(answer)
    else:
        typer.echo(text if isinstance(text, str) else "\n".join(text))


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align the columns, and omit empty columns. Lines are never truncated, because users need the full names."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    columns = [tuple(map(visible_line, column)) for column in columns]
    widths = [max(map(len, column)) for column in columns]
    return ("  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True))


def console() -> "Console":
    """Return a rich console for standard output that doesn't highlight numbers and paths."""
    from poolproof.presentation.terminal.visible import visible_console

    return visible_console(sys.stdout)


@contextlib.contextmanager
def following(
    campaign: "Campaign", done: "Sequence[Trial]", *, plain: bool, hint: str, begun_s: float | None = None
) -> "Iterator[RunProgress]":
    """Show a run's progress on standard error until the context ends, on a live screen or as plain lines.

    The live screen requires a terminal that can move the cursor and print UTF-8.

    `plain`: whether to print plain lines in any case.
    `hint`: how to stop the run or the display.
    `begun_s`: the run's start time in seconds since 1970, or None for the current time.
    """
    from poolproof.presentation.terminal.progress import PlainLines, RunProgress

    is_utf8 = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
    if plain or not is_utf8 or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        yield PlainLines(sys.stderr, campaign, done, begun_s=begun_s)
        return
    from poolproof.presentation.terminal.live_screen import live_screen
    from poolproof.presentation.terminal.visible import visible_console

    progress = RunProgress(campaign, done, begun_s=begun_s)
    with live_screen(visible_console(sys.stderr), progress, hint):
        yield progress


@contextlib.contextmanager
def readable_run(path: Path, *, as_json: bool) -> "Iterator[Run]":
    """Yield the run as far as it can be read, and list the missing parts on standard error.

    With `as_json`, the list is not printed, because the command's JSON output contains it. At the end, exit with code 7
    if the run's record or a trial is unreadable.
    """
    from poolproof.api import load_run

    run = load_run(path, lenient=True)
    print_missing(() if as_json else run.missing)
    yield run
    exit_if_incomplete(run)


def print_missing(missing: Iterable[str]) -> None:
    """List the missing parts of a run on standard error."""
    for each in missing:
        typer.echo(f"missing: {one_line(each)}", err=True)


def exit_if_incomplete(run: "Run | LoadedRun") -> None:
    """Exit with code 7 if the run's record or a trial is unreadable."""
    if run.left_out or not run.has_record:
        raise typer.Exit(RunError.exit_code)


def print_results(path: Path, *, as_json: bool, disks: bool = False) -> "Run":
    """Print the readable results of a run, list the missing parts on standard error, and return the run.

    `disks`: whether to print each disk's share of the bytes for all layouts, even for those with a single disk.

    Raises a RunError if the path is not a run directory.
    """
    from poolproof.api import load_run
    from poolproof.results.compare.earlier_runs import AcrossRuns
    from poolproof.results.runs.claim_results import evaluate
    from poolproof.results.runs.convergence import trials_ahead
    from poolproof.results.runs.elimination import elimination_of
    from poolproof.results.runs.limit import limits_of
    from poolproof.results.runs.run_object import run_object

    run = load_run(Path(os.path.realpath(path)), lenient=True)
    print_missing(run.missing)
    campaign, cells, bare = run.campaign, run.cells, run.bare
    across = AcrossRuns(run)
    claims, elimination = evaluate(campaign.expect, cells, across.widened), elimination_of(run.trials, campaign)
    limits = limits_of(cells, bare, campaign)
    if as_json:
        variance = across.variance(speeds=True, claims=True)
        found = run_object(
            run.path,
            cells,
            campaign.baseline,
            claims,
            elimination,
            bare=bare,
            limits=limits,
            widened=across.widened,
            earlier_runs=variance.runs,
            unknown_between_runs=sorted(variance.unknown),
            changes=run.record.changes,
        )
        print_json(found)
        return run
    from poolproof.presentation.terminal.limited import print_limits
    from poolproof.presentation.terminal.sections import elimination_block, print_claims, print_scope, print_shares
    from poolproof.presentation.terminal.table import print_table
    from poolproof.results.runs.resumes import resumes_text

    out = console()
    if campaign.question:
        out.print(campaign.question, style="bold", markup=False)
    if cells:
        print_table(out, cells, campaign.baseline, limits, across.widened)
    else:
        out.print("no results yet" if run.is_going else "no trial of a layout has finished")
    print_limits(out, cells, bare, limits)
    if elimination is not None:
        out.print(elimination_block(elimination))
    print_claims(out, claims)
    has_speeds = any(cell.layout == campaign.baseline for cell in cells) and len(campaign.layouts) > 1
    if has_speeds or claims:  # finding the earlier runs takes time
        print_scope(out, across, has_speeds=has_speeds, has_claims=bool(claims))
    print_shares(out, cells, all_of_them=disks, hint=f"poolproof show {as_word(run.path)} --disks")
    if cells and campaign.goal is not None and len(campaign.layouts) > 1:
        _print_ranking(out, run)
    elif text := resumes_text(run.record, run.trials):
        out.print(f"\n{text}", markup=False)
    out.print(f"\nrun: {visible_line(str(run.path))}", markup=False, soft_wrap=True)
    done, ahead = len(run.trials), trials_ahead(run.trials, campaign)
    if ahead and run.has_record and not (run.left_out or run.record.imported):
        way = " so far; to follow the run: poolproof watch" if run.is_going else "; to continue: poolproof resume"
        out.print(f"{done} of {done + ahead} trials done{way} {as_word(run.path)}", markup=False, soft_wrap=True)
    return run


def _print_ranking(out: "Console", run: "Run") -> None:
    """Print the layouts ranked by the campaign's goal, or the reason why they can't be ranked."""
    from poolproof.presentation.terminal.ranked import print_ranking
    from poolproof.results.compare.ranking import find_goal, rank
    from poolproof.statistics.comparison import LEAST_EFFECT

    out.print()
    try:
        ranking = rank(run, find_goal(run.campaign, None, None), metric=None, effect=LEAST_EFFECT)
    except RunError as error:
        out.print(error.message, markup=False)
    else:
        print_ranking(out, ranking)
