"""`poolproof compare`: report for each cell whether it is faster, slower, the same or undecided."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from poolproof.cli.options import DEFAULT_EFFECT, Effect, Json, MetricName, Text, parse_metric, parse_percent
from poolproof.cli.output import console, print_json

if TYPE_CHECKING:
    from poolproof.results.compare.cell_comparison import Side


def command(
    a: Annotated[Path, Argument(metavar="A", readable=False, help="The run to compare B with.")],
    b: Annotated[
        Path | None,
        Argument(metavar="[B]", readable=False, help="The run to compare with A. Without B, --layouts is required."),
    ] = None,
    layouts: Annotated[
        Text, Option(metavar="X,Y", help="Compare layout Y of B (without B, of A) with layout X of A.")
    ] = None,
    metric: MetricName = None,
    effect: Effect = DEFAULT_EFFECT,
    fail_if_slower: Annotated[
        Text,
        Option(
            metavar="SHARE",
            help="Exit with status 1 if B lacks a result that A has, or is slower by more than this share, such as 5%.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two runs, or two layouts of a run, cell by cell.

    In each cell, B is faster, slower, the same (no meaningful difference), or undecided. The exit code with
    --fail-if-slower is 1 if a cell of B is significantly slower by more than the given percentage, or lacks a valid
    result that A has.
    """
    from poolproof.results.compare.cell_comparison import compare
    from poolproof.results.compare.comparison_object import comparison_object

    limit = None if fail_if_slower is None else parse_percent(fail_if_slower, "--fail-if-slower")
    smallest, chosen = parse_percent(effect, "--effect"), parse_metric(metric)
    comparison = compare(*_sides(a, b, layouts), effect=smallest, metric=chosen, limit=limit)
    if as_json:
        print_json(comparison_object(comparison))
    else:
        from poolproof.presentation.terminal.compared import print_comparison

        print_comparison(console(), comparison)
    if comparison.gate is not None and not comparison.gate.passed:
        raise typer.Exit(1)


def _sides(a: Path, b: Path | None, layouts: str | None) -> "tuple[Side, Side]":
    from poolproof.api import load_run
    from poolproof.errors import UsageError
    from poolproof.results.compare.cell_comparison import Side
    from poolproof.results.compare.ranking import split_names

    if b is None and layouts is None:
        raise UsageError("only one run was given", "specify a second run, or use --layouts X,Y")
    names: list[str] | list[None] = [None, None] if layouts is None else split_names(layouts)
    if len(names) != 2 or (b is None and names[0] == names[1]):
        raise UsageError(f"--layouts {layouts}: expected the names of two layouts", "write --layouts X,Y")
    run_a = load_run(a)
    run_b = run_a if b is None else load_run(b)
    return Side(run_a, names[0]), Side(run_b, names[1])
