"""A run that could be read in parts: what is missing is named, the rest is done all the same, and the code tells."""

from typing import TYPE_CHECKING

import typer

from poolproof.errors import RunError

if TYPE_CHECKING:
    from poolproof.presentation.html_report.reading import LoadedRun


def name_gaps(seen: "LoadedRun", *, as_json: bool) -> None:
    """On standard error; an object for machines holds them itself."""
    for gap in () if as_json else seen.gaps:
        typer.echo(f"missing: {gap}", err=True)


def end_with_gaps(seen: "LoadedRun") -> None:
    """End with a code of its own where trials, or what says how they were made, could not be read."""
    if seen.left_out or not seen.has_record:
        raise typer.Exit(RunError.exit_code)
