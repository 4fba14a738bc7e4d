"""`poolproof export`: convert a run to the formats of other programs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import Json, Run
from poolproof.errors import UsageError

if TYPE_CHECKING:
    from poolproof.presentation.export.rows import ExportTable


def command(
    run: Run,
    csv: Annotated[bool, typer.Option("--csv", help="CSV with one line per cell.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Parquet, for DuckDB and pandas.")] = False,
    dat: Annotated[bool, typer.Option("--dat", help="gnuplot data files with the scripts that draw them.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table with footnotes, for forums.")] = False,
    openmetrics: Annotated[bool, typer.Option("--openmetrics", help="OpenMetrics, for Prometheus.")] = False,
    influx: Annotated[bool, typer.Option("--influx", help="Line protocol, for InfluxDB.")] = False,
    format: Annotated[  # the option's name
        str | None, typer.Option("--format", metavar="NAME", help="One of the above, or png or svg to draw charts.")
    ] = None,
    linear: Annotated[
        bool, typer.Option("--linear", help="With png and svg: use linear axes that start at 0.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE|DIR",
            help="The file or folder to write. Default: print text, or use the run's name.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert a run to another format. Every format marks refuted and failed results (docs/export.md)."""
    from poolproof.cli.result import end_with_gaps, name_gaps
    from poolproof.presentation.export.rows import table_of
    from poolproof.presentation.export.written import FORMATS, default_place, write_export
    from poolproof.results.runs.loading import load_run

    flags = {
        "csv": csv,
        "parquet": parquet,
        "dat": dat,
        "markdown": markdown,
        "openmetrics": openmetrics,
        "influx": influx,
    }
    name = _chosen(flags, format)
    if name in ("png", "svg"):
        from poolproof.cli.plots import draw

        draw(run, ["png" if name == "png" else "svg"], linear=linear, out=out, as_json=as_json)
        return
    if linear:
        raise UsageError(f"--linear does not apply to {name}", "add --format png or --format svg")
    seen = load_run(run, lenient=True)
    table = table_of(seen)
    name_gaps(seen, as_json=as_json)
    text = FORMATS[name].text
    if text is not None and out is None and not as_json:
        typer.echo(text(table), nl=False)
        end_with_gaps(seen)
        return
    place = default_place(name, table) if out is None else out
    written = write_export(name, table, place)
    if as_json:
        typer.echo(json.dumps(_export_object(name, table, written) | {"missing": list(seen.missing)}))
    else:
        typer.echo(f"{place}: {len(written)} files" if len(written) != 1 else f"{place}")
    end_with_gaps(seen)


def _chosen(flags: dict[str, bool], format_name: str | None) -> str:
    chosen = [name for name, given in flags.items() if given]
    if format_name is not None:
        names = (*flags, "png", "svg")
        if format_name not in names:
            raise UsageError(f"`{format_name[:60]}` is not a format", f"choose one of {', '.join(names)}")
        chosen.append(format_name)
    if len(chosen) != 1:
        named = " and ".join(f"--{name}" for name in chosen)
        what = f"{named} were given together" if chosen else "no format was given"
        raise UsageError(what, "choose one of " + ", ".join(f"--{name}" for name in flags))
    return chosen[0]


def _export_object(name: str, table: "ExportTable", written: tuple[Path, ...]) -> dict[str, object]:
    return {
        "format": name,
        "written": [str(path) for path in written],
        "cells": len(table.rows),
        "rejected": sum(not row.counts for row in table.rows),
    }
