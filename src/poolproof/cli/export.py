"""`poolproof export`: convert a run to the formats of other programs."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from poolproof.cli.options import Json, Run, Text
from poolproof.cli.output import print_answer, readable_run
from poolproof.errors import UsageError, as_word


def command(
    run: Run,
    csv: Annotated[bool, Option("--csv", help="CSV with one line per cell.")] = False,
    parquet: Annotated[bool, Option("--parquet", help="Parquet, for DuckDB and pandas.")] = False,
    dat: Annotated[bool, Option("--dat", help="gnuplot data files with the scripts that draw them.")] = False,
    markdown: Annotated[bool, Option("--markdown", help="A Markdown table with footnotes, for forums.")] = False,
    openmetrics: Annotated[bool, Option("--openmetrics", help="OpenMetrics, for Prometheus.")] = False,
    influx: Annotated[bool, Option("--influx", help="Line protocol, for InfluxDB.")] = False,
    format: Annotated[Text, Option(metavar="NAME", help="One of the above, or png or svg to draw charts.")] = None,
    linear: Annotated[bool, Option("--linear", help="With png and svg: use linear axes that start at 0.")] = False,
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE|DIR",
            help="The file or folder to write. Default: text formats are printed; others use the run's name.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert a run to another format. Every format marks refuted and failed results (docs/export.md)."""
    from poolproof.presentation.export.rows import table_of
    from poolproof.presentation.export.written import TEXTS, default_place, export_files, write_files

    flags = {"csv": csv, "parquet": parquet, "dat": dat, "markdown": markdown}
    flags |= {"openmetrics": openmetrics, "influx": influx}
    name = _chosen(flags, format)
    if name in ("png", "svg"):
        draw(run, [name], linear=linear, out=out, as_json=as_json)
        return
    if linear:
        raise UsageError(f"--linear does not apply to {name}", "add --format png or --format svg")
    with readable_run(run, as_json=as_json) as loaded:
        table = table_of(loaded)
        if name in TEXTS and out is None and not as_json:
            typer.echo(TEXTS[name](table), nl=False)
            return
        place = default_place(name, table) if out is None else out
        written = write_files(export_files(name, table, place).items(), named=out, private_as=run / "run.json")
        answer = {
            "format": name,
            "written": written,
            "cells": len(table.rows),
            "rejected": sum(not row.counts for row in table.rows),
            "missing": list(loaded.missing),
        }
        print_answer(answer, f"{place}: {len(written)} files" if len(written) != 1 else f"{place}", as_json=as_json)


def _chosen(flags: dict[str, bool], format_name: str | None) -> str:
    chosen = [name for name, given in flags.items() if given]
    if format_name is not None:
        names = (*flags, "png", "svg")
        if format_name not in names:
            raise UsageError(f"`{format_name[:60]}` is not a format", f"choose one of {', '.join(names)}")
        chosen.append(format_name)
    if len(chosen) != 1:
        named = " and ".join(f"--{name}" for name in chosen)
        what = f"{named} can't be combined" if chosen else "no format was given"
        raise UsageError(what, f"choose one of {', '.join(f'--{name}' for name in flags)}, or --format png or svg")
    return chosen[0]


def draw(run: Path, kinds: list[str], *, linear: bool, out: Path | None, as_json: bool) -> None:
    """Write a run's charts as image files.

    `kinds`: the file formats: `png`, `svg` or both.

    Raises:
        RunError: the run has no results yet.
        UsageError: a file can't be written.
    """
    from poolproof.errors import RunError
    from poolproof.presentation.export.pictures import drawn, pictures
    from poolproof.presentation.export.written import write_files
    from poolproof.units import format_number_of

    with readable_run(run, as_json=as_json) as loaded:
        folder = out or Path(f"{run.resolve().name}-plots")
        found = pictures(loaded, "linear" if linear else "log")
        files = ((folder / f"{each.place}.{kind}", drawn(each, kind)) for each in found for kind in kinds)
        written = write_files(files, named=out, private_as=run / "run.json")
        if not written:
            raise RunError(f"{run} has no results to draw yet", f"poolproof show {as_word(run)}")
        answer = {"written": written, "missing": list(loaded.missing)}
        print_answer(answer, f"{folder}: {format_number_of(len(written), 'file')}", as_json=as_json)
