"""`poolproof report`: write a run as a single HTML page that works offline and can be sent by email."""

import webbrowser
from pathlib import Path
from typing import Annotated

from typer import Option

from poolproof.cli.options import Json, Run
from poolproof.cli.output import exit_if_incomplete, print_answer, print_missing, say


def command(
    run: Run,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="The file to write. Default: report.html in the run directory.")
    ] = None,
    open_it: Annotated[bool, Option("--open", help="Open it in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Write a run as one HTML page that needs no network.

    The page shows the conclusions, every result with its evidence, and how to repeat the run. If trials could not be
    read, the page says so, and the exit code is 7.
    """
    from poolproof.presentation.html_report.page import write_report
    from poolproof.units import format_size

    target = out or run / "report.html"
    written = write_report(run, target)
    missing = written.missing
    size_bytes = target.stat().st_size
    print_missing(() if as_json else missing)
    answer = {"report": str(target), "size_bytes": size_bytes, "missing": list(missing)}
    print_answer(answer, f"{target} ({format_size(size_bytes)})", as_json=as_json)
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        say("no browser could be started; open the file yourself")
    exit_if_incomplete(written)
