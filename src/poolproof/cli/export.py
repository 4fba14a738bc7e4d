"""`poolproof export`: a run in the formats of other programs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import Json

if TYPE_CHECKING:
    from poolproof.presentation.export.rows import ExportTable


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    csv: Annotated[bool, typer.Option("--csv", help="A line for each cell.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="The same with types, for DuckDB and pandas.")] = False,
    dat: Annotated[bool, typer.Option("--dat", help="Data files with the gnuplot scripts that draw them.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="A table for a forum, with footnotes.")] = False,
    openmetrics: Annotated[bool, typer.Option("--openmetrics", help="For Prometheus.")] = False,
    influx: Annotated[bool, typer.Option("--influx", help="Line protocol, for InfluxDB.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE|DIR", help="Where to. Default: text is printed, else named by the run."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run in another format; refuted and failed figures stand apart in each (docs/export.md)."""
    from poolproof.cli.result import end_with_gaps, name_gaps
    from poolproof.presentation.export.rows import table_of
    from poolproof.presentation.export.written import FORMATS, default_place, write_export
    from poolproof.presentation.html_report.reading import read

    flags = {
        "csv": csv,
        "parquet": parquet,
        "dat": dat,
        "markdown": markdown,
        "openmetrics": openmetrics,
        "influx": influx,
    }
    name = _the_one(flags)
    seen = read(run)
    table = table_of(seen.run)
    name_gaps(seen, as_json=as_json)
    text = FORMATS[name].text
    if text is not None and out is None and not as_json:
        typer.echo(text(table), nl=False)
        end_with_gaps(seen)
        return
    place = default_place(name, table) if out is None else out
    written = write_export(name, table, place)
    if as_json:
        typer.echo(json.dumps(_export_object(name, table, written) | {"missing": list(seen.gaps)}))
    else:
        typer.echo(f"{place}: {len(written)} files" if len(written) != 1 else f"{place}")
    end_with_gaps(seen)


def _the_one(flags: dict[str, bool]) -> str:
    from poolproof.errors import UsageError

    chosen = [name for name, given in flags.items() if given]
    if len(chosen) != 1:
        named = " and ".join(f"--{name}" for name in chosen)
        what = f"{named}: one format at a time" if chosen else "no format was named"
        raise UsageError(what, "give one of " + ", ".join(f"--{name}" for name in flags))
    return chosen[0]


def _export_object(name: str, table: "ExportTable", written: tuple[Path, ...]) -> dict[str, object]:
    return {
        "format": name,
        "written": [str(path) for path in written],
        "cells": len(table.rows),
        "rejected": sum(not row.counts for row in table.rows),
    }
