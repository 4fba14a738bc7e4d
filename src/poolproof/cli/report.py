"""`poolproof report`: a run as one HTML page that works offline and can be sent by mail."""

import json
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import Json, Run


def command(
    run: Run,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write. Default: report.html in the run directory.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write a run as one self-contained page: conclusions, every result with its evidence, and how to repeat it."""
    from poolproof.presentation.html_report.page import write_report
    from poolproof.units import format_size

    target = out or run / "report.html"
    seen = write_report(run, target)
    size_bytes = target.stat().st_size
    if as_json:
        typer.echo(json.dumps({"report": str(target), "size_bytes": size_bytes, "missing": list(seen.missing)}))
    else:
        for gap in seen.missing:
            typer.echo(f"missing: {gap}", err=True)
        typer.echo(f"{target} ({format_size(size_bytes)})")
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        typer.echo("no browser could be started; open the file yourself", err=True)
